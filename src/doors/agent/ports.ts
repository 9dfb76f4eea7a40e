/**
 * What the agent door asks of the rooms below it. Every call takes the key that is asking: nothing here answers for the
 * library as a whole. The composition root fills these in over access, library, search, processing and audit.
 */
import type { Scope } from '../../search/types.ts';

/** The agent key that is asking, valid now. */
export interface AgentKeyView {
  /** Internal row, for the rooms below. */
  ref: number;
  id: string;
  name: string;
  description: string;
  /** The mask of the value that was sent, for the audit log. */
  masked: string;
}

/**
 * Whose credential came in. A credential that is missing, malformed, unknown, revoked or out of time is an AppError
 * (`no_auth`, `bad_key`, `rate_limited`) with its sentence; one that is good but of another kind is named here, so that
 * the door can say what it takes instead.
 */
export type Credential =
  | { kind: 'agent'; key: AgentKeyView }
  | { kind: 'personal' }
  | { kind: 'external' }
  | { kind: 'login' };

/** Folders a key was given, by name in the order of the key, and the names of all folders inside them. */
export interface KeyFolders {
  names: string[];
  inside: string[];
}

/** What `folders` of a call came to: a scope, or the first name that fits nothing the key reads. */
export type FolderChoice = { scope: Scope } | { unknown: string };

export interface Excerpt {
  /** Null for files without pages. */
  page: number | null;
  section: string | null;
  /** The page is marked: its text may miss a figure, chart or table. */
  toView: boolean;
  text: string;
}

export interface FoundDocument {
  id: string;
  name: string;
  /** Path from the owner's root, such as `Ava Bennett's documents/Energy outlooks`. */
  folder: string;
  pagesEstimated: boolean;
  imageOnlyPages: number[];
  /** Best first. */
  excerpts: Excerpt[];
}

export interface SearchAnswer {
  /** In the order of their best excerpt. */
  documents: FoundDocument[];
  /** The offset asked for plus the excerpts returned when there are more, else null. */
  nextOffset: number | null;
}

export interface ListedDocument {
  id: string;
  name: string;
  folder: string;
  type: string;
  /** Null while unknown. */
  pages: number | null;
  pagesEstimated: boolean;
  /** Ascending. */
  pagesToView: number[];
  /** Epoch milliseconds. */
  uploadedAt: number;
  /** `failed` documents are `not_indexed` to agents. */
  status: 'processing' | 'ready' | 'not_indexed';
}

export interface DocumentView extends ListedDocument {
  /** Internal row, for `pages` and `drawPage`. */
  ref: number;
  /**
   * Whether there is something to draw: the file itself or its PDF copy (`ready`), a copy that is being made, or neither.
   */
  pageView: 'ready' | 'making' | 'none';
  /** Pages that can be drawn; those of the copy where there is one. */
  viewPages: number | null;
}

export interface PageText {
  number: number;
  /** Empty when the page has no text. */
  text: string;
  toView: boolean;
}

/** One row of the audit log; `outcome` as the log has it. */
export interface AgentAuditEntry {
  key: AgentKeyView;
  /** The person the agent says it acts for: a claim, cut and escaped. */
  endUser: string | null;
  action: 'mcp search' | 'mcp listing' | 'mcp text read' | 'mcp page viewed';
  /** The document asked for, where there is one; its id as it was sent when it is unknown. */
  documentId: string | null;
  /** In the reference's wording: the query and the number of results, the file and the pages, … */
  detail: string;
  outcome: 'ok' | 'denied' | 'error';
  requestId: string;
}

export interface AgentDoorPorts {
  /** `authorization` is the header's value as it came, undefined when there is none. */
  authenticate(
    authorization: string | undefined,
    caller: { remoteAddress: string; requestId: string },
  ): Promise<Credential>;

  listFolders(key: AgentKeyView): Promise<KeyFolders>;
  /**
   * The scope of a call. Without names everything the key reads; with names only those folders and all inside them (single
   * files left out). Names and paths match case-insensitively after NFC; a name that fits several folders means all.
   */
  chooseFolders(key: AgentKeyView, names: readonly string[] | null): Promise<FolderChoice>;

  search(
    scope: Scope,
    request: { query: string; limit: number; offset: number },
    signal: AbortSignal,
  ): Promise<SearchAnswer>;

  /** Newest first. `total` counts all of the scope. */
  listDocuments(
    scope: Scope,
    page: { limit: number; offset: number },
  ): Promise<{ total: number; items: ListedDocument[] }>;

  /** Null for what is unknown and for what the key may not read: the two look the same. */
  findDocument(key: AgentKeyView, id: string): Promise<DocumentView | null>;
  /** Pages `from` to `to`, in order, both included; pages that do not exist are left out. */
  readPages(document: DocumentView, from: number, to: number): Promise<PageText[]>;
  /**
   * One page as a PNG (110 dpi, longer side at most 1,568 pixels) or as a PDF of that page alone. Throws AppError with a
   * sentence for a page that cannot be drawn.
   */
  drawPage(document: DocumentView, page: number, format: 'image' | 'pdf', signal: AbortSignal): Promise<Uint8Array>;

  /** Resolves once the entry is durable. When it cannot be written it throws, and the call has no answer. */
  recordAudit(entry: AgentAuditEntry): Promise<void>;
}
