/** A judged collection in a library: through the library's own services, or straight into an index when that is all that is asked. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { actAsUser } from '../src/access/keys.ts';
import { setUpLocally } from '../src/access/setup.ts';
import { excerpts } from '../src/app/excerpts.ts';
import { openLibrary } from '../src/app/open-library.ts';
import { loadConfig } from '../src/config.ts';
import { readText } from '../src/formats/text.ts';
import { createFolder } from '../src/library/folders.ts';
import { uploadDocument } from '../src/library/uploads.ts';
import type { ProcessingDeps } from '../src/processing/deps.ts';
import { workOnce } from '../src/processing/worker.ts';
import { createSearchIndex } from '../src/search/pool.ts';
import type { RankedExcerpt, SearchRequest } from '../src/search/types.ts';
import { openSearchMaintenance } from '../src/storage/sqlite/search-merge.ts';
import type { RelevanceSet } from './relevance-set.ts';
import { createSearchLibrary } from './search-library.ts';

/** How a loaded collection is asked, and whose id each answer has. */
export interface LoadedCorpus {
  rank(request: Pick<SearchRequest, 'query' | 'depth'>): Promise<RankedExcerpt[]>;
  /** The collection's id of a document. */
  idOf(document: number): string;
  /** Documents that could not be read, with the reason: nothing finds them. */
  unread: { id: string; reason: string }[];
  close(): Promise<void>;
}

/** Documents between two looks for segments to merge. */
const BATCH = 100;

/** What the file of a document holds: where there is a title and no text, the title. */
const contentOf = ({ title, text }: RelevanceSet['documents'][number]): string => (text.trim() === '' ? title : text);

/**
 * Loads a collection as a person would: a set-up admin uploads one text file a document (its id is the file name) into a folder,
 * and the queue is worked through. Only the sandbox is left out: plain text is read in this process, and the title, which a
 * text file does not carry, comes from the collection. Names are cleaned on the way in (`AC/DC` keeps `DC`), and two may become one:
 * documents are known by the upload's answer, and read one by one.
 */
export async function loadCorpus(set: RelevanceSet): Promise<LoadedCorpus> {
  const folder = await mkdtemp(join(tmpdir(), 'sergo-relevance-'));
  const { config } = loadConfig({ SERGO_DATA: folder });
  const library = await openLibrary(config);
  const { deps, storage } = library;
  const facts = { requestId: 'bench', origin: null, ip: '127.0.0.1' } as unknown as Parameters<typeof setUpLocally>[2];
  const made = await setUpLocally(deps, { name: 'Bench', email: 'bench@example.com', password: 'a-bench-with-a-view' }, facts);
  const actor = await actAsUser(deps, 'bench@example.com', 'bench');
  const target = { folderId: (await createFolder(deps, actor, { name: 'Set', parentId: made.folderId })).id };
  let title = '';
  const processing: ProcessingDeps = {
    storage,
    blobs: deps.blobs,
    clock: deps.clock,
    reader: {
      sniff: () => Promise.resolve('txt'),
      read: async (_type, file, settings) => ({ ...readText(await readFile(file.path), settings), title }),
    },
    copies: { missing: () => 'not needed for text', toPdf: () => Promise.reject(new Error('text has no copy')) },
    ocr: { missing: async () => 'not needed for text', read: async () => new Map(), searchablePdf: () => Promise.reject(new Error('text has no pictures')) },
    placeInnerFiles: async () => 0,
    roomInside: async () => null,
    excerpts,
    audit: (stores, { documentId, ...entry }) =>
      deps.audit.append(stores, { actor: { kind: 'system', name: 'worker', requestId: 'bench' }, object: { kind: 'document', id: documentId }, ...entry }),
    limits: { pages: config.limits.pages, unpackedBytes: config.limits.unpackedBytes },
    log: { info: () => {}, warn: (data, message) => void process.stderr.write(`${message} ${JSON.stringify(data)}\n`) },
  };
  const maintenance = openSearchMaintenance(storage.databasePath);
  const never = new AbortController().signal;
  const idOf = new Map<number, string>();
  const unread: LoadedCorpus['unread'] = [];
  for (const [at, document] of set.documents.entries()) {
    title = document.title;
    const { id, ref } = await uploadDocument(deps, actor, target, { name: `${document.id}.txt`, source: bytesOf(contentOf(document)) });
    idOf.set(ref, document.id);
    let row = await storage.documents.byId(id);
    for (; row?.status === 'processing'; row = await storage.documents.byId(id)) if (!(await workOnce(processing, never))) await sleep(50);
    if (row?.status !== 'ready') unread.push({ id: document.id, reason: row?.reason ?? 'it is gone' });
    if ((at + 1) % BATCH === 0) while (maintenance.step());
  }
  while (maintenance.step());
  maintenance.close();
  const root = (await storage.folders.byId(target.folderId))!;
  const index = createSearchIndex({ databasePath: storage.databasePath, threads: 1, timeoutMs: 60_000 });
  return {
    rank: (request) => index.rank({ ...request, scope: { folders: [root.ref], documents: [] } }),
    idOf: (document) => idOf.get(document)!,
    unread,
    close: async () => {
      await index.close();
      await library.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text, 'utf8');
}

/** Loads a collection into an index and nothing else: quick, for work on the ranking. */
export async function loadIndexOnly(set: RelevanceSet): Promise<LoadedCorpus> {
  const folder = await mkdtemp(join(tmpdir(), 'sergo-relevance-'));
  const library = createSearchLibrary(join(folder, 'library.db'));
  const documents = set.documents.map((document, i) => ({ ...document, text: contentOf(document), ref: i + 1, folder: 1, name: `${document.id}.txt` }));
  for (let i = 0; i < documents.length; i += 200) library.add(documents.slice(i, i + 200));
  library.settle();
  const index = createSearchIndex({ databasePath: library.path, threads: 1, timeoutMs: 60_000 });
  return {
    rank: (request) => index.rank({ ...request, scope: { folders: [1], documents: [] } }),
    idOf: (document) => set.documents[document - 1]!.id,
    unread: [],
    close: async () => {
      await index.close();
      library.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
