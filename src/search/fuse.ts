/**
 * Two rankings of the same scope, by words and by meaning, become one. Without vectors the list of words is the ranking;
 * with them it is a min-max weighted sum (weights: docs/search.md).
 */
import type { RankedSlot } from './lexical.ts';

export interface FusedSlot extends RankedSlot {
  lexicalRank: number | null;
  lexicalScore: number;
  vectorRank: number | null;
  vectorScore: number | null;
}

export interface VectorSlot {
  slot: number;
  /** Cosine similarity. */
  score: number;
}

/** How much meaning counts beside words. */
export const VECTOR_WEIGHT = 0.5;

/**
 * One list out of two, each best first and inside the scope. An excerpt that only one list has counts as that list's worst
 * in the other. Unordered among equals: callers sort by `inOrder`.
 */
export function fuseRankings(lexical: readonly RankedSlot[], vectors: readonly VectorSlot[] | null, weight = VECTOR_WEIGHT): FusedSlot[] {
  if (vectors === null || vectors.length === 0) {
    return lexical.map((one, i) => ({ ...one, lexicalRank: i + 1, lexicalScore: one.score, vectorRank: null, vectorScore: null }));
  }
  const fused = new Map<number, FusedSlot>();
  const scale = (scores: readonly number[]): ((score: number) => number) => {
    const [low, high] = [Math.min(...scores), Math.max(...scores)];
    return (score) => (high > low ? (score - low) / (high - low) : 1);
  };
  const lexicalScale = scale(lexical.map((one) => one.score));
  lexical.forEach((one, i) => {
    fused.set(one.slot, {
      ...one,
      score: (1 - weight) * lexicalScale(one.score),
      lexicalRank: i + 1,
      lexicalScore: one.score,
      vectorRank: null,
      vectorScore: null,
    });
  });
  const vectorScale = scale(vectors.map((one) => one.score));
  vectors.forEach((one, i) => {
    const before = fused.get(one.slot) ?? { slot: one.slot, score: 0, lexicalRank: null, lexicalScore: 0 };
    fused.set(one.slot, { ...before, score: before.score + weight * vectorScale(one.score), vectorRank: i + 1, vectorScore: one.score });
  });
  return [...fused.values()];
}
