import { isFlowing } from '../processing/ways.ts';
import type { DocumentRow, Storage } from '../storage/ports.ts';
import { dealExcerpts } from './deal.ts';
import type { RankedExcerpt, Scope, SearchIndex } from './types.ts';

/** One document of an answer with its best excerpts; documents come in the order of their best excerpt (seeds/000 search). */
export interface FoundDocument {
  id: string;
  name: string;
  /** Path from the owner's root. */
  folder: string;
  pagesEstimated: boolean;
  imageOnlyPages: number[];
  excerpts: FoundExcerpt[];
}

export interface FoundExcerpt {
  page: number | null;
  /** The heading above, in flowing text only. */
  section: string | null;
  /** The page is marked: its text may miss a figure, chart or table. */
  toView: boolean;
  text: string;
}

export interface SearchDeps {
  storage: Pick<Storage, 'chunks' | 'documents' | 'folders'>;
  index: SearchIndex;
  /** How many excerpts are ranked at most. */
  depth: number;
}

/**
 * The search of every door: ranks inside the scope, deals one answer and dresses it. `nextOffset` is null when nothing is left.
 * A document that went away between ranking and reading is left out.
 */
export async function searchDocuments(
  deps: SearchDeps,
  scope: Scope,
  request: { query: string; limit: number; offset: number },
  signal?: AbortSignal,
): Promise<{ documents: FoundDocument[]; nextOffset: number | null }> {
  const ranked = await deps.index.rank({ query: request.query, scope, depth: deps.depth }, signal);
  const dealt = dealExcerpts(ranked, request);
  const [chunks, documents] = await Promise.all([
    deps.storage.chunks.byRefs(dealt.excerpts.map((excerpt) => excerpt.chunk)),
    deps.storage.documents.byRefs([...new Set(dealt.excerpts.map((excerpt) => excerpt.document))]),
  ]);
  const paths = await deps.storage.folders.paths([...new Set(documents.map((document) => document.folder))]);
  const textOf = new Map(chunks.map((chunk) => [chunk.ref, chunk]));
  const rowOf = new Map(documents.map((document) => [document.ref, document]));

  const found = new Map<number, FoundDocument>();
  for (const excerpt of dealt.excerpts) {
    const chunk = textOf.get(excerpt.chunk);
    const document = rowOf.get(excerpt.document);
    if (!chunk || !document || document.trashedAt !== null) continue;
    const entry = found.get(document.ref) ?? dress(document, paths.get(document.folder) ?? '');
    found.set(document.ref, entry);
    entry.excerpts.push({ page: chunk.page, section: isFlowing(document) ? chunk.section : null, toView: isMarked(document, excerpt), text: chunk.text });
  }
  return { documents: [...found.values()], nextOffset: dealt.nextOffset };
}

const dress = (document: DocumentRow, folder: string): FoundDocument => ({
  id: document.id,
  name: document.name,
  folder,
  pagesEstimated: document.pagesEstimated,
  imageOnlyPages: document.imageOnlyPages,
  excerpts: [],
});

const isMarked = (document: DocumentRow, excerpt: RankedExcerpt): boolean =>
  excerpt.page !== null && document.pagesToView.includes(excerpt.page);
