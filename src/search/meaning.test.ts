/** Search by words and meaning together, through the pool and its threads, with vectors from a fake endpoint over HTTP. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createSearchLibrary, type LibraryDocument, type SearchLibrary } from '../../bench/search-library.ts';
import { startFakeModels, type FakeModels } from '../../test/support/fake-models.ts';
import { createEmbeddingProvider, type EmbeddingProvider } from '../ai/embeddings.ts';
import { systemClock } from '../clock.ts';
import { openVectorStore } from '../storage/sqlite/vector-store.ts';
import { vectorTables } from '../storage/sqlite/vector-tables.ts';
import { createSearchIndex } from './pool.ts';
import type { RankedExcerpt, SearchIndex } from './types.ts';
import { embedStep } from './vectors/embed-loop.ts';
import { createMeaning, type Meaning } from './vectors/meaning.ts';
import type { VectorStore } from './vectors/types.ts';

interface Opened {
  library: SearchLibrary;
  store: VectorStore;
  meaning: Meaning;
  index: SearchIndex;
}

let folder: string;
let models: FakeModels;
const opened: Opened[] = [];
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sergo-meaning-'));
  models = await startFakeModels(64);
});
afterEach(async () => {
  for (const { library, store, meaning, index } of opened.splice(0)) {
    await index.close();
    await meaning.close();
    store.close();
    library.close();
  }
  await models.close();
  rmSync(folder, { recursive: true, force: true });
});

const provider = (): EmbeddingProvider =>
  createEmbeddingProvider({
    source: { kind: 'endpoint', url: models.url, model: 'fake', queryModel: null, queryPrefix: null, passagePrefix: null },
    key: null,
    dimensions: null,
    queryBudgetMs: 1_000,
  });

async function open(name: string, documents: readonly LibraryDocument[]): Promise<Opened> {
  const library = createSearchLibrary(join(folder, name));
  for (const statement of vectorTables) library.db.exec(statement);
  for (let at = 0; at < documents.length; at += 500) library.add(documents.slice(at, at + 500));
  const store = openVectorStore(library.path);
  store.choose('fake', {});
  const meaning = createMeaning({ store, providerOf: () => provider(), clock: systemClock });
  const index = createSearchIndex({ databasePath: library.path, threads: 1, timeoutMs: 60_000, meaning });
  const all = { library, store, meaning, index };
  opened.push(all);
  await embedAll(all);
  return all;
}

async function embedAll({ store }: Opened): Promise<void> {
  const passages = provider();
  const deps = { store, providerOf: () => passages, wanted: { name: 'fake', source: {} }, wait: async () => {} };
  while ((await embedStep(deps, new AbortController().signal)) === 'worked');
}

const documents: LibraryDocument[] = [
  { ref: 1, id: 'aaaaaaa1', folder: 1, title: 'a.txt', text: 'Photovoltaic modules on roofs deliver electricity at noon.' },
  { ref: 2, id: 'aaaaaaa2', folder: 1, title: 'b.txt', text: 'Turbines at sea need cables.' },
  { ref: 3, id: 'aaaaaaa3', folder: 1, title: 'c.txt', text: 'Part TPS71725QDRV is a regulator for cables at sea.' },
  { ref: 4, id: 'bbbbbbb4', folder: 2, title: 'd.txt', text: 'Photovoltaic secrets of somebody else.' },
];
const ids = (ranked: readonly RankedExcerpt[]): string[] => ranked.map(({ documentId }) => documentId);
const ask = (index: SearchIndex, query: string, folders = [1]): Promise<RankedExcerpt[]> =>
  index.rank({ query, scope: { folders, documents: [] }, depth: 20 });

describe('words and meaning together', () => {
  test('meaning adds what words do not find, only inside the scope', async () => {
    const { index } = await open('a.db', documents);
    // The fake's vectors are sums over words, so that a shared word is shared meaning; "cablez" is nobody's word.
    const found = ids(await ask(index, 'photovoltaic electricity'));
    expect(found[0]).toBe('aaaaaaa1');
    expect(found).toContain('aaaaaaa2');
    expect(found).not.toContain('bbbbbbb4');
    expect(ids(await ask(index, 'photovoltaic', [2]))).toEqual(['bbbbbbb4']);
    expect(await ask(index, 'photovoltaic', [7])).toEqual([]);
  });

  test('a part number or a phrase in quotes finds what has it and nothing that is like it', async () => {
    const { index } = await open('a.db', documents);
    expect(ids(await ask(index, 'TPS71725QDRV'))).toEqual(['aaaaaaa3']);
    expect(ids(await ask(index, '"cables at sea"'))).toEqual(['aaaaaaa3']);
    expect(ids(await ask(index, 'the TPS71725QDRV regulator'))[0]).toBe('aaaaaaa3');
  });

  test('an outage of the endpoint is an answer by words and a notice, never an error', async () => {
    const { index, meaning } = await open('a.db', documents);
    for (const trouble of ['error-500', 'hang', 'not-json', 'unauthorised', 'cut', 'wrong-dimension'] as const) {
      models.always = trouble;
      expect(ids(await ask(index, `cables ${trouble}`)), trouble).toEqual(expect.arrayContaining(['aaaaaaa2', 'aaaaaaa3']));
      expect(meaning.status().trouble, trouble).toMatch(/^The embedding/);
    }
    models.always = null;
  });

  test('a new document is found by words at once and by meaning after its vector was made; a removed one by neither', async () => {
    const all = await open('a.db', documents);
    all.library.add([{ ref: 9, id: 'ccccccc9', folder: 1, title: 'n.txt', text: 'Geothermal wells and electricity.' }]);
    expect(ids(await ask(all.index, 'geothermal'))[0]).toBe('ccccccc9');
    await embedAll(all);
    const explained = await all.index.explain!({ query: 'wells electricity', scope: { folders: [1], documents: [] }, depth: 20 });
    const why = explained.ranked.find(({ documentId }) => documentId === 'ccccccc9')!.why!;
    expect(why.vectorRank).toBe(1);
    expect(why.lexicalRank).not.toBeNull();
    all.library.remove(9);
    expect(ids(await ask(all.index, 'geothermal wells'))).not.toContain('ccccccc9');
  });
});
