import { describe, expect, test } from 'vitest';
import { ProviderError } from '../ai/provider-error.ts';
import { withRerank } from './rerank.ts';
import type { RankedExcerpt, SearchIndex } from './types.ts';

const excerpt = (chunk: number): RankedExcerpt => ({ chunk, document: chunk, documentId: `d${chunk}`, page: 1, position: 0, score: 100 - chunk });
const ranked = Array.from({ length: 60 }, (_, i) => excerpt(i + 1));
const index: SearchIndex = { rank: async () => ranked, close: async () => {} };
const textsOf = async (chunks: readonly number[]): Promise<{ ref: number; text: string; section: null }[]> =>
  chunks.filter((ref) => ref !== 3).map((ref) => ({ ref, text: `text ${ref}`, section: null }));
const request = { query: 'solar', scope: { folders: [1], documents: [] }, depth: 60 };

describe('a second opinion', () => {
  test('puts the first forty in its own order and leaves the rest behind them', async () => {
    let asked: readonly string[] = [];
    const better = withRerank(index, {
      reranker: {
        model: 'm',
        score: async (_, texts) => {
          asked = texts;
          return texts.map((text) => (text === '' ? -5 : text === 'text 40' ? 9 : text === 'text 20' ? 3 : 0));
        },
      },
      textsOf,
    });
    const got = await better.rank(request);
    expect(asked).toHaveLength(40);
    const chunks = got.map(({ chunk }) => chunk);
    expect(chunks.slice(0, 4)).toEqual([40, 20, 1, 2]);
    // A text that is gone goes last of these.
    expect(chunks[39]).toBe(3);
    expect(chunks.slice(40)).toEqual(ranked.slice(40).map(({ chunk }) => chunk));
    expect(got.map(({ score }) => score)).toEqual(got.map(({ score }) => score).toSorted((a, b) => b - a));
    expect(new Set(chunks)).toEqual(new Set(ranked.map(({ chunk }) => chunk)));
  });

  test('that fails leaves the order as it was, says so once, and is asked again', async () => {
    const notes: (string | null)[] = [];
    let fails = true;
    const better = withRerank(index, {
      reranker: {
        model: 'm',
        score: async (_, texts) => {
          if (fails) throw new ProviderError('timeout', 'The rerank endpoint did not answer in time');
          return texts.map((_, i) => i);
        },
      },
      textsOf,
      onTrouble: (trouble) => notes.push(trouble),
    });
    expect(await better.rank(request)).toEqual(ranked);
    expect(await better.rank(request)).toEqual(ranked);
    fails = false;
    expect((await better.rank(request))[0]!.chunk).toBe(40);
    expect(notes).toEqual(['The rerank endpoint did not answer in time', null]);
  });

  test('says why it fails also while its model is left alone', async () => {
    const notes: (string | null)[] = [];
    const troubles = ['refused', 'resting', 'resting'] as const;
    let call = 0;
    const better = withRerank(index, {
      reranker: { model: 'm', score: async () => Promise.reject(new ProviderError(troubles[call]!, `It is ${troubles[call++]}`)) },
      textsOf,
      onTrouble: (trouble) => notes.push(trouble),
    });
    for (const _ of troubles) expect(await better.rank(request)).toEqual(ranked);
    expect(notes).toEqual(['It is refused']);
  });

  test('is asked once for the pages of one answer', async () => {
    let calls = 0;
    const better = withRerank(index, { reranker: { model: 'm', score: async (_, texts) => (calls++, texts.map((_, i) => i)) }, textsOf });
    expect(await better.rank(request)).toEqual(await better.rank(request));
    expect(calls).toBe(1);
  });

  test('explained says the place before it and after it, and leaves alone what the depth cut off', async () => {
    const why = (fusedRank: number) => ({ words: [], lexicalRank: fusedRank, lexicalScore: 1, vectorRank: null, vectorScore: null, fusedRank, rerankRank: null });
    const explained = [1, 2, 3].map((chunk) => ({ ...excerpt(chunk), why: why(chunk) }));
    const beyond = [{ ...excerpt(4), why: why(4) }];
    const explanation = { words: [], inScope: 4, matched: 4, droppedByDepth: 1, phrases: [] };
    const explaining: SearchIndex = { ...index, explain: async () => ({ ranked: explained, beyond, explanation }) };
    const better = withRerank(explaining, { reranker: { model: 'm', score: async (_, texts) => texts.map((_, i) => i) }, textsOf });
    const answer = await better.explain!({ ...request, depth: 3 });
    expect(answer.ranked.map(({ chunk, why }) => [chunk, why!.fusedRank, why!.rerankRank])).toEqual([[3, 3, 1], [2, 2, 2], [1, 1, 3]]);
    expect({ beyond: answer.beyond, explanation: answer.explanation }).toEqual({ beyond, explanation });
  });
});
