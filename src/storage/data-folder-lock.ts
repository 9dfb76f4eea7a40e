/**
 * One process tree per data folder. The lock is an exclusive transaction on a small SQLite file of its own: an
 * operating-system lock without a native module of ours, gone the moment its holder dies, however it dies.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { AppError } from '../errors.ts';

export interface DataFolderLock {
  release(): void;
}

/** The locks of this process. Held here because a connection that nothing refers to is closed by the garbage collector,
 * and the lock would be gone while its caller believes to have it. */
const held = new Set<Database.Database>();

/**
 * Makes the folder (0700) when it is missing and takes its lock. Throws AppError `conflict`, naming the process that has
 * it, or `invalid` when the folder cannot be written.
 */
export function lockDataFolder(folder: string): DataFolderLock {
  let database: Database.Database;
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    database = new Database(join(folder, 'lock.sqlite'), { timeout: 0 });
  } catch (error) {
    throw new AppError(
      'invalid',
      `The data folder ${folder} cannot be written (${reasonOf(error)}); set SERGO_DATA to a folder that this user owns.`,
    );
  }
  try {
    // Rollback-journal mode: an exclusive transaction then locks the file itself, for readers too.
    database.pragma('journal_mode = DELETE');
    database.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if (!reasonOf(error).startsWith('SQLITE_BUSY')) throw error;
    const holder = readHolder(folder);
    throw new AppError(
      'conflict',
      `The data folder ${folder} is already in use by ${holder === null ? 'another Sergo' : `the Sergo with process id ${holder}`}; ` +
        `stop that one first${holder === null ? '' : ` (kill ${holder})`}, or give this one a folder of its own with SERGO_DATA.`,
    );
  }
  held.add(database);
  // Only for the message above: who holds the lock is decided by the lock.
  writeFileSync(join(folder, 'lock.pid'), `${process.pid}\n`, { mode: 0o600 });
  return {
    release() {
      held.delete(database);
      if (database.open) database.close();
    },
  };
}

function readHolder(folder: string): number | null {
  try {
    const pid = Number(readFileSync(join(folder, 'lock.pid'), 'utf8'));
    return Number.isSafeInteger(pid) && pid > 0 ? pid : null;
  } catch {
    return null;
  }
}

function reasonOf(error: unknown): string {
  const { code, message } = error as { code?: string; message?: string };
  return code ?? message ?? 'unknown reason';
}
