/** The queue of work. Conventions: ../ports.ts. */

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
  countOpenOf(owner: number): Promise<number>;
  /** Of documents that came out of an archive or a mail. */
  countOpenUnpacked(): Promise<number>;
  oldestOpenAt(): Promise<number | null>;
  removeFinishedBefore(time: number): Promise<void>;
}
