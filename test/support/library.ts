import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { UserActor } from '../../src/access/actor.ts';
import { actAsUser } from '../../src/access/keys.ts';
import { insertUserWithRoot } from '../../src/access/people-rules.ts';
import { openAudit } from '../../src/audit/log.ts';
import type { Clock } from '../../src/clock.ts';
import { createFolder } from '../../src/library/folders.ts';
import { defaultLibraryLimits, type LibraryDeps } from '../../src/library/deps.ts';
import { uploadDocument } from '../../src/library/uploads.ts';
import type { DocumentView } from '../../src/library/views.ts';
import { indexFolderName, reindexTitle } from '../../src/processing/reindex.ts';
import { openDiskBlobs } from '../../src/storage/blobs/disk.ts';
import type { IndexWriter } from '../../src/storage/sqlite/index-store.ts';
import { openSqliteStorage } from '../../src/storage/sqlite/open.ts';

export interface FakeClock extends Clock {
  advance(ms: number): void;
}

export const hourMs = 3_600_000;

export function fakeClock(start = Date.UTC(2026, 9, 24, 9)): FakeClock {
  let now = start;
  return {
    now: () => now,
    advance(ms) {
      now += ms;
    },
  };
}

/** What the index was last told of each document. */
export interface SeenIndex {
  live: Map<number, boolean>;
  folder: Map<number, number>;
  removed: Set<number>;
  titles: Map<number, string>;
}

export interface TestLibrary extends LibraryDeps {
  clock: FakeClock;
  folder: string;
  index: SeenIndex;
  /** A user with a root folder and no usable password (fast). */
  person(name: string, role?: 'admin' | 'member'): Promise<UserActor & { rootId: string }>;
  folderIn(actor: UserActor, parentId: string, name: string): Promise<string>;
  upload(actor: UserActor, folderId: string, name?: string, text?: string): Promise<DocumentView>;
  close(): Promise<void>;
}

/**
 * Real embedded storage, blobs and audit in a temporary folder; only the clock and, unless `realIndex`, the index writer are watched
 * stand-ins.
 */
export async function openTestLibrary(options: { realIndex?: boolean } = {}): Promise<TestLibrary> {
  const folder = await mkdtemp(join(tmpdir(), 'sergo-library-'));
  const index: SeenIndex = { live: new Map(), folder: new Map(), removed: new Set(), titles: new Map() };
  const writer: IndexWriter = {
    addDocument(_db, document) {
      index.live.set(document.document, document.live);
      index.folder.set(document.document, document.folder);
    },
    removeDocument: (_db, document) => void index.removed.add(document),
    moveDocument: (_db, document, to) => void index.folder.set(document, to),
    setDocumentLive: (_db, document, live) => void index.live.set(document, live),
  };
  const storage = await openSqliteStorage({ path: join(folder, 'sergo.db'), ...(options.realIndex === true ? {} : { indexWriter: writer }) });
  const blobs = await openDiskBlobs({ folder: join(folder, 'blobs') });
  const clock = fakeClock();
  const audit = openAudit({ storage, clock, key: Buffer.alloc(32, 7) });
  const deps: LibraryDeps = {
    storage,
    blobs,
    clock,
    audit,
    random: randomBytes,
    limits: { ...defaultLibraryLimits },
    reindexTitle: async (stores, document) => {
      index.titles.set(document.ref, document.name);
      await reindexTitle(stores, document);
    },
    indexFolderName,
  };
  return {
    ...deps,
    clock,
    folder,
    index,
    async person(name, role = 'member') {
      const email = `${name.toLowerCase().replaceAll(' ', '.')}@example.com`;
      const made = await storage.transaction((stores) =>
        insertUserWithRoot(stores, randomBytes, { name, email, passwordHash: 'none', role, createdAt: clock.now() }),
      );
      return { ...(await actAsUser(deps, email, `test-${made.id}`)), rootId: made.rootFolderId };
    },
    folderIn: async (actor, parentId, name) => (await createFolder(deps, actor, { name, parentId })).id,
    upload: (actor, folderId, name = 'a.txt', text = name) =>
      uploadDocument(deps, actor, { folderId }, { name, source: bytesOf(text) }),
    async close() {
      await audit.close();
      await storage.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export async function* bytesOf(text: string): AsyncIterable<Uint8Array> {
  yield Buffer.from(text);
}
