import { AppError } from '../errors.ts';
import { explainDealing } from './deal.ts';
import type { SearchDeps } from './search-documents.ts';
import type { ExcerptReason, Explanation, Scope } from './types.ts';

/** Why one candidate is where it is; places count from 0 through the whole dealt sequence. */
export interface ExplainedCandidate {
  document_id: string;
  document: string;
  page: number | null;
  score: number;
  place: number;
  /** What kept it from an earlier answer: the half-per-document cap, or nothing. */
  dropped: 'cap' | null;
  why: ExcerptReason | null;
}

export interface ExplainedSearch extends Explanation {
  candidates: ExplainedCandidate[];
}

/**
 * For owners' screens: every ranked candidate inside the scope with the words that matched and their weights, its places by words and
 * by meaning, and what the cap or the depth did to it. What is outside the scope is neither counted nor named.
 */
export async function explainDocuments(
  deps: SearchDeps,
  scope: Scope,
  request: { query: string; limit: number },
  signal?: AbortSignal,
): Promise<ExplainedSearch> {
  if (!deps.index.explain) throw new AppError('invalid', 'This search engine cannot explain its ranking', { field: 'explain' });
  const { ranked, explanation } = await deps.index.explain({ query: request.query, scope, depth: deps.depth }, signal);
  const dealt = explainDealing(ranked, request.limit);
  const documents = await deps.storage.documents.byRefs([...new Set(ranked.map((excerpt) => excerpt.document))]);
  const names = new Map(documents.map((document) => [document.ref, document.name]));
  const candidates = ranked.map((excerpt, at): ExplainedCandidate => ({
    document_id: excerpt.documentId,
    document: names.get(excerpt.document) ?? '',
    page: excerpt.page,
    score: excerpt.score,
    place: dealt[at]?.place ?? at,
    dropped: dealt[at]?.heldBack ? 'cap' : null,
    why: excerpt.why ?? null,
  }));
  return { ...explanation, candidates };
}
