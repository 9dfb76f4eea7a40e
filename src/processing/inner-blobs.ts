import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { leftForRoom, type InnerFile } from '../library/inner-files.ts';
import type { BlobStore, DocumentRow } from '../storage/ports.ts';
import type { ProcessingDeps } from './deps.ts';
import type { ReadSettings } from './ports.ts';

/** Small files are written side by side, since each waits for the disk; no more than this many, so that memory stays bounded. */
const WRITES_AT_ONCE = 8;

type Taker = ReturnType<NonNullable<ReadSettings['onAttachment']>>;

/**
 * Takes the files inside a document as the reading hands them on and stores each at once: whatever an archive unpacks to, at most a
 * few pieces of it are in memory, and the reading waits for the disk. A document that lies too deep in others keeps its files to itself,
 * and so does one out of whose container enough came already.
 */
export async function collectInnerFiles(deps: Pick<ProcessingDeps, 'blobs' | 'roomInside'>, document: DocumentRow) {
  const room = await deps.roomInside(document);
  const stored: Promise<InnerFile | null>[] = [];
  const writing = new Set<Promise<unknown>>();
  let open: ReturnType<typeof storePieces> | undefined;
  let left = 0;
  return {
    take(path: string): Taker {
      if (room === null || room.files < 1 || room.bytes < 1) {
        left += 1;
        return { write: () => undefined, end: () => undefined };
      }
      const file = storePieces(deps.blobs, path);
      open = file;
      room.files -= 1;
      stored.push(file.stored);
      const settled = file.stored.then(() => undefined, () => undefined).finally(() => writing.delete(settled));
      writing.add(settled);
      let isLeft = false;
      return {
        write(piece) {
          room.bytes -= piece.byteLength;
          if (room.bytes >= 0) return file.write(piece);
          if (!isLeft) left += 1;
          isLeft = true;
          return file.end(false);
        },
        async end(whole) {
          open = undefined;
          file.end(whole && !isLeft);
          if (writing.size >= WRITES_AT_ONCE) await Promise.race(writing);
        },
      };
    },
    async files(): Promise<InnerFile[]> {
      return (await Promise.all(stored)).filter((file) => file !== null);
    },
    /** The reading came to nothing: what was stored of it is named by nobody. Answers the blobs that are no longer wanted. */
    async discard(): Promise<string[]> {
      open?.end(false);
      const ends = await Promise.allSettled(stored);
      return ends.flatMap((end) => (end.status === 'fulfilled' && end.value !== null ? [end.value.blob.sha256] : []));
    },
    notices(): string[] {
      if (left === 0) return [];
      return [room === null ? `${left} files inside were left inside, because it came out of another file itself — upload it on its own to have them` : leftForRoom(left)];
    },
  };
}

class Abandoned extends Error {}

function storePieces(blobs: BlobStore, path: string): { stored: Promise<InnerFile | null>; write(piece: Uint8Array): Promise<void>; end(whole: boolean): void } {
  const pipe = new PassThrough({ highWaterMark: 1024 ** 2 });
  const stored = blobs.put(pipe, Number.MAX_SAFE_INTEGER).then(
    (blob) => ({ path, blob }),
    (error: unknown) => {
      if (error instanceof Abandoned) return null;
      throw error;
    },
  );
  // Looked at by the next write, or when all are asked for; until then a full disk is no unhandled rejection.
  stored.catch(() => undefined);
  pipe.on('error', () => undefined);
  return {
    stored,
    async write(piece) {
      // A store that failed has closed the pipe: its reason is what the reading ends with.
      if (pipe.destroyed) await stored;
      if (!pipe.write(piece)) await Promise.race([once(pipe, 'drain'), stored]);
    },
    end(whole) {
      if (whole) pipe.end();
      else pipe.destroy(new Abandoned());
    },
  };
}
