/**
 * The narrow interface between the rooms and whatever engine keeps their rows. Each engine folder (sqlite/, later
 * postgres/) implements it with the same file names, and one suite (storage.test.ts) runs over all of them.
 *
 * Conventions: `ref` is the internal integer, `id` the public random text; times are epoch milliseconds (UTC); a lookup that
 * finds nothing answers null; nothing here knows of rights: callers pass what may be seen as a Scope.
 */
import type { PageFate } from '../formats/types.ts';
import type { Scope } from '../search/types.ts';

export interface UserRow {
  ref: number;
  id: string;
  name: string;
  /** Lower-cased. */
  email: string;
  passwordHash: string;
  role: 'admin' | 'member';
  rootFolder: number;
  disabledAt: number | null;
  createdAt: number;
}

export interface UserStore {
  /** The root folder is set in the same transaction through `setRootFolder`. */
  insert(row: Omit<UserRow, 'ref' | 'rootFolder' | 'disabledAt'>): Promise<number>;
  setRootFolder(ref: number, folder: number): Promise<void>;
  byRef(ref: number): Promise<UserRow | null>;
  byId(id: string): Promise<UserRow | null>;
  byEmail(email: string): Promise<UserRow | null>;
  list(): Promise<UserRow[]>;
  countAdmins(): Promise<number>;
  update(ref: number, change: Partial<Pick<UserRow, 'name' | 'email' | 'passwordHash' | 'role' | 'disabledAt'>>): Promise<void>;
}

export interface SessionRow {
  /** SHA-256 of the login token, hex. */
  tokenHash: string;
  user: number;
  createdAt: number;
  expiresAt: number;
}

export interface SessionStore {
  insert(row: SessionRow): Promise<void>;
  byHash(tokenHash: string): Promise<SessionRow | null>;
  /** Hashes of the tokens made at or after that time. */
  hashesSince(time: number): Promise<string[]>;
  extend(tokenHash: string, expiresAt: number): Promise<void>;
  remove(tokenHash: string): Promise<void>;
  removeOfUser(user: number): Promise<void>;
  removeExpired(now: number): Promise<void>;
}

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
  insert(row: Omit<DocumentRow, 'ref' | 'trashedAt'>): Promise<number>;
  byRef(ref: number): Promise<DocumentRow | null>;
  byId(id: string): Promise<DocumentRow | null>;
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

export interface PageRow {
  document: number;
  number: number;
  text: string;
  fate: PageFate;
  toView: boolean;
  width: number | null;
  height: number | null;
  sections: { start: number; title: string }[];
  notes: string | null;
  hidden: string | null;
}

export interface PageStore {
  /** Replaces all pages of the document. */
  replace(document: number, pages: readonly Omit<PageRow, 'document'>[]): Promise<void>;
  get(document: number, number: number): Promise<PageRow | null>;
  /** Pages from..to inclusive, in order. */
  range(document: number, from: number, to: number): Promise<PageRow[]>;
}

export interface ChunkRow {
  ref: number;
  document: number;
  position: number;
  page: number | null;
  section: string | null;
  text: string;
}

export interface ChunkStore {
  byRefs(refs: readonly number[]): Promise<ChunkRow[]>;
  ofDocument(document: number): Promise<ChunkRow[]>;
}

/** One document's excerpts on their way into the search index. */
export interface IndexableDocument {
  document: number;
  documentId: string;
  folder: number;
  live: boolean;
  title: string;
  chunks: { position: number; page: number | null; section: string | null; text: string }[];
  /** What search/ made of title and chunks, in the engine's own form; opaque here. */
  analysed: unknown;
}

