import type { Config } from '../config.ts';
import { AppError } from '../errors.ts';
import { lockDataFolder, type DataFolderLock } from '../storage/data-folder-lock.ts';
import type { Programs } from './services.ts';

/** Runs `action` with a worker beside it, unless a running server has one already (or none is wanted). */
export async function withOwnWorker<T>(
  config: Config,
  wanted: boolean,
  programs: Programs,
  action: () => Promise<T>,
): Promise<T> {
  const lock = wanted ? lockIfFree(config.dataFolder) : null;
  if (lock === null) return action();
  try {
    const worker = await programs.startWorker(config);
    try {
      return await action();
    } finally {
      await worker.stop();
    }
  } finally {
    lock.release();
  }
}

function lockIfFree(folder: string): DataFolderLock | null {
  try {
    return lockDataFolder(folder);
  } catch (error) {
    if (error instanceof AppError && error.code === 'conflict') return null;
    throw error;
  }
}
