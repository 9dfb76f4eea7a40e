import type { SqliteStorage } from '../storage/sqlite/open.ts';
import { openLibrary } from './open-library.ts';
import { openReaders } from './readers.ts';
import { excerpts } from './excerpts.ts';
import type { RunningWorker } from '../cli/services.ts';
import type { Config } from '../config.ts';
import { hasRoomForWork } from '../storage/free-space.ts';
import { openSearchMaintenance } from '../storage/sqlite/search-merge.ts';
import { placeInnerFiles, roomInside } from '../library/inner-files.ts';
import { reapOrphans } from '../processing/reaper.ts';
import { startWorker } from '../processing/worker.ts';
import { createLog } from './log.ts';
import { memoryRelease } from './idle-memory.ts';
import { startEmbedding } from './meaning.ts';

const REAP_EVERY_MS = 6 * 3_600_000;
/** More of them are felt by searches, so that files which wait must wait a little longer. */
const MANY_SEGMENTS = 100;

/** Processes documents until it is stopped. The caller holds the lock on the data folder, so running leases are of the dead. */
export async function runWorker(config: Config): Promise<RunningWorker> {
  const log = createLog(config, 'worker');
  const library = await openLibrary(config, { inBackground: true });
  const { storage, blobs, clock, audit } = library.deps;
  const readers = await openReaders(config, (message) => log.warn(message));
  await storage.jobs.retryAllRunning(clock.now());
  const hasRoom = (): Promise<boolean> => hasRoomForWork(config.dataFolder);
  const worker = startWorker(
    {
      storage,
      blobs,
      clock,
      reader: readers.reader,
      copies: readers.copies,
      ocr: readers.ocr,
      placeInnerFiles: (stores, document, files) => placeInnerFiles(stores, library.deps, document, files),
      roomInside: (document) => roomInside(storage, library.deps, document),
      excerpts,
      audit: (stores, { documentId, ...entry }) =>
        audit.append(stores, { actor: { kind: 'system', name: 'worker', requestId: 'worker' }, object: { kind: 'document', id: documentId }, ...entry }),
      // A tenth is left for what is around a reading: its turn, the analysis, the writing.
      limits: { pages: config.limits.pages, unpackedBytes: config.limits.unpackedBytes, readMs: config.limits.readWallSeconds * 900 },
      hasRoom,
      log,
    },
    { slots: config.workerConcurrency },
  );
  const reap = (): void => {
    reapOrphans({ storage, blobs, clock }).catch((error: unknown) => log.warn({ err: error }, 'the reaper did not finish'));
  };
  reap();
  const reaping = setInterval(reap, REAP_EVERY_MS);
  const tidying = keepIndexTidy(library.storage, hasRoom, (error) => log.warn({ err: error }, 'the search index could not be tidied'));
  const embedding = startEmbedding(config, library.storage.databasePath, { log, hasRoom });
  return {
    async stop() {
      clearInterval(reaping);
      await embedding.stop();
      tidying.stop();
      await worker.stop();
      await readers.close();
      await library.close();
    },
  };
}

/** Merges the search index's segments in short steps between other work, rarely while files wait: many small ones make searches slow. */
function keepIndexTidy(storage: SqliteStorage, hasRoom: () => Promise<boolean>, onError: (error: unknown) => void): { stop(): void } {
  const maintenance = openSearchMaintenance(storage.databasePath);
  const releaseMemory = memoryRelease();
  let timer = setTimeout(() => void step(), 1_000);
  let stopped = false;
  let worked = false;
  async function step(): Promise<void> {
    let more = false;
    let busy = false;
    try {
      // Merging writes the new before it drops the old: not on a full disk.
      const room = await hasRoom();
      busy = (await storage.jobs.countOpen()) > 0;
      if (stopped) return;
      more = room && maintenance.step();
      if (worked && !busy && !more) releaseMemory();
      worked = busy || more;
    } catch (error) {
      // A busy database: later is soon enough.
      onError(error);
    }
    if (stopped) return;
    const wait = !more ? 1_000 : !busy ? 20 : maintenance.segments() > MANY_SEGMENTS ? 250 : 1_000;
    timer = setTimeout(() => void step(), wait);
  }
  return {
    stop() {
      stopped = true;
      clearTimeout(timer);
      maintenance.close();
    },
  };
}