/** The engine's write side, inside the caller's transaction: rows of `chunks` and the index move together. */
export interface IndexStore {
  /** Replaces whatever the document had. */
  replace(document: IndexableDocument): Promise<void>;
  remove(documents: readonly number[]): Promise<void>;
  setFolder(document: number, folder: number): Promise<void>;
  setLive(document: number, live: boolean): Promise<void>;
  /** The same for all documents of these folders that are not in the trash themselves, at once; how many there are. */
  setLiveInFolders(folders: readonly number[], live: boolean): Promise<number>;
  /** After a rename: the new title's words as search/ analysed them (`analyseTitle`) in the document's language. */
  setTitle(document: number, title: ReadonlyMap<string, number>): Promise<void>;
  /** Language the document was analysed in, null when it is not indexed. */
  languageOf(document: number): Promise<string | null>;
  /** Words of a folder's name (`analyseTitle`): its documents are found by them, a little. None: forget the folder. */
  setFolderWords(folder: number, words: readonly string[]): Promise<void>;
}

export type JobKind = 'read' | 'pdf-copy';

export interface JobRow {
  ref: number;
  kind: JobKind;
  document: number;
  generation: number;
  /** The document's owner: work is dealt fairly between owners. */
  owner: number;
  /** Bytes to work through: smaller first within an owner, so that one page does not wait behind two thousand. */
  weight: number;
  state: 'queued' | 'running' | 'done' | 'failed' | 'cancelled';
  attempt: number;
  availableAt: number;
  leaseUntil: number | null;
  leaseToken: string | null;
  error: string | null;
  createdAt: number;
  finishedAt: number | null;
}

export interface JobStore {
  enqueue(row: Pick<JobRow, 'kind' | 'document' | 'generation' | 'owner' | 'weight' | 'availableAt' | 'createdAt'>): Promise<number>;
  /**
   * Takes the next job that is due or whose lease has run out (its attempt counts up), or null. Fair between owners. A copy waits
   * for an open reading of its document, whose pages it is aligned with. Of jobs whose worker died one is run at a time, so that
   * the next death tells which of them it was. `mostWeight`: only jobs up to that weight.
   */
  lease(kinds: readonly JobKind[], now: number, leaseMs: number, token: string, mostWeight?: number): Promise<JobRow | null>;
  /** False when the lease is no longer ours (cancelled, or taken after running out). */
  extend(ref: number, token: string, leaseUntil: number): Promise<boolean>;
  /** Ends the job under its lease token; false when the lease is no longer ours: the caller must roll back. */
  finish(ref: number, token: string, state: 'done' | 'failed', error: string | null, now: number): Promise<boolean>;
  /** Back to the queue for another attempt, under its lease token. */
  retry(ref: number, token: string, availableAt: number, error: string): Promise<boolean>;
  /** Back to the queue under its lease token as if it had not been taken: the worker stopped, which is no fault of the file. */
  putBack(ref: number, token: string, now: number): Promise<boolean>;
  /**
   * Puts all running jobs back into the queue: only a process that knows itself to be the sole worker may call it, at start. The
   * worker died with them, and one of them may have been why: where one had outlived a worker before, it counts as that one and the
   * others get their attempt back.
   */
  retryAllRunning(now: number): Promise<number>;
  /** Cancels queued and running jobs of a document; running workers learn of it when they extend or finish. */
  cancelOfDocument(document: number, now: number): Promise<number>;
  openOfDocument(document: number): Promise<JobRow[]>;
  /** Documents with queued or running work, oldest job first. */
  openDocuments(limit: number): Promise<number[]>;
  countOpen(): Promise<number>;
  oldestOpenAt(): Promise<number | null>;
  removeFinishedBefore(time: number): Promise<void>;
}

export type KeyKind = 'agent' | 'personal' | 'external';

export interface KeyRow {
  ref: number;
  id: string;
  kind: KeyKind;
  owner: number;
  name: string;
  description: string;
  createdAt: number;
  revokedAt: number | null;
  lastUsedAt: number | null;
  /** The mask of its newest value. */
  masked: string;
}

export interface KeyValueRow {
  /** SHA-256 of the whole key, hex. */
  hash: string;
  key: number;
  masked: string;
  createdAt: number;
  /** Null: valid until rolled or revoked. */
  validUntil: number | null;
}

