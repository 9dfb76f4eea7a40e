import { openLibrary } from './open-library.ts';
import { openReaders } from './readers.ts';
import { excerpts } from './excerpts.ts';
import type { RunningWorker } from '../cli/services.ts';
import type { Config } from '../config.ts';
import { openSearchMaintenance } from '../storage/sqlite/search-merge.ts';
import { reapOrphans } from '../processing/reaper.ts';
import { startWorker } from '../processing/worker.ts';
import { createLog } from './log.ts';

const REAP_EVERY_MS = 6 * 3_600_000;

/** Processes documents until it is stopped. The caller holds the lock on the data folder, so running leases are of the dead. */
export async function runWorker(config: Config): Promise<RunningWorker> {
  const log = createLog(config, 'worker');
  const library = await openLibrary(config);
  const { storage, blobs, clock, audit } = library.deps;
  const readers = await openReaders(config, (message) => log.warn(message));
  await storage.jobs.retryAllRunning(clock.now());
  const worker = startWorker(
    {
      storage,
      blobs,
      clock,
      reader: readers.reader,
      copies: readers.copies,
      ocr: null,
      excerpts,
      audit: (stores, { documentId, ...entry }) =>
        audit.append(stores, { actor: { kind: 'system', name: 'worker', requestId: 'worker' }, object: { kind: 'document', id: documentId }, ...entry }),
      limits: { pages: config.limits.pages, unpackedBytes: config.limits.unpackedBytes, readWallMs: config.limits.readWallSeconds * 1_000 },
      log,
    },
    { slots: config.workerConcurrency },
  );
  const reap = (): void => {
    reapOrphans({ storage, blobs, clock }).catch((error: unknown) => log.warn({ err: error }, 'the reaper did not finish'));
  };
  reap();
  const reaping = setInterval(reap, REAP_EVERY_MS);
  const tidying = keepIndexTidy(library.storage.databasePath, (error) => log.warn({ err: error }, 'the search index could not be tidied'));
  return {
    async stop() {
      clearInterval(reaping);
      tidying.stop();
      await worker.stop();
      await readers.close();
      await library.close();
    },
  };
}

/** Merges the search index's segments in short steps between other work: many small ones make searches slow. */
function keepIndexTidy(databasePath: string, onError: (error: unknown) => void): { stop(): void } {
  const maintenance = openSearchMaintenance(databasePath);
  let timer = setTimeout(step, 1_000);
  function step(): void {
    let more = false;
    try {
      more = maintenance.step();
    } catch (error) {
      // A busy database or a full disk: later is soon enough.
      onError(error);
    }
    timer = setTimeout(step, more ? 20 : 1_000);
  }
  return {
    stop() {
      clearTimeout(timer);
      maintenance.close();
    },
  };
}
