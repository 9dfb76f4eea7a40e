/** The narrow interface between everything that searches and the engine that ranks. */

/**
 * What one caller may see, resolved now: every live folder (already expanded with all inside) and the single documents.
 * A chunk is in scope when its document is live and its folder is in `folders` or the document in `documents`.
 */
export interface Scope {
  folders: readonly number[];
  documents: readonly number[];
}

export interface SearchRequest {
  query: string;
  scope: Scope;
  /** How many excerpts to rank at most (`search.depth`, default 60). */
  depth: number;
}

/** One ranked excerpt. Order: score descending, then document *id* (text), page, position: the same call, the same answer. */
export interface RankedExcerpt {
  chunk: number;
  document: number;
  documentId: string;
  page: number | null;
  position: number;
  score: number;
}

export interface SearchIndex {
  rank(request: SearchRequest, signal?: AbortSignal): Promise<RankedExcerpt[]>;
  close(): Promise<void>;
}

/** What is indexed of one excerpt. Title is the document's (title and file name), folder names weigh a little. */
export interface IndexedChunk {
  position: number;
  /** Page number; null only for files without any pages. */
  page: number | null;
  /** The heading above, for files without pages of their own. */
  section: string | null;
  /** The excerpt as an agent sees it. */
  text: string;
  /** Searchable but not shown (speaker notes, …). */
  extra?: string;
}