export interface KeyStore {
  /** `masked` goes to the key and to its first value. */
  insert(row: Omit<KeyRow, 'ref' | 'revokedAt' | 'lastUsedAt'>, hash: string): Promise<number>;
  /** The key that has this value, with that value's own row; revoked and run-out ones too: the caller decides. */
  byValueHash(hash: string): Promise<{ key: KeyRow; value: KeyValueRow } | null>;
  /** Hashes of all values made at or after that time, good or not. */
  hashesSince(time: number): Promise<string[]>;
  byId(id: string): Promise<KeyRow | null>;
  /** Newest first. */
  ofOwner(owner: number): Promise<KeyRow[]>;
  list(): Promise<KeyRow[]>;
  liveNameTaken(owner: number, kind: KeyKind, name: string, except: number | null): Promise<boolean>;
  update(ref: number, change: Partial<Pick<KeyRow, 'name' | 'description' | 'revokedAt'>>): Promise<void>;
  /** Adds a value and ends the older ones at `oldValidUntil` unless they end sooner. */
  roll(ref: number, value: { hash: string; masked: string; createdAt: number }, oldValidUntil: number): Promise<void>;
  touch(ref: number, usedAt: number): Promise<void>;
  /** The roots the key names (folders not expanded). */
  scope(ref: number): Promise<{ folders: number[]; documents: number[] }>;
  setScope(ref: number, folders: readonly number[], documents: readonly number[]): Promise<void>;
}

export interface GrantRow {
  ref: number;
  id: string;
  /** Exactly one of folder and document is set. */
  folder: number | null;
  document: number | null;
  user: number;
  right: 'read' | 'edit';
  grantedBy: number;
  createdAt: number;
}

export interface GrantStore {
  insert(row: Omit<GrantRow, 'ref'>): Promise<number>;
  byId(id: string): Promise<GrantRow | null>;
  ofUser(user: number): Promise<GrantRow[]>;
  onFolder(folder: number): Promise<GrantRow[]>;
  onDocument(document: number): Promise<GrantRow[]>;
  remove(ref: number): Promise<void>;
}

export interface AuditRow {
  /** 1, 2, 3, … without gaps. */
  seq: number;
  at: number;
  actorKind: 'user' | 'key' | 'system' | 'anonymous';
  actorId: string | null;
  /** Name as shown at that time. */
  actor: string;
  masked: string | null;
  endUser: string | null;
  action: string;
  objectKind: string | null;
  objectId: string | null;
  detail: string;
  outcome: 'ok' | 'denied' | 'error';
  requestId: string;
  /** HMAC over the previous row's hash and this row's canonical form, hex. */
  hash: string;
}

/** What a search in the log asked for, beside its row: not part of the chain. */
export interface AskedSearch {
  query: string;
  /** Names as given; null for everything in scope. */
  folders: string[] | null;
  limit: number;
  offset: number;
  /** Id of the key that a person searched as. */
  asKey: string | null;
  /** Excerpts in the answer; null when there was none. */
  found: number | null;
}

export interface AuditFilter {
  /** Only rows with a smaller seq. */
  before?: number;
  actorId?: string;
  action?: string;
  outcome?: AuditRow['outcome'];
  objectId?: string;
  endUser?: string;
}

export interface AuditStore {
  head(): Promise<{ seq: number; hash: string } | null>;
  append(rows: readonly (AuditRow & { asked?: AskedSearch })[]): Promise<void>;
  bySeq(seq: number): Promise<AuditRow | null>;
  /** Null for rows that are no search, and for searches from before this was kept. */
  asked(seq: number): Promise<AskedSearch | null>;
  /** Newest first. */
  list(filter: AuditFilter, limit: number): Promise<AuditRow[]>;
  /** Oldest first, for verify and export. */
  after(seq: number, limit: number): Promise<AuditRow[]>;
}

