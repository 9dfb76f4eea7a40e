/**
 * The narrow interface between the rooms and whatever engine keeps their rows. Each engine folder (sqlite/, later
 * postgres/) implements it with the same file names, and one suite (storage.test.ts) runs over all of them.
 *
 * Conventions: `ref` is the internal integer, `id` the public random text; times are epoch milliseconds (UTC); a lookup that
 * finds nothing answers null; nothing here knows of rights: callers pass what may be seen as a Scope.
 */
import type { GrantStore, KeyStore, SessionStore, UserStore } from './ports/people.ts';
import type { DocumentStore, DrawnPageStore, FileStore, FolderStore } from './ports/documents.ts';
import type { ChunkStore, IndexStore, PageStore } from './ports/pages.ts';
import type { JobStore } from './ports/jobs.ts';
import type { AuditStore, JudgedPageStore } from './ports/audit.ts';

export type * from './ports/people.ts';
export type * from './ports/documents.ts';
export type * from './ports/pages.ts';
export type * from './ports/jobs.ts';
export type * from './ports/audit.ts';

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
   * process: so it is never older than the call that asks, rights included. Answers are frozen; the same one comes again. Without
   * `isKept`, for what may be large, every answer is kept.
   */
  recall<T>(name: string, make: () => Promise<T>, isKept?: (answer: T) => boolean): Promise<T>;
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
