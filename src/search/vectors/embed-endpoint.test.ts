/** The background work against an endpoint over HTTP, with its attempts, pauses and rests (which take no time here). */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createSearchLibrary, type SearchLibrary } from '../../../bench/search-library.ts';
import { startFakeModels, type FakeModels, type SeenCall, type Trouble } from '../../../test/support/fake-models.ts';
import type { EmbeddingProvider } from '../../ai/embeddings.ts';
import { openEndpoint } from '../../ai/endpoint-embeddings.ts';
import { openVectorStore } from '../../storage/sqlite/vector-store.ts';
import { vectorTables } from '../../storage/sqlite/vector-tables.ts';
import { runEmbedLoop } from './embed-loop.ts';
import type { VectorStore } from './types.ts';

let folder: string;
let library: SearchLibrary;
let store: VectorStore;
let fake: FakeModels;
let nowMs: number;
/** As told while it runs. */
let refused: number;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sergo-vectors-'));
  library = createSearchLibrary(join(folder, 'library.db'));
  for (const statement of vectorTables) library.db.exec(statement);
  store = openVectorStore(library.path);
  fake = await startFakeModels();
  nowMs = 0;
  refused = 0;
});
afterEach(async () => {
  await fake.close();
  store.close();
  library.close();
  rmSync(folder, { recursive: true, force: true });
});

function addDocument(ref: number, texts: string[]): void {
  library.db.prepare('insert into documents (ref, name) values (?, ?)').run(ref, `D${ref}.txt`);
  const chunks = texts.map((text, position) => ({ position, page: position + 1, section: null, text }));
  library.add([{ ref, id: `d${ref}`, folder: 1, title: `D${ref}.txt`, chunks }]);
}

const endpoint = (): EmbeddingProvider =>
  openEndpoint({
    source: { kind: 'endpoint', url: fake.url, model: 'fake', queryModel: null, queryPrefix: null, passagePrefix: null },
    model: 'fake',
    prefixes: { query: '', passage: '' },
    budgets: { query: 2_000, passage: 120_000 },
    key: null,
    dimensions: null,
    attempts: { random: () => 0.5, now: () => nowMs, wait: async (ms) => void (nowMs += ms) },
  });

/** Runs the loop until it has nothing to do, or for so many pauses. */
async function run(mostPauses = 30, onPause: (count: number) => void = () => {}): Promise<void> {
  const stop = new AbortController();
  const provider = endpoint();
  let pauses = 0;
  await runEmbedLoop(
    {
      store,
      providerOf: () => provider,
      wanted: { name: 'fake', source: {} },
      onRefused: (count) => (refused += count),
      wait: async (ms) => {
        nowMs += ms;
        if (ms === 0) return;
        onPause(++pauses);
        if (pauses === mostPauses || store.coverage(1).done === store.coverage(1).excerpts) stop.abort();
      },
    },
    stop.signal,
  );
}
const slots = (): number[] => library.db.prepare('select slot from chunk_vectors where model = 1 order by slot').pluck().all() as number[];
const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => from + i);
const page = (i: number): string => `page ${'abcdefgh'[i % 8]}${'ijklmnop'[Math.floor(i / 8) % 8]} of a report`;
/** Pages of a report, of which `from` to `to` are poison. */
const withPoison = (count: number, from: number, to: number): string[] => range(0, count).map((i) => (i >= from && i < to ? `poison ${page(i)}` : page(i)));
const poisonIs =
  (trouble: Trouble) =>
  ({ input }: SeenCall['body']): Trouble | null =>
    input!.some((text) => text.includes('poison')) ? trouble : null;

describe('a text that the endpoint cannot take', () => {
  test('keeps nothing else from having a vector, also when there are many in a row', async () => {
    addDocument(1, withPoison(40, 3, 9));
    fake.troubleOf = poisonIs('unfit');
    await run();
    expect(store.coverage(1)).toEqual({ done: 40, excerpts: 40, refused: 6 });
    expect(slots()).toEqual([...range(0, 3), ...range(9, 40)]);
    expect(store.models()[0]!.trouble).toBeNull();
    // Nothing had to wait for a rest.
    expect(nowMs).toBeLessThan(5_000);
  });

  test.each(['error-500', 'reset', 'zero', 'not-json', 'fewer', 'unauthorised'] as const)('does so too when it is answered with %s', async (trouble) => {
    addDocument(1, withPoison(40, 3, 6));
    fake.troubleOf = poisonIs(trouble);
    await run();
    expect(store.coverage(1)).toEqual({ done: 40, excerpts: 40, refused: 3 });
    expect(slots()).toEqual([...range(0, 3), ...range(6, 40)]);
    expect(store.models()[0]!.trouble).toBeNull();
  });

  test('many of them cost one wait, not one a batch', async () => {
    addDocument(1, withPoison(64, 0, 64));
    addDocument(2, range(0, 20).map(page));
    fake.troubleOf = poisonIs('error-500');
    let pauses = 0;
    await run(30, (count) => (pauses = count));
    expect(store.coverage(1)).toEqual({ done: 84, excerpts: 84, refused: 64 });
    expect(refused).toBe(64);
    expect(slots()).toHaveLength(20);
    // Three times trouble, and the one that ends this test.
    expect(pauses).toBe(4);
    // Then the rest is made together again.
    expect(fake.calls.at(-1)!.body.input).toHaveLength(4);
  });
});

describe('an outage', () => {
  test.each(['error-500', 'reset', 'zero', 'unauthorised', 'limited', 'unfit'] as const)('of %s, however long, marks nothing as refused', async (trouble) => {
    addDocument(1, range(0, 40).map(page));
    fake.always = trouble;
    await run(12);
    expect(store.coverage(1)).toEqual({ done: 0, excerpts: 40, refused: 0 });
    expect(store.models()[0]!.trouble).not.toBeNull();
    fake.always = null;
    await run();
    expect(store.coverage(1)).toEqual({ done: 40, excerpts: 40, refused: 0 });
  });

  test.each(['error-500', 'unfit'] as const)('of %s that begins between single texts marks none of them, and keeps what was made', async (trouble) => {
    addDocument(1, withPoison(16, 2, 3));
    // The batch, the plain text, two pages, the poison, the plain text again, a page: then nothing more.
    let calls = 0;
    fake.troubleOf = (body) => (calls++ < 7 ? poisonIs('unfit')(body) : trouble);
    await run(10);
    expect(store.coverage(1)).toEqual({ done: 4, excerpts: 16, refused: 1 });
    expect(slots()).toEqual([0, 1, 3]);
    fake.troubleOf = poisonIs('unfit');
    await run();
    expect(store.coverage(1)).toEqual({ done: 16, excerpts: 16, refused: 1 });
  });

  test('that ends after the passages were suspected marks none of them', async () => {
    addDocument(1, range(0, 20).map(page));
    fake.always = 'error-500';
    await run(30, (count) => {
      if (count === 6) fake.always = null;
    });
    expect(store.coverage(1)).toEqual({ done: 20, excerpts: 20, refused: 0 });
  });
});
