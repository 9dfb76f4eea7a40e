import type { FastifyInstance } from 'fastify';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { actAsUser } from '../../src/access/keys.ts';
import { insertUserWithRoot } from '../../src/access/people-rules.ts';
import { startLogin } from '../../src/access/sessions.ts';
import { openDoors as openAppDoors } from '../../src/app/doors.ts';
import { excerpts } from '../../src/app/excerpts.ts';
import { openLibrary } from '../../src/app/open-library.ts';
import { openDrawer } from '../../src/app/readers.ts';
import { loadConfig } from '../../src/config.ts';
import type { LibraryDeps } from '../../src/library/deps.ts';
import { createFolder } from '../../src/library/folders.ts';
import { uploadDocument } from '../../src/library/uploads.ts';
import type { DocumentView } from '../../src/library/views.ts';
import { preparePages, writePages } from '../../src/processing/commit.ts';
import type { ProcessingDeps } from '../../src/processing/deps.ts';
import { createPageViewer } from '../../src/processing/view-page.ts';
import { createSearchIndex } from '../../src/search/pool.ts';
import type { Person } from '../api/harness.ts';
import { makePdf } from '../support/pdf-fixture.ts';

export interface Doors {
  app: FastifyInstance;
  library: LibraryDeps;
  databasePath: string;
  publicUrl: string;
  lines: string[];
  person(name: string, role?: 'admin' | 'member'): Promise<Person>;
  folderIn(person: Person, parentId: string, name: string): Promise<string>;
  /** A document that is ready: one page of this text, found by search. */
  upload(person: Person, folderId: string, name: string, text?: string): Promise<DocumentView>;
  close(): Promise<void>;
}

export const HARBOUR = 'The harbour was closed in winter';

/**
 * Every door over one real library, as `serve` has them, but not listening and without a worker: documents are made ready here,
 * so that nothing changes while answers are compared.
 */
export async function openDoors(settings: Record<string, string> = {}): Promise<Doors> {
  const folder = await mkdtemp(join(tmpdir(), 'sergo-doors-'));
  const many = {
    SERGO_RATE_AGENT: '10000000',
    SERGO_RATE_SIGNED_IN: '10000000',
    SERGO_RATE_BAD_CREDENTIALS: '10000000',
  };
  const { config } = loadConfig({ SERGO_DATA: folder, SERGO_SEARCH_THREADS: '1', ...many, ...settings });
  const open = await openLibrary(config);
  const library = open.deps;
  const drawing = await openDrawer(config, () => undefined);
  const databasePath = open.storage.databasePath;
  const index = createSearchIndex({
    databasePath,
    threads: config.search.threads,
    onError: (error) => console.error(error),
  });
  const publicUrl = 'http://127.0.0.1:8080';
  const lines: string[] = [];
  const app = await openAppDoors({
    config,
    publicUrl,
    version: '0.0.0',
    log: pino({ level: 'info' }, { write: (line: string) => void lines.push(line) }),
    library,
    search: { storage: open.storage, index, depth: config.search.depth },
    viewer: createPageViewer({ storage: open.storage, blobs: library.blobs, drawer: drawing.drawer }),
    health: async () => ({ checks: { sandbox: { ok: true } }, notices: [] }),
    readiness: async () => ({ ready: true, checks: {} }),
  });
  await app.ready();
  const processing = { storage: open.storage, excerpts, clock: library.clock, ocr: null } as unknown as ProcessingDeps;

  return {
    app,
    library,
    databasePath,
    publicUrl,
    lines,
    async person(name, role = 'member') {
      const email = `${name.toLowerCase().replaceAll(' ', '.')}@example.com`;
      const row = { name, email, passwordHash: 'none', role, createdAt: library.clock.now() };
      const made = await library.storage.transaction(async (stores) => {
        const user = await insertUserWithRoot(stores, library.random, row);
        return { ...user, ...(await startLogin(library, stores, user.ref)) };
      });
      const actor = await actAsUser(library, email, 'test');
      return { ...actor, rootId: made.rootFolderId, token: made.token } as Person;
    },
    folderIn: async (person, parentId, name) => (await createFolder(library, person, { name, parentId })).id,
    async upload(person, folderId, name, text = HARBOUR) {
      const view = await uploadDocument(library, person, { folderId }, { name, source: whole(makePdf([text])) });
      const row = await library.storage.documents.byId(view.id);
      if (row === null) throw new Error('upload is not there');
      const pages = [{ number: 1, text, fate: 'text' as const, toView: false, width: 595, height: 842 }];
      const prepared = await preparePages(processing, row, { type: 'pdf', pages, pagesEstimated: false });
      await library.storage.transaction(async (stores) => {
        await writePages(stores, row, prepared);
        await stores.jobs.cancelOfDocument(row.ref, library.clock.now());
      });
      return view;
    },
    async close() {
      await app.close();
      await index.close();
      await drawing.close();
      await open.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function* whole(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  yield bytes;
}