/** A page that its owner says a query should find; the queries of one scope are run together (search/judged-run.ts). */
export interface JudgedPageRow {
  ref: number;
  id: string;
  owner: number;
  query: string;
  /** Whose scope is searched: an agent key's, a folder's, or with neither the owner's own. At most one is set. */
  keyId: string | null;
  folderId: string | null;
  documentId: string;
  /** Null: any page of the document. */
  page: number | null;
  /** 1 helps, 2 answers, 3 is the one. */
  grade: number;
  createdAt: number;
  /** Place among the pages found by the last run, from 1; null when it was not among them. */
  lastRank: number | null;
  lastRunAt: number | null;
}

export interface JudgedPageStore {
  insert(row: Omit<JudgedPageRow, 'ref' | 'lastRank' | 'lastRunAt'>): Promise<number>;
  byId(id: string): Promise<JudgedPageRow | null>;
  /** Oldest first. */
  ofOwner(owner: number): Promise<JudgedPageRow[]>;
  setRank(ref: number, rank: number | null, at: number): Promise<void>;
  remove(ref: number): Promise<void>;
}

export interface SettingStore {
  get(name: string): Promise<unknown>;
  set(name: string, value: unknown): Promise<void>;
  remove(name: string): Promise<void>;
}

export interface Stores {
  users: UserStore;
  sessions: SessionStore;
  folders: FolderStore;
  documents: DocumentStore;
  files: FileStore;
  drawnPages: DrawnPageStore;
  pages: PageStore;
  chunks: ChunkStore;
  index: IndexStore;
  jobs: JobStore;
  keys: KeyStore;
  grants: GrantStore;
  audit: AuditStore;
  judgedPages: JudgedPageStore;
  settings: SettingStore;
}

export interface Storage extends Stores {
  /**
   * All or nothing, durable when it resolves. Writers wait for each other across processes; nested calls are a programming
   * error. A full disk is AppError `disk_full`.
   */
  transaction<T>(work: (stores: Stores) => Promise<T>): Promise<T>;
  /**
   * The same for audit rows alone, which nearly every call waits for: committed when it resolves, durable when `durable` does; the
   * next rows need not wait for the disk. Readers may see rows shortly before they are durable.
   */
  appendAudit(work: (audit: AuditStore) => Promise<void>): Promise<{ durable: Promise<void> }>;
  /**
   * What `make` answers out of reads alone, remembered under `name` for as long as nothing but audit rows is committed, by whichever
   * process: so it is never older than the call that asks, rights included. Answers are frozen; the same one comes again.
   */
  recall<T>(name: string, make: () => Promise<T>): Promise<T>;
  /** A write and a read that must work for readiness. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Bytes by their SHA-256. A blob is whole or absent: temporary name, fsync, rename, fsync of the folder.
 *
 * Putting and purging may meet at one blob, so both end under the write lock: whoever names a blob in a row asks `has`
 * inside that same transaction (missing: AppError busy, the caller uploads again); whoever removes one first asks
 * `files.referenced` inside a transaction and removes before it commits.
 */
export interface BlobStore {
  /** Streams into place; refuses over `maxBytes` (AppError too_large), answers disk_full on ENOSPC; leaves nothing behind on failure. */
  put(source: AsyncIterable<Uint8Array>, maxBytes: number): Promise<{ sha256: string; bytes: number }>;
  putBytes(bytes: Uint8Array): Promise<{ sha256: string; bytes: number }>;
  /** Throws when the blob is missing: a row without a blob is an alarm. */
  read(sha256: string): Promise<Uint8Array>;
  stream(sha256: string, range?: { start: number; end: number }): NodeJS.ReadableStream;
  has(sha256: string): Promise<boolean>;
  /** A local file with these bytes for a sandboxed reader; the disk store answers its own file, others a temporary one. */
  localPath(sha256: string): Promise<{ path: string; release(): Promise<void> }>;
  /** With `beforeMs` only when it was last written before that time: a blob that was just put again stays. */
  remove(sha256: string, beforeMs?: number): Promise<void>;
  /** All blobs last written before this time, for the reaper. */
  list(beforeMs: number): AsyncIterable<string>;
}
