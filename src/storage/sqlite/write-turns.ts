import { close, fdatasync, openSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type Sqlite from 'better-sqlite3';
import { AppError } from '../../errors.ts';

/** How long a writer waits for the other processes' transactions before it gives up. */
const WRITE_WAIT_MS = 15_000;

/** Transactions on the connection that writes, one after the other. Errors are answered as `asAppError` reads them. */
export interface WriteTurns {
  /** Durable when it resolves. */
  durably<T>(work: () => Promise<T>): Promise<T>;
  /** Committed when it resolves, durable when `durable` does: the next turn need not wait for the disk. */
  soon<T>(work: () => Promise<T>): Promise<{ result: T; durable: Promise<void> }>;
  /** True while a turn's changes are neither committed nor taken back. */
  isChanging(): boolean;
  close(): Promise<void>;
}

/**
 * SQLite syncs its log inside the commit, and the event loop stands still meanwhile. What many calls wait for (audit rows), and what the
 * worker writes with other files at hand, is committed without that (`synchronous = NORMAL`) and synced here in a thread of Node's own:
 * in WAL mode a commit is durable once the log is, whoever asked for it, and a cut before that undoes whole transactions from the end,
 * none of which was answered.
 */
export function createWriteTurns(
  connection: Sqlite.Database,
  options: {
    walPath: string;
    onDiskFailure(error: unknown): void;
    /**
     * Milliseconds between two turns. A worker's turns follow each other closely, and SQLite's lock has no queue: without a gap the
     * server would find it taken for seconds, whenever it looks.
     */
    giveWayMs?: number | undefined;
  },
): WriteTurns {
  const begin = connection.prepare('begin immediate');
  const commit = connection.prepare('commit');
  const rollback = connection.prepare('rollback');
  let last: Promise<unknown> = Promise.resolve();
  let synced = true;
  let changing = false;
  let wal: number | null = null;
  const syncing = new Set<Promise<void>>();

  const inTurn = <T>(syncs: boolean, work: () => Promise<T>): Promise<T> => {
    const turn = last.then(async () => {
      // Cannot change inside a transaction; most turns want what the one before wanted.
      if (synced !== syncs) connection.pragma(`synchronous = ${syncs ? 'FULL' : 'NORMAL'}`);
      synced = syncs;
      await beginWhenFree(begin);
      changing = true;
      try {
        const result = await work();
        commit.run();
        changing = false;
        return result;
      } catch (error) {
        if (connection.inTransaction) rollback.run();
        changing = false;
        if (/^SQLITE_IOERR_(FSYNC|DIR_FSYNC)/.test(codeOf(error))) options.onDiskFailure(error);
        throw asAppError(error);
      }
    });
    const after = (): unknown => (options.giveWayMs === undefined ? undefined : sleep(options.giveWayMs));
    last = turn.then(after, after);
    return turn;
  };

  const syncLog = (): Promise<void> => {
    const sync = new Promise<void>((resolve, reject) => {
      // There is one as soon as something was committed, and it is the same file for as long as a connection is open. SQLite has no
      // lock on it that closing this would drop.
      wal ??= openSync(options.walPath, 'r');
      fdatasync(wal, (error) => {
        if (!error) return resolve();
        options.onDiskFailure(error);
        reject(asAppError(error));
      });
    });
    const ended = sync.catch(() => undefined).then(() => void syncing.delete(ended));
    syncing.add(ended);
    return sync;
  };

  return {
    durably: (work) => inTurn(true, work),
    async soon(work) {
      const result = await inTurn(false, work);
      return { result, durable: syncLog() };
    },
    isChanging: () => changing,
    async close() {
      await last;
      await Promise.all(syncing);
      if (wal !== null) await new Promise((resolve) => close(wal!, resolve));
    },
  };
}

/** Waits for the write lock without blocking the event loop: SQLite's own busy handler would sleep in it. */
async function beginWhenFree(begin: Sqlite.Statement): Promise<void> {
  const deadline = performance.now() + WRITE_WAIT_MS;
  for (let waitMs = 1; ; waitMs = Math.min(waitMs * 2, 4)) {
    try {
      begin.run();
      return;
    } catch (error) {
      if (!codeOf(error).startsWith('SQLITE_BUSY')) throw asAppError(error);
      if (performance.now() > deadline) throw new AppError('busy', 'The library is busy writing — try again in a moment', { retryAfterSeconds: 2 });
      await sleep(waitMs);
    }
  }
}

const codeOf = (error: unknown): string => String((error as { code?: unknown } | null)?.code ?? '');

function asAppError(error: unknown): unknown {
  const code = codeOf(error);
  if (code === 'SQLITE_FULL' || code === 'ENOSPC') {
    return new AppError('disk_full', 'The disk that holds the library is full — nothing was changed; free some space and try again');
  }
  return error;
}
