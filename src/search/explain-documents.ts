import { AppError } from '../errors.ts';
import { explainDealing } from './deal.ts';
import type { SearchDeps } from './search-documents.ts';
import type { ExcerptReason, Explanation, RankedExcerpt, Scope } from './types.ts';

/** Why one candidate is where it is. */
export interface ExplainedCandidate {
  document_id: string;
  document: string;
  page: number | null;
  score: number;
  /** From 0, through the whole dealt sequence; null for what the depth cut off. */
  place: number | null;
  /** What kept it from an earlier answer (the half-per-document cap) or from all (the depth of a search); or nothing. */
  dropped: 'cap' | 'depth' | null;
  why: ExcerptReason | null;
}

export interface ExplainedSearch extends Explanation {
  candidates: ExplainedCandidate[];
}

/**
 * For owners' screens: every ranked candidate inside the scope and some hundred behind them, with the words that matched and their
 * weights, its places by words, by meaning, by both and by a second opinion, and what the cap or the depth did to it. What is outside
 * the scope is neither counted nor named.
 */
export async function explainDocuments(
  deps: SearchDeps,
  scope: Scope,
  request: { query: string; limit: number },
  signal?: AbortSignal,
): Promise<ExplainedSearch> {
  if (!deps.index.explain) throw new AppError('invalid', 'This search engine cannot explain its ranking', { field: 'explain' });
  const { ranked, beyond, explanation } = await deps.index.explain({ query: request.query, scope, depth: deps.depth }, signal);
  const dealt = explainDealing(ranked, request.limit);
  const documents = await deps.storage.documents.byRefs([...new Set([...ranked, ...beyond].map((excerpt) => excerpt.document))]);
  const names = new Map(documents.map((document) => [document.ref, document.name]));
  const explain = (excerpt: RankedExcerpt, { place, dropped }: Pick<ExplainedCandidate, 'place' | 'dropped'>): ExplainedCandidate => ({
    document_id: excerpt.documentId,
    document: names.get(excerpt.document) ?? '',
    page: excerpt.page,
    score: excerpt.score,
    place,
    dropped,
    why: excerpt.why ?? null,
  });
  return {
    ...explanation,
    candidates: [
      ...ranked.map((excerpt, at) => explain(excerpt, { place: dealt[at]!.place, dropped: dealt[at]!.heldBack ? 'cap' : null })),
      ...beyond.map((excerpt) => explain(excerpt, { place: null, dropped: 'depth' })),
    ],
  };
}
