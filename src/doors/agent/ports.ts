/**
 * What the agent door asks of the rooms below it. Whatever is asked is asked as the key: nothing here answers for
 * the library as a whole. The composition root fills these in over access, library, search, processing and audit.
 */
import type { AgentKeyActor } from '../../access/actor.ts';
import type { Audit } from '../../audit/types.ts';
import type { Scope } from '../../search/types.ts';

/** What came with a request, untouched but for `endUser`, which is decoded. */
export interface AgentCredentials {
  authorization: string | undefined;
  xApiKey: string | undefined;
  endUser: string | undefined;
  requestId: string;
  remoteAddress: string;
  /** What the request came over: the same object for the next request over it. */
  connection: object;
}

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
  /** Internal row, for the calls below. */
  ref: number;
}

/** Whether there is something to draw: the file itself or its PDF copy, a copy that is being made, or neither. */
export type PageView = 'ready' | 'making' | 'none';

export interface PageText {
  number: number;
  /** Empty when the page has no text. */
  text: string;
  toView: boolean;
}

export interface AgentDoorPorts {
  /**
   * The agent key that is asking, valid now. AppError with the reference's sentence for everything else: `no_auth` (none, or a
   * login token), `bad_key`, `personal_key`, `external_key`, `rate_limited`.
   */
  authenticate(credentials: AgentCredentials): Promise<AgentKeyActor>;

  listFolders(actor: AgentKeyActor): Promise<KeyFolders>;
  /**
   * The scope of a call. Without names everything the key reads; with names only those folders and all inside them (single
   * files left out). Names and paths match case-insensitively after NFC; a name that fits several folders means all.
   */
  chooseFolders(actor: AgentKeyActor, names: readonly string[] | null): Promise<FolderChoice>;

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
  findDocument(actor: AgentKeyActor, id: string): Promise<DocumentView | null>;
  /** Pages `from` to `to`, in order, both included; pages that do not exist are left out. */
  readPages(document: DocumentView, from: number, to: number): Promise<PageText[]>;
  /** Its pages are the document's own, as `pages` counts them. */
  pageView(document: DocumentView): Promise<PageView>;
  /**
   * One page as a PNG (110 dpi, longer side at most 1,568 pixels) or as a PDF of that page alone. Throws AppError with a
   * sentence for a page that cannot be drawn.
   */
  drawPage(document: DocumentView, page: number, format: 'image' | 'pdf', signal: AbortSignal): Promise<Uint8Array>;

  /** Resolves once the entry is durable; when it cannot be written it throws, and the call has no answer. */
  audit: Pick<Audit, 'record'>;
}
