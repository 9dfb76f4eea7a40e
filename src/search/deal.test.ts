import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { capOf, dealExcerpts, explainDealing } from './deal.ts';

const ranking = fc
  .array(fc.integer({ min: 1, max: 6 }), { maxLength: 60 })
  .map((documents) => documents.map((document, rank) => ({ document, rank })));
const limits = fc.integer({ min: 1, max: 20 });

describe('dealing a ranking into answers', () => {
  it('takes at most half, rounded up, from one document; what was held back leads the next answer', () => {
    const ranked = [1, 1, 1, 2, 1, 3].map((document, rank) => ({ document, rank }));
    const first = dealExcerpts(ranked, { limit: 4, offset: 0 });
    expect(first).toEqual({ excerpts: [ranked[0], ranked[1], ranked[3], ranked[5]], nextOffset: 4 });
    expect(dealExcerpts(ranked, { limit: 4, offset: 4 })).toEqual({ excerpts: [ranked[2], ranked[4]], nextOffset: null });
  });

  it('explains where each excerpt went and which ones the cap held back', () => {
    const ranked = [1, 1, 1, 2, 1, 3, 4].map((document, rank) => ({ document, rank }));
    expect(explainDealing(ranked, 4).map(({ place, heldBack }) => `${place}${heldBack ? ' held back' : ''}`)).toEqual([
      '0', '1', '4 held back', '2', '5 held back', '3', '6',
    ]);
  });

  it('says nothing past the end', () => {
    expect(dealExcerpts([{ document: 1 }], { limit: 10, offset: 1 })).toEqual({ excerpts: [], nextOffset: null });
    expect(dealExcerpts([], { limit: 10, offset: 0 })).toEqual({ excerpts: [], nextOffset: null });
  });

  it('a walk of answers loses nothing, repeats nothing and keeps the cap', () => {
    fc.assert(
      fc.property(ranking, limits, (ranked, limit) => {
        const seen: number[] = [];
        for (let offset: number | null = 0; offset !== null; ) {
          const answer: ReturnType<typeof dealExcerpts<(typeof ranked)[number]>> = dealExcerpts(ranked, { limit, offset });
          const { excerpts, nextOffset } = answer;
          expect(excerpts.length).toBeLessThanOrEqual(limit);
          for (const { document } of excerpts) expect(excerpts.filter((one) => one.document === document).length).toBeLessThanOrEqual(capOf(limit));
          if (nextOffset !== null) expect(nextOffset).toBe(offset + excerpts.length);
          seen.push(...excerpts.map((one) => one.rank));
          offset = nextOffset;
        }
        expect(seen.toSorted((a, b) => a - b)).toEqual(ranked.map((one) => one.rank));
      }),
    );
  });

  it('a walk from any place sees what a walk from the start sees after that place', () => {
    fc.assert(
      fc.property(ranking, limits, fc.integer({ min: 0, max: 60 }), (ranked, limit, from) => {
        const walk = (start: number): number[] => {
          const seen: number[] = [];
          for (let offset: number | null = start; offset !== null; ) {
            const answer: ReturnType<typeof dealExcerpts<(typeof ranked)[number]>> = dealExcerpts(ranked, { limit, offset });
            seen.push(...answer.excerpts.map((one) => one.rank));
            offset = answer.nextOffset;
          }
          return seen;
        };
        expect(walk(from)).toEqual(walk(0).slice(from));
      }),
    );
  });

  it('the best that are left come first: an answer skips an excerpt only for the cap', () => {
    fc.assert(
      fc.property(ranking, limits, (ranked, limit) => {
        const { excerpts } = dealExcerpts(ranked, { limit, offset: 0 });
        const taken = new Set(excerpts.map((one) => one.rank));
        const last = excerpts.at(-1)?.rank ?? -1;
        for (const { document, rank } of ranked.slice(0, last)) {
          if (taken.has(rank)) continue;
          expect(excerpts.filter((one) => one.document === document && one.rank < rank).length).toBe(capOf(limit));
        }
      }),
    );
  });
});
