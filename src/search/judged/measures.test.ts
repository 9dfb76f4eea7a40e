import { describe, expect, it } from 'vitest';
import { ndcgAt10 as ndcgOfList } from '../../../bench/relevance-set.ts';
import { meanOf, ndcgAt10, recallOf } from './measures.ts';

describe('how well judged pages were found', () => {
  it.each([
    ['all in order', [[3, 1], [2, 2], [1, 3]], 1],
    ['nothing found', [[3, null], [1, null]], 0],
    ['below the first ten', [[3, 11]], 0],
    ['one of two, second', [[1, 2], [1, null]], 1 / Math.log2(3) / (1 + 1 / Math.log2(3))],
    ['a page and its document at one place count once', [[3, 1], [1, 1]], 3 / (3 + 1 / Math.log2(3))],
    ['nothing judged', [], 0],
  ] as [string, [number, number | null][], number][])('%s', (_, judged, expected) => {
    expect(ndcgAt10(judged.map(([grade, rank]) => ({ grade, rank })))).toBeCloseTo(expected, 12);
  });

  it('says what the benchmark says of the same ranking', () => {
    const ranked = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k'];
    const grades = new Map([['c', 2], ['a', 1], ['k', 3], ['missing', 1]]);
    const judged = [...grades].map(([id, grade]) => ({ grade, rank: ranked.includes(id) ? ranked.indexOf(id) + 1 : null }));
    expect(ndcgAt10(judged)).toBeCloseTo(ndcgOfList(ranked, grades), 12);
  });

  it('recall and means', () => {
    expect(recallOf([{ grade: 1, rank: 90 }, { grade: 3, rank: null }])).toBe(0.5);
    expect(recallOf([])).toBe(0);
    expect(meanOf([])).toBeNull();
    expect(meanOf([1, 2])).toBe(1.5);
  });
});
