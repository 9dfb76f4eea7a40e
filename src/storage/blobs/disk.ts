import { createHash, randomBytes } from 'node:crypto';
import { accessSync, constants, createReadStream } from 'node:fs';
import { access, mkdir, open, opendir, readdir, readFile, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AppError } from '../../errors.ts';
import { diskFull, requireRoomFor } from '../free-space.ts';
import type { BlobStore } from '../ports.ts';

/** Between two looks at the free space. */
const ROOM_STEP_BYTES = 2 ** 20;

/**
 * Blobs on disk, named by their SHA-256: `<folder>/ab/abcdef…`. Written in the order that survives a power cut: temporary
 * name, fsync, rename, fsync of the folder; only then may a row name them (trust.md, conclusion 2).
 */
export async function openDiskBlobs(options: { folder: string; onDiskFailure?: (error: unknown) => void }): Promise<BlobStore> {
  const { folder } = options;
  const incoming = join(folder, 'incoming');
  await mkdir(incoming, { recursive: true, mode: 0o700 });
  const pathOf = (sha256: string): string => {
    if (!/^[0-9a-f]{64}$/.test(sha256)) throw new Error('A blob is named by 64 lower-case hex digits');
    return join(folder, sha256.slice(0, 2), sha256);
  };

  const put = async (source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>, maxBytes: number) => {
    const temporary = join(incoming, `${process.pid}-${randomBytes(8).toString('hex')}`);
    const hash = createHash('sha256');
    let bytes = 0;
    try {
      const file = await open(temporary, 'wx', 0o600);
      try {
        let asked = 0;
        for await (const part of source) {
          bytes += part.byteLength;
          if (bytes > asked) {
            await requireRoomFor(folder, bytes - asked);
            asked = bytes + ROOM_STEP_BYTES;
          }
          if (bytes > maxBytes) throw new AppError('too_large', `The file is larger than the ${formatMiB(maxBytes)} that one file may have`);
          hash.update(part);
          await writeFully(file, part);
        }
        await file.sync();
      } finally {
        await file.close();
      }
      const sha256 = hash.digest('hex');
      await settle(temporary, pathOf(sha256));
      return { sha256, bytes };
    } catch (error) {
      await rm(temporary, { force: true });
      if (codeOf(error) === 'EIO') options.onDiskFailure?.(error);
      throw codeOf(error) === 'ENOSPC' || codeOf(error) === 'EDQUOT' ? diskFull() : error;
    }
  };

  /** Always renames over what may be there: an equal blob that is being removed at the same moment stays whole. */
  const settle = async (temporary: string, target: string): Promise<void> => {
    const shard = dirname(target);
    try {
      await rename(temporary, target);
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error;
      await mkdir(shard, { recursive: true, mode: 0o700 });
      await syncFolder(folder);
      await rename(temporary, target);
    }
    await syncFolder(shard);
  };

  return {
    put,
    putBytes: (bytes) => put([bytes], Number.MAX_SAFE_INTEGER),
    read: (sha256) => readFile(pathOf(sha256)),
    stream: (sha256, range) => createReadStream(pathOf(sha256), range ?? {}),
    async has(sha256) {
      // Asked inside transactions, an archive's hundreds of files one by one: no turn in the queue of slower disk work for each.
      try {
        accessSync(pathOf(sha256), constants.R_OK);
        return true;
      } catch {
        return false;
      }
    },
    async localPath(sha256) {
      const path = pathOf(sha256);
      await access(path, constants.R_OK);
      return { path, release: async () => {} };
    },
    async remove(sha256, beforeMs) {
      if (beforeMs !== undefined) {
        const info = await stat(pathOf(sha256)).catch(() => null);
        if (!info || info.mtimeMs >= beforeMs) return;
      }
      await rm(pathOf(sha256), { force: true });
    },
    async *list(beforeMs) {
      for (const shard of await readdir(folder)) {
        if (shard.length !== 2) continue;
        for await (const entry of await opendir(join(folder, shard))) {
          const info = await stat(join(folder, shard, entry.name)).catch(() => null);
          if (info && info.mtimeMs < beforeMs) yield entry.name;
        }
      }
    },
  };
}

const DAY_MS = 86_400_000;

/**
 * Removes half-written uploads that a crash left: nothing else ever looks into `incoming`. Called once at start, before this process
 * puts anything. What an `import` beside it is writing stays: names begin with the process, and one that runs keeps its own, for a
 * day without a byte at most, since numbers of processes come again.
 */
export async function clearIncoming(folder: string): Promise<number> {
  const incoming = join(folder, 'incoming');
  const names = await readdir(incoming).catch(() => []);
  let removed = 0;
  for (const name of names) {
    const path = join(incoming, name);
    const info = await stat(path).catch(() => null);
    const writer = Number.parseInt(name, 10);
    if (info === null || (writer !== process.pid && isRunning(writer) && Date.now() - info.mtimeMs < DAY_MS)) continue;
    await rm(path, { force: true });
    removed += 1;
  }
  return removed;
}

function isRunning(pid: number): boolean {
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch (error) {
    // There is one, of another user.
    return codeOf(error) === 'EPERM';
  }
}

async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function writeFully(file: FileHandle, part: Uint8Array): Promise<void> {
  for (let done = 0; done < part.byteLength; ) {
    const { bytesWritten } = await file.write(part, done, part.byteLength - done);
    done += bytesWritten;
  }
}

const codeOf = (error: unknown): unknown => (error as { code?: unknown } | null)?.code;
const formatMiB = (bytes: number): string => (bytes >= 1 << 30 ? `${bytes / 2 ** 30} GiB` : `${Math.floor(bytes / 2 ** 20)} MiB`);
