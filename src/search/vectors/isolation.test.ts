/** P10 with vectors: what a key finds by words and meaning does not depend on documents that it may not see. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createSearchLibrary, type LibraryDocument, type SearchLibrary } from '../../../bench/search-library.ts';
import { textMaker } from '../../../bench/search-text.ts';
import { wordVector } from '../../../test/support/fake-models.ts';
import { normalise, type EmbeddingProvider } from '../../ai/embeddings.ts';
import { openSearchReader, type SearchReader } from '../../storage/sqlite/search-reader.ts';
import { openVectorStore } from '../../storage/sqlite/vector-store.ts';
import { vectorTables } from '../../storage/sqlite/vector-tables.ts';
import { dealExcerpts } from '../deal.ts';
import { createEngine, rank, type RankAnswer } from '../ranking.ts';
import { embedStep } from './embed-loop.ts';
import { createVectorLegs } from './vector-leg.ts';

const [OWN, FOREIGN, DIMENSIONS] = [150, 5_000, 64];
const vectorOf = (text: string): Float32Array => normalise(Float32Array.from(wordVector(text, DIMENSIONS)));
const provider: EmbeddingProvider = {
  model: 'fake',
  dimensions: DIMENSIONS,
  embed: async (texts) => texts.map(vectorOf),
  close: async () => {},
};

interface Opened {
  library: SearchLibrary;
  reader: SearchReader;
  ask(query: string): RankAnswer;
}

let folder: string;
let alone: Opened;
let among: Opened;
let queries: string[];

async function open(name: string, parts: LibraryDocument[][]): Promise<Opened> {
  const library = createSearchLibrary(join(folder, name));
  library.db.pragma('synchronous = OFF');
  for (const statement of vectorTables) library.db.exec(statement);
  for (const part of parts) library.add(part);
  library.settle();
  const store = openVectorStore(library.path);
  store.choose('fake', {});
  const deps = { store, providerOf: () => provider, wanted: { name: 'fake', source: {} }, wait: async () => {} };
  while ((await embedStep(deps, new AbortController().signal)) === 'worked');
  store.close();
  const reader = openSearchReader(library.path);
  const engine = createEngine(reader);
  const { legFor } = createVectorLegs(library.path);
  return {
    library,
    reader,
    ask: (query) =>
      rank(engine, { query, scope: { folders: [1, 2, 3], documents: [] }, depth: 60, explain: true, check: () => {} }, legFor({ model: 1, vector: vectorOf(query) })),
  };
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sergo-isolation-'));
  const maker = textMaker(23);
  const own = Array.from({ length: OWN }, (_, i): LibraryDocument => ({
    ref: i + 1, id: `own${String(i * 7919).padStart(6, '0')}`, folder: 1 + (i % 3), title: maker.words(4), text: maker.text(i % 10 === 0 ? 900 : 60),
  }));
  const foreign = Array.from({ length: FOREIGN }, (_, i): LibraryDocument => ({
    ref: 10_000 + i, id: `for${i}`, folder: 50 + (i % 40), title: maker.words(4), text: maker.text(25),
  }));
  queries = Array.from({ length: 200 }, (_, i) => {
    const words = maker.rareWords(1 + (i % 5));
    // Every twentieth is, word for word, a foreign document: the nearest of all, and not to be noticed.
    if (i % 20 === 7) return foreign[i]!.text!.slice(0, 150);
    if (i % 10 === 1) return `"${words.slice(0, 2).join(' ')}"`;
    return words.join(' ');
  });
  alone = await open('alone.db', [own]);
  // Foreign documents before, between and after the key's own.
  among = await open('among.db', [0, 1, 2, 3, 4].flatMap((i) => [foreign.slice(i * 1_000, (i + 1) * 1_000), own.slice(i * 30, (i + 1) * 30)]));
}, 240_000);

afterAll(() => {
  for (const { library, reader } of [alone, among]) {
    reader.close();
    library.close();
  }
  rmSync(folder, { recursive: true, force: true });
});

/** What a key can see of an answer; refs of excerpts differ between libraries as row numbers do. */
const seen = ({ ranked, beyond, explanation }: RankAnswer): unknown => ({
  ranked: [...ranked, ...beyond].map(({ chunk: _, ...excerpt }) => excerpt),
  explanation,
  answers: [0, 10, 20].map((offset) => {
    const { excerpts, nextOffset } = dealExcerpts(ranked, { limit: 10, offset });
    return { ids: excerpts.map((one) => `${one.documentId} ${one.position}`), nextOffset };
  }),
});

describe('a key alone in the library and among 5,000 foreign documents', () => {
  test('gets the same excerpts, order, scores, ranks and offsets for 200 queries by words and meaning', { timeout: 120_000 }, () => {
    let byMeaning = 0;
    for (const query of queries) {
      const answer = alone.ask(query);
      expect(seen(among.ask(query)), query).toEqual(seen(answer));
      byMeaning += answer.ranked.filter(({ why }) => why!.lexicalRank === null).length;
    }
    // Otherwise this would say nothing of vectors.
    expect(byMeaning).toBeGreaterThan(2_000);
  });
});
