/** What people keep: folders, documents and their files. Conventions: ../ports.ts. */
import type { Scope } from '../../search/types.ts';

export interface FolderRow {
  ref: number;
  id: string;
  parent: number | null;
  /** The user whose tree it is in. */
  owner: number;
  name: string;
  /** NFC and case-folded: unique among live siblings. */
  nameKey: string;
  createdAt: number;
  trashedAt: number | null;
}

export interface FolderStore {
  insert(row: Omit<FolderRow, 'ref' | 'trashedAt'>): Promise<number>;
  byRef(ref: number): Promise<FolderRow | null>;
  byId(id: string): Promise<FolderRow | null>;
  /** The folder of that id or, where there is none, any other one, after the same work: for the policy, who compares the id. */
  byIdOrAny(id: string): Promise<FolderRow | null>;
  byRefs(refs: readonly number[]): Promise<FolderRow[]>;
  /** Live children, by name. */
  children(parent: number): Promise<FolderRow[]>;
  childByKey(parent: number, nameKey: string): Promise<FolderRow | null>;
  /** From the folder itself up to its root, trashed ones included. */
  ancestors(ref: number): Promise<FolderRow[]>;
  /** The roots that are live themselves and under live parents, with every live folder inside. */
  subtree(roots: readonly number[]): Promise<FolderRow[]>;
  /** The folder and everything below it, trashed or not. */
  everythingBelow(ref: number): Promise<FolderRow[]>;
  /** Path from the owner's root, such as `Ava Bennett's documents/Energy outlooks`; one entry a ref that exists. */
  paths(refs: readonly number[]): Promise<Map<number, string>>;
  update(ref: number, change: Partial<Pick<FolderRow, 'name' | 'nameKey' | 'parent' | 'trashedAt'>>): Promise<void>;
  /** Folders of one owner that were trashed themselves, newest trashed first. */
  trashed(owner: number): Promise<FolderRow[]>;
  remove(ref: number): Promise<void>;
}

export type DocumentStatus = 'processing' | 'ready' | 'not_indexed' | 'failed';

export type PdfCopyState = 'none' | 'making' | 'ready' | 'failed';

export interface DocumentRow {
  ref: number;
  id: string;
  folder: number;
  owner: number;
  name: string;
  /** What the file says it is called, by the reading whose pages serve: words and meaning go by it. In no answer. */
  title: string | null;
  /** By content once read, by name before. */
  type: string;
  preset: string;
  status: DocumentStatus;
  /** One sentence a person can act on, when status is not_indexed or failed. */
  reason: string | null;
  /** Sentences about a document that is ready all the same (wrong extension, missing font). */
  notices: string[];
  progress: { done: number; total: number; what: string } | null;
  sha256: string;
  bytes: number;
  pages: number | null;
  pagesEstimated: boolean;
  pagesToView: number[];
  imageOnlyPages: number[];
  pdfCopy: PdfCopyState;
  uploadedAt: number;
  uploadedBy: number;
  trashedAt: number | null;
  /** Counts up with each replacement and reprocessing: results of an older generation are thrown away. */
  generation: number;
  /** The archive or mail that it came out of; that one may be gone since. */
  container: number | null;
}

export interface DocumentStore {
  insert(row: Omit<DocumentRow, 'ref' | 'title' | 'trashedAt'>): Promise<number>;
  byRef(ref: number): Promise<DocumentRow | null>;
  byId(id: string): Promise<DocumentRow | null>;
  /** As for folders. Null in a library without documents. */
  byIdOrAny(id: string): Promise<DocumentRow | null>;
  byRefs(refs: readonly number[]): Promise<DocumentRow[]>;
  /** Live documents in scope, newest first (uploadedAt, then ref, both descending). */
  list(scope: Scope, limit: number, offset: number): Promise<DocumentRow[]>;
  count(scope: Scope): Promise<number>;
  /** Is this live document inside the scope? Asked in one query, so that it cannot race a move. */
  inScope(id: string, scope: Scope): Promise<DocumentRow | null>;
  /** Live documents directly in a folder, by name. */
  inFolder(folder: number, limit: number, offset: number): Promise<DocumentRow[]>;
  countInFolder(folder: number): Promise<number>;
  /** Live documents of that exact name in a folder: what a resumed import skips. */
  byNameInFolder(folder: number, name: string): Promise<DocumentRow[]>;
  update(ref: number, change: Partial<Omit<DocumentRow, 'ref' | 'id' | 'owner'>>): Promise<void>;
  /** Trashed documents of one owner, newest trashed first. */
  trashed(owner: number): Promise<DocumentRow[]>;
  /** Documents (live or trashed) in any of these folders, at most `limit`: for purging a folder. */
  allInFolders(folders: readonly number[], limit?: number): Promise<DocumentRow[]>;
  /** How much came out of this archive or mail, and out of what came out of it, `except` directly out of that one of them. */
  sizeInside(container: number, except: number): Promise<{ files: number; bytes: number }>;
  /** Where these documents are, those in the trash themselves left out. A key may name thousands. */
  placesOf(refs: readonly number[]): Promise<{ ref: number; folder: number }[]>;
  /** Removes documents with all rows that hang on them. */
  remove(refs: readonly number[]): Promise<void>;
}

/** `replaced`: the file that the present pages were read from, kept until the reading of the one that took its place commits. */
export type FileKind = 'original' | 'pdf-copy' | 'ocr' | 'replaced';

export interface FileRow {
  ref: number;
  document: number;
  kind: FileKind;
  name: string;
  mime: string;
  sha256: string;
  bytes: number;
  createdAt: number;
}

export interface FileStore {
  /** Replaces the file of the same kind of that document. */
  put(row: Omit<FileRow, 'ref'>): Promise<number>;
  get(document: number, kind: FileKind): Promise<FileRow | null>;
  ofDocument(document: number): Promise<FileRow[]>;
  /** Blobs of all files of these documents, each once. */
  hashesOf(documents: readonly number[]): Promise<string[]>;
  removeKind(document: number, kind: FileKind): Promise<void>;
  /** Which of these blobs does any row (files or drawn pages) still name? */
  referenced(sha256s: readonly string[]): Promise<Set<string>>;
  /** Distinct blobs that file rows name, in order after `after`: for `verify` and the reaper. */
  hashes(after: string, limit: number): Promise<string[]>;
}

/** Drawn pages, cached by (file hash, page, kind); can be dropped at any time. */
export interface DrawnPageStore {
  get(fileSha256: string, page: number, kind: 'png' | 'pdf'): Promise<string | null>;
  put(fileSha256: string, page: number, kind: 'png' | 'pdf', sha256: string, bytes: number): Promise<void>;
  /** Forgets all drawings of a file; answers their blobs. */
  removeOfFile(fileSha256: string): Promise<string[]>;
  /** Forgets the drawings of files that no row names; how many. */
  removeOrphans(): Promise<number>;
}
