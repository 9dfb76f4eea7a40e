/**
 * What new files leave free on the disk of the data folder, so that on a full disk everything else goes on: sign-ins, the
 * audit log behind every read, deletions (trust.md P3). Processing stops a little later than uploads: what it writes is
 * small and wanted, but it must not use up what the audit log needs.
 */
import { statfs } from 'node:fs/promises';
import { AppError } from '../errors.ts';

const RESERVE_BYTES = 64 * 2 ** 20;
/** Small disks keep a share instead. */
const RESERVE_SHARE = 0.3;

const reserveOf = (totalBytes: number): number => Math.min(RESERVE_BYTES, totalBytes * RESERVE_SHARE);

async function spaceOf(folder: string): Promise<{ free: number; reserve: number }> {
  const { bavail, blocks, bsize } = await statfs(folder);
  return { free: bavail * bsize, reserve: reserveOf(blocks * bsize) };
}

/** Throws AppError disk_full when writing `bytes` more would use up the reserve. */
export async function requireRoomFor(folder: string, bytes: number): Promise<void> {
  const { free, reserve } = await spaceOf(folder);
  if (free - bytes < reserve) throw diskFull();
}

/** Is there room for what processing writes: pages, index rows, copies? */
export async function hasRoomForWork(folder: string): Promise<boolean> {
  const { free, reserve } = await spaceOf(folder);
  return free >= (reserve * 2) / 3;
}

export const diskFull = (): AppError =>
  new AppError(
    'disk_full',
    'The disk that holds the library is full — nothing was stored; free some space and upload again',
  );
