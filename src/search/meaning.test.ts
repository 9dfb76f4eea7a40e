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

  test('what fusion drops is counted and explained, with its ranks by words, by meaning and by both', async () => {
    const words = Array.from({ length: 30 }, (_, i): LibraryDocument => ({ ref: 100 + i, id: `word${String(i).padStart(4, '0')}`, folder: 1, title: `${i}.txt`, text: `Dykes ${'hold water back '.repeat(i + 1)}` }));
    // No word of the question is in these, and the fake's vectors still say how near they are.
    const meant = Array.from({ length: 10 }, (_, i): LibraryDocument => ({ ref: 200 + i, id: `mean${String(i).padStart(4, '0')}`, folder: 1, title: `m${i}.txt`, text: `Barriers of clay ${i}.` }));
    const { index } = await open('a.db', [...words, ...meant, ...documents]);
    const request = { query: 'dykes', scope: { folders: [1], documents: [] }, depth: 8 };
    const { ranked, beyond, explanation } = await index.explain!(request);
    expect(ranked.map(({ why: _, ...excerpt }) => excerpt)).toEqual(await index.rank(request));
    // 30 have the word; 13 more excerpts of the scope come in by meaning.
    expect(explanation).toMatchObject({ inScope: 43, matched: 30, droppedByDepth: 35 });
    expect([ranked.length, beyond.length]).toEqual([8, 35]);
    const all = [...ranked, ...beyond].map(({ documentId, why }) => ({ documentId, ...why! }));
    expect(all.map(({ fusedRank }) => fusedRank)).toEqual(Array.from({ length: 43 }, (_, i) => i + 1));
    expect(all.filter(({ documentId }) => documentId.startsWith('word')).map(({ lexicalRank }) => lexicalRank!).toSorted((a, b) => a - b)).toEqual(Array.from({ length: 30 }, (_, i) => i + 1));
    for (const { documentId, words: added, lexicalRank, vectorRank } of all) {
      expect(added.map(({ word }) => word), documentId).toEqual(documentId.startsWith('word') ? ['dykes'] : []);
      if (!documentId.startsWith('word')) expect(lexicalRank, documentId).toBeNull();
      expect(vectorRank, documentId).not.toBeNull();
    }
    expect(new Set(all.map(({ documentId }) => documentId)).size).toBe(43);
  });
});
