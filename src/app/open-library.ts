import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { loadAuditKey } from '../audit/key.ts';
import { openAudit } from '../audit/log.ts';
import { systemClock } from '../clock.ts';
import type { Config } from '../config.ts';
import { defaultLibraryLimits, type LibraryDeps } from '../library/deps.ts';
import { indexFolderName, indexUnreadFolderNames, reindexTitle } from '../processing/reindex.ts';
import { openDiskBlobs } from '../storage/blobs/disk.ts';
import type { SqliteStorage } from '../storage/sqlite/open.ts';
import { openSqliteStorage } from '../storage/sqlite/open.ts';

export interface OpenLibrary {
  deps: LibraryDeps;
  storage: SqliteStorage;
  close(): Promise<void>;
}

/** The library over the data folder: what every program (server, worker, command) starts with. */
export async function openLibrary(config: Config, options: { inBackground?: boolean } = {}): Promise<OpenLibrary> {
  // What a failing disk said was written may not be: stop here, and let the next start recover from what is there.
  const onDiskFailure = (error: unknown): never => {
    process.stderr.write(`The disk failed while writing (${String(error)}): Sergo ends now so that nothing more is promised\n`);
    process.exit(1);
  };
  const storage = await openSqliteStorage({ path: join(config.dataFolder, 'sergo.db'), onDiskFailure, ...options });
  await indexUnreadFolderNames(storage);
  const blobs = await openDiskBlobs({ folder: join(config.dataFolder, 'blobs'), onDiskFailure });
  const key = await loadAuditKey(config.dataFolder, { mayCreate: (await storage.audit.head()) === null });
  const audit = openAudit({ storage, clock: systemClock, key });
  const deps: LibraryDeps = {
    storage,
    blobs,
    audit,
    clock: systemClock,
    random: (count) => randomBytes(count),
    limits: { ...defaultLibraryLimits, maxFileBytes: config.limits.fileBytes, maxOpenJobs: config.limits.queuedDocuments, maxInnerBytes: config.limits.unpackedBytes },
    reindexTitle,
    indexFolderName,
  };
  return {
    deps,
    storage,
    async close() {
      await audit.close();
      await storage.close();
    },
  };
}
