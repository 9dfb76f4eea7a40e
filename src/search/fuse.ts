/**
 * Two rankings of the same scope, by words and by meaning, become one: a weighted sum of both, each brought to 0 to 1.
 * Without vectors the list of words is the ranking.
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

/** How much meaning counts beside words (0 to 1): found on one judged set, checked on the other (docs/search.md). */
export const VECTOR_WEIGHT = 0.5;

/**
 * One list out of two, each best first and inside the scope. `vectors` holds the nearest and every excerpt of `lexical` that
 * has a vector, so that no excerpt is judged by half of what is known of it:
 *
 * - words: share of the best score; no word of the query is 0.
 * - meaning: between the least and the most similar of the candidates.
 * - An excerpt whose vector is not made yet counts by its words for both: a new document does not have to wait.
 *
 * All of it from candidates inside the scope (trust.md P10). Unordered among equals: callers sort by `inOrder`. `farthest`: the least
 * similarity that counts, when these are more candidates than those of the search that they are measured against.
 */
export function fuseRankings(
  lexical: readonly RankedSlot[],
  vectors: readonly VectorSlot[] | null,
  weight = VECTOR_WEIGHT,
  farthest = farthestOf(vectors),
): FusedSlot[] {
  if (vectors === null || vectors.length === 0) {
    return lexical.map((one, i) => ({ ...one, lexicalRank: i + 1, lexicalScore: one.score, vectorRank: null, vectorScore: null }));
  }
  const best = lexical[0]?.score ?? 0;
  const nearest = vectors[0]!.score;
  const meant = (score: number): number => (score < farthest ? 0 : nearest > farthest ? (score - farthest) / (nearest - farthest) : 1);
  const fused = new Map<number, FusedSlot>();
  lexical.forEach((one, i) => {
    const said = best > 0 ? one.score / best : 1;
    fused.set(one.slot, { ...one, score: said, lexicalRank: i + 1, lexicalScore: one.score, vectorRank: null, vectorScore: null });
  });
  vectors.forEach((one, i) => {
    const before = fused.get(one.slot) ?? { slot: one.slot, score: 0, lexicalRank: null, lexicalScore: 0 };
    const score = (1 - weight) * before.score + weight * meant(one.score);
    fused.set(one.slot, { ...before, score, vectorRank: i + 1, vectorScore: one.score });
  });
  return [...fused.values()];
}

/** The similarity of the farthest candidate. */
export const farthestOf = (vectors: readonly VectorSlot[] | null): number => (vectors ?? []).reduce((least, { score }) => Math.min(least, score), Infinity);
