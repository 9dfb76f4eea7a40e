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
  /** Adds `why` to each excerpt: the words that matched and their weights. For owners' screens, never for agents. */
  explain?: boolean;
}

/** One word of a query as the engine understood it. */
export interface ExplainedWord {
  /** As it stood in the query, folded. */
  word: string;
  /** What was looked up for it: stems, corrected or longer words. */
  lookedUp: string[];
  /** How it was read. */
  kind: 'word' | 'stop' | 'identifier' | 'part' | 'bigram' | 'corrected';
  /** Excerpts inside the scope that have it. */
  found: number;
  /** Most that it can add to a score. */
  weight: number;
}

/** Why an excerpt is where it is. */
export interface ExcerptReason {
  /** What each word of the query added, largest first. */
  words: { word: string; added: number }[];
  /** Place in the list of words (1 is first), null when only its meaning matched. Behind the depth of a search it counted nothing. */
  lexicalRank: number | null;
  lexicalScore: number;
  /** Place in the list of meanings, null without vectors. */
  vectorRank: number | null;
  vectorScore: number | null;
  /** Place in the ranking of both (1 is first), before any second opinion. */
  fusedRank: number;
  /** Place after a second opinion; null when none was given or it did not read so far. */
  rerankRank: number | null;
}

/** One ranked excerpt. Order: score descending, then document *id* (text), page, position: the same call, the same answer. */
export interface RankedExcerpt {
  chunk: number;
  document: number;
  documentId: string;
  page: number | null;
  position: number;
  score: number;
  /** Only when asked for with `explain`. */
  why?: ExcerptReason;
}

/** What `explain` says about a whole search. */
export interface Explanation {
  words: ExplainedWord[];
  /** Excerpts inside the scope. */
  inScope: number;
  /** Excerpts with at least one word of the query, in text, title or the name of the folder; of a quoted phrase, those seen to have it. */
  matched: number;
  /** Of these, and of what only its meaning brought in, how many the depth cut off. */
  droppedByDepth: number;
  /** Quoted phrases that excerpts had to have (empty when none had them and they were read as plain words). */
  phrases: string[];
}

export interface ExplainedRanking {
  ranked: RankedExcerpt[];
  /** What `depth` cut off, in the order in which it would follow: some hundred at most. */
  beyond: RankedExcerpt[];
  explanation: Explanation;
}

export interface SearchIndex {
  /**
   * The best `depth` excerpts inside the scope. A query without any word answers an empty list. Errors: AppError `busy` when
   * too many searches wait or one ran out of time.
   */
  rank(request: SearchRequest, signal?: AbortSignal): Promise<RankedExcerpt[]>;
  /** `rank` with `why` on each excerpt, what came behind it and what happened to the query. */
  explain?(request: SearchRequest, signal?: AbortSignal): Promise<ExplainedRanking>;
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

/** One excerpt as analysis leaves it. */
export interface AnalysedChunk {
  position: number;
  page: number | null;
  /** Words in the excerpt, for length normalisation; at most 65,535. */
  length: number;
}

/** Where a document has its terms. The postings of term i are those from `starts[i]` up to `starts[i + 1]`. */
export interface DocumentPostings {
  /** Each once, in no order. */
  terms: readonly string[];
  starts: Int32Array;
  /** Places in `AnalysedDocument.chunks`, ascending for each term. */
  slots: Int32Array;
  /** Times in the body (low 6 bits, at most 63) and in the heading (high 2 bits, at most 3). */
  codes: Uint8Array;
}

/** One document as analysis leaves it: what the write side of the index takes. Made outside the transaction. */
export interface AnalysedDocument {
  /** ISO 639-1 code of the language its words were stemmed in. */
  language: string;
  /** Terms of title and file name, with their counts. */
  title: Map<string, number>;
  chunks: AnalysedChunk[];
  postings: DocumentPostings;
}
