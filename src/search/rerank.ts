/** A second opinion on the best excerpts by a model that reads question and text together; without it the order stays. */
import type { Reranker } from '../ai/rerank.ts';
import { ProviderError } from '../ai/provider-error.ts';
import type { RankedExcerpt, SearchIndex, SearchRequest } from './types.ts';

export interface RerankDeps {
  reranker: Reranker;
  /** Shown text of excerpts, in any order; those that are gone are left out. */
  textsOf(chunks: readonly number[]): Promise<{ ref: number; text: string; section: string | null }[]>;
  /** Told when reranking begins to fail (a sentence) and when it works again (null). */
  onTrouble?(trouble: string | null): void;
}

/** So many are read by the model; the rest keeps its place behind them. */
const READ = 40;
/** The next page of the same answer must come from the same order. */
const KEPT_ORDERS = 200;

/** The index with its best excerpts in the model's order. A failing model leaves the index's own order. */
export function withRerank(index: SearchIndex, deps: RerankDeps): SearchIndex {
  const kept = new Map<string, Promise<number[] | null>>();
  let trouble: string | null = null;
  const note = (now: string | null): void => {
    if (now !== trouble) deps.onTrouble?.(now);
    trouble = now;
  };

  const scoresOf = async (query: string, first: readonly RankedExcerpt[]): Promise<number[] | null> => {
    try {
      const texts = new Map((await deps.textsOf(first.map(({ chunk }) => chunk))).map((row) => [row.ref, row]));
      const scores = await deps.reranker.score(
        query,
        first.map(({ chunk }) => {
          const row = texts.get(chunk);
          return row === undefined ? '' : [row.section ?? '', row.text].filter((part) => part !== '').join('\n');
        }),
      );
      note(null);
      return scores;
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      // That it rests says less than what came before.
      if (error.trouble !== 'resting' || trouble === null) note(error.message);
      return null;
    }
  };

  const reorder = async (request: SearchRequest, ranked: RankedExcerpt[]): Promise<RankedExcerpt[]> => {
    const first = ranked.slice(0, READ);
    if (first.length < 2) return ranked;
    const key = `${request.query}\n${first.map(({ chunk }) => chunk).join(' ')}`;
    let scoring = kept.get(key);
    if (scoring === undefined) {
      scoring = scoresOf(request.query, first);
      kept.set(key, scoring);
      if (kept.size > KEPT_ORDERS) kept.delete(kept.keys().next().value!);
      const forget = (scores: number[] | null): void => void (scores === null && kept.delete(key));
      scoring.then(forget, () => forget(null));
    }
    const scores = await scoring;
    if (scores === null) return ranked;
    const rest = ranked.slice(READ);
    const [low, high] = [Math.min(...scores), Math.max(...scores)];
    const floor = (rest[0]?.score ?? 0) + 1;
    const read = first
      .map((excerpt, place) => ({ ...excerpt, place, score: floor + (high > low ? (scores[place]! - low) / (high - low) : 1) }))
      // Equal to the model: the index's own order.
      .toSorted((a, b) => b.score - a.score || a.place - b.place)
      .map(({ place: _, ...excerpt }, place) => (excerpt.why === undefined ? excerpt : { ...excerpt, why: { ...excerpt.why, rerankRank: place + 1 } }));
    return [...read, ...rest];
  };

  return {
    rank: async (request, signal) => reorder(request, await index.rank(request, signal)),
    ...(index.explain && {
      explain: async (request, signal) => {
        const explained = await index.explain!(request, signal);
        return { ...explained, ranked: await reorder(request, explained.ranked) };
      },
    }),
    close: () => index.close(),
  };
}
