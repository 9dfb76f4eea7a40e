import type { Clock } from '../clock.ts';
import type { BlobStore, Storage } from '../storage/ports.ts';

const DAY_MS = 24 * 3_600_000;

/**
 * Removes what no row names and has not been written for a day: blobs of uploads that a crash cut off, drawings of purged files.
 * Each removal is decided under the write lock, so that an upload of the same bytes cannot lose its blob.
 */
export async function reapOrphans(deps: { storage: Storage; blobs: BlobStore; clock: Clock }): Promise<number> {
  let removed = 0;
  // Drawings of files that have gone since (purged while a page was being drawn): their blobs are orphans from here on.
  await deps.storage.drawnPages.removeOrphans();
  const before = deps.clock.now() - DAY_MS;
  for await (const sha256 of deps.blobs.list(before)) {
    if ((await deps.storage.files.referenced([sha256])).has(sha256)) continue;
    await deps.storage.transaction(async (stores) => {
      if ((await stores.files.referenced([sha256])).has(sha256)) return;
      await deps.blobs.remove(sha256, before);
      removed += 1;
    });
  }
  await deps.storage.jobs.removeFinishedBefore(deps.clock.now() - 30 * DAY_MS);
  await deps.storage.sessions.removeExpired(deps.clock.now());
  return removed;
}
