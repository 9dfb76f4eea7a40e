import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fuseRankings } from './fuse.ts';

const scoresOf = (fused: ReturnType<typeof fuseRankings>): Record<number, number> =>
  Object.fromEntries(fused.map(({ slot, score }) => [slot, Math.round(score * 1e6) / 1e6]));

describe('two rankings become one', () => {
  test('without vectors the list of words stays as it is', () => {
    const words = [{ slot: 3, score: 9 }, { slot: 1, score: 4 }];
    for (const vectors of [null, []]) {
      expect(fuseRankings(words, vectors)).toEqual([
        { slot: 3, score: 9, lexicalRank: 1, lexicalScore: 9, vectorRank: null, vectorScore: null },
        { slot: 1, score: 4, lexicalRank: 2, lexicalScore: 4, vectorRank: null, vectorScore: null },
      ]);
    }
  });

  test('words count by their share of the best, meaning between the farthest and the nearest', () => {
    const fused = fuseRankings([{ slot: 1, score: 10 }, { slot: 2, score: 5 }], [{ slot: 3, score: 0.8 }, { slot: 2, score: 0.6 }, { slot: 1, score: 0.4 }], 0.4);
    expect(scoresOf(fused)).toEqual({ 1: 0.6, 2: 0.3 + 0.2, 3: 0.4 });
    expect(fused.find(({ slot }) => slot === 2)).toMatchObject({ lexicalRank: 2, lexicalScore: 5, vectorRank: 2, vectorScore: 0.6 });
    expect(fused.find(({ slot }) => slot === 3)).toMatchObject({ lexicalRank: null, lexicalScore: 0, vectorRank: 1 });
  });

  test('an excerpt whose vector is not made yet counts by its words alone', () => {
    expect(scoresOf(fuseRankings([{ slot: 1, score: 10 }, { slot: 2, score: 5 }], [{ slot: 3, score: 0.8 }, { slot: 2, score: 0.4 }], 0.4))).toEqual({ 1: 1, 2: 0.3, 3: 0.4 });
  });

  test('one candidate, or all alike, is no division by nothing', () => {
    expect(scoresOf(fuseRankings([], [{ slot: 1, score: 0.3 }], 0.4))).toEqual({ 1: 0.4 });
    expect(scoresOf(fuseRankings([{ slot: 1, score: 0 }], [{ slot: 1, score: 0.3 }], 0.4))).toEqual({ 1: 1 });
  });

  test('holds each candidate once, between 0 and 1, and who is better in both is better in the sum', () => {
    const list = fc.uniqueArray(fc.record({ slot: fc.nat(40), score: fc.double({ min: 0.001, max: 1, noNaN: true }) }), { selector: ({ slot }) => slot, maxLength: 25 });
    fc.assert(
      fc.property(list, list, fc.double({ min: 0, max: 1, noNaN: true }), (words, near, weight) => {
        const lexical = words.toSorted((a, b) => b.score - a.score);
        // As the leg answers: everything that words found is compared too.
        const vectors = [...near, ...words.filter(({ slot }) => near.every((one) => one.slot !== slot)).map(({ slot }) => ({ slot, score: 0.0005 }))]
          .toSorted((a, b) => b.score - a.score);
        const fused = fuseRankings(lexical, vectors, weight);
        expect(new Set(fused.map(({ slot }) => slot))).toEqual(new Set([...words, ...near].map(({ slot }) => slot)));
        if (vectors.length === 0) return;
        for (const a of fused) {
          expect(a.score).toBeGreaterThanOrEqual(0);
          expect(a.score).toBeLessThanOrEqual(1 + 1e-12);
          for (const b of fused) {
            if (a.lexicalScore >= b.lexicalScore && a.vectorScore! >= b.vectorScore!) expect(a.score).toBeGreaterThanOrEqual(b.score - 1e-12);
          }
        }
      }),
    );
  });
});
