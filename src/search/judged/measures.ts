/** How well judged pages were found. */

export interface JudgedPlace {
  grade: number;
  /** From 1; null when it was not found. */
  rank: number | null;
}

/**
 * Normalised discounted cumulative gain of the first ten, with the grades as gains (as trec_eval and bench/relevance-set.ts have it).
 * Two judgements of one place (a page, and its document) count once, with the better grade.
 */
export function ndcgAt10(judged: readonly JudgedPlace[]): number {
  const discounted = (grade: number, rank: number): number => grade / Math.log2(rank + 1);
  const best = new Map<number, number>();
  for (const { grade, rank } of judged) {
    if (rank !== null && rank <= 10) best.set(rank, Math.max(best.get(rank) ?? 0, grade));
  }
  const gained = [...best].reduce((sum, [rank, grade]) => sum + discounted(grade, rank), 0);
  const ideal = judged
    .map(({ grade }) => grade)
    .toSorted((a, b) => b - a)
    .slice(0, 10)
    .reduce((sum, grade, i) => sum + discounted(grade, i + 1), 0);
  return ideal === 0 ? 0 : gained / ideal;
}

/** Share of the judged that were found at all. */
export const recallOf = (judged: readonly JudgedPlace[]): number =>
  judged.length === 0 ? 0 : judged.filter(({ rank }) => rank !== null).length / judged.length;

export const meanOf = (values: readonly number[]): number | null =>
  values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
