import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createSearchLibrary, type SearchLibrary } from '../../../bench/search-library.ts';
import { wordVector } from '../../../test/support/fake-models.ts';
import { normalise, type EmbeddingProvider } from '../../ai/embeddings.ts';
import { ProviderError, type ProviderTrouble } from '../../ai/provider-error.ts';
import { vectorReaderOver } from '../../storage/sqlite/vector-reader.ts';
import { openVectorStore } from '../../storage/sqlite/vector-store.ts';
import { vectorTables } from '../../storage/sqlite/vector-tables.ts';
import { embedStep, runEmbedLoop, type EmbedLoopDeps } from './embed-loop.ts';
import { createMeaning } from './meaning.ts';
import { passageText } from './passage.ts';
import type { VectorStore } from './types.ts';
import { VectorTable } from './vector-table.ts';

let folder: string;
let library: SearchLibrary;
let store: VectorStore;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sergo-vectors-'));
  library = createSearchLibrary(join(folder, 'library.db'));
  for (const statement of vectorTables) library.db.exec(statement);
  store = openVectorStore(library.path);
});
afterEach(() => {
  store.close();
  library.close();
  rmSync(folder, { recursive: true, force: true });
});

const DIMENSIONS = 64;

interface FakeProvider extends EmbeddingProvider {
  calls: { texts: string[]; kind: string }[];
  fail: ProviderTrouble | ((texts: readonly string[]) => ProviderTrouble | null) | null;
}

function fakeProvider(model: string, dimensions = DIMENSIONS): FakeProvider {
  const fake: FakeProvider = {
    model,
    dimensions: null,
    calls: [],
    fail: null,
    async embed(texts, kind) {
      fake.calls.push({ texts: [...texts], kind });
      const trouble = typeof fake.fail === 'function' ? fake.fail(texts) : fake.fail;
      if (trouble !== null) throw new ProviderError(trouble, `It is ${trouble}`);
      return texts.map((text) => normalise(Float32Array.from(wordVector(text, dimensions))));
    },
    async close() {},
  };
  return fake;
}

function addDocument(ref: number, name: string, texts: string[], title = ''): void {
  const chunks = texts.map((text, position) => ({ position, page: position + 1, section: null, text }));
  library.add([{ ref, id: `d${ref}`, folder: 1, title, name, chunks }]);
}

const providers = new Map<string, FakeProvider>();
const deps = (wanted: string): EmbedLoopDeps => ({
  store,
  providerOf: (model) => providers.get(model.name) ?? null,
  wanted: { name: wanted, source: { is: wanted } },
  wait: () => new Promise((done) => setTimeout(done, 1)),
});
const never = new AbortController().signal;

async function work(wanted: string): Promise<void> {
  store.choose(wanted, { is: wanted });
  for (let i = 0; i < 200; i++) if ((await embedStep(deps(wanted), never)) !== 'worked') return;
  throw new Error('no end of work');
}
const slotsOf = (model: number): number[] => library.db.prepare('select slot from chunk_vectors where model = ? order by slot').pluck().all(model) as number[];
const expected = (): number[] =>
  (library.db.prepare('select first_slot as first, slots from search_documents order by first_slot').all() as { first: number; slots: number }[]).flatMap(
    ({ first, slots }) => Array.from({ length: slots }, (_, i) => first + i),
  );

beforeEach(() => {
  providers.clear();
  providers.set('old', fakeProvider('old'));
  providers.set('new', fakeProvider('new', 32));
});

describe('vectors made in the background', () => {
  test('every excerpt gets one, once, also of documents that come later or are replaced', async () => {
    addDocument(1, 'Solar.pdf', Array.from({ length: 40 }, (_, i) => `solar page ${i}`));
    addDocument(2, 'Wind.pdf', ['wind turbines']);
    await work('old');
    expect(slotsOf(1)).toEqual(expected());
    addDocument(3, 'Rates.pdf', ['interest rates']);
    addDocument(2, 'Wind.pdf', ['wind turbines', 'more of them']);
    await work('old');
    expect(slotsOf(1)).toEqual(expect.arrayContaining(expected()));
    const texts = providers.get('old')!.calls.flatMap((call) => call.texts);
    expect(texts).toHaveLength(40 + 1 + 1 + 2);
    expect(texts[0]).toBe('Solar\nsolar page 0');
    addDocument(4, 'scan0007.pdf', ['on a roof'], 'Solar power');
    await work('old');
    expect(providers.get('old')!.calls.at(-1)!.texts).toEqual(['Solar power\non a roof']);
    library.remove(4);
    expect(store.coverage(1)).toEqual({ done: 43, excerpts: 43, refused: 0 });
    while (store.sweep());
    expect(slotsOf(1)).toEqual(expected());
  });

  test('documents without excerpts, such as scans, do not stop the work', async () => {
    addDocument(1, 'Scan.pdf', []);
    addDocument(2, 'A.pdf', ['one']);
    for (let ref = 3; ref < 40; ref++) addDocument(ref, `Scan${ref}.pdf`, []);
    addDocument(40, 'B.pdf', ['two']);
    addDocument(41, 'Scan41.pdf', []);
    await work('old');
    expect(slotsOf(1)).toEqual(expected());
    expect(expected()).toHaveLength(2);
    await work('new');
    expect(store.models().map(({ name }) => name)).toEqual(['new']);
  });

  test('what is stopped anywhere goes on where it was', async () => {
    addDocument(1, 'Long.pdf', Array.from({ length: 100 }, (_, i) => `page ${i}`));
    store.choose('old', {});
    await embedStep(deps('old'), never);
    store.close();
    store = openVectorStore(library.path);
    await work('old');
    expect(slotsOf(1)).toEqual(expected());
    expect(providers.get('old')!.calls.flatMap((call) => call.texts)).toHaveLength(100);
  });

  test('vectors of a document that was replaced meanwhile are not kept', async () => {
    addDocument(1, 'A.pdf', ['first text']);
    const provider = providers.get('old')!;
    provider.fail = () => {
      if (provider.calls.length === 1) addDocument(1, 'A.pdf', ['second text']);
      return null;
    };
    await work('old');
    expect(slotsOf(1)).toEqual(expected());
  });

  test('the old model serves until the new one has covered everything, then it is gone', async () => {
    for (let ref = 1; ref <= 30; ref++) addDocument(ref, `D${ref}.pdf`, ['solar power', 'wind power']);
    await work('old');
    const table = new VectorTable(vectorReaderOver(library.db));
    const mask = new Uint32Array(64).fill(0xffffffff);
    const ask = (model: number, dimensions: number): number | undefined =>
      table.nearest({ model, vector: normalise(Float32Array.from(wordVector('solar', dimensions))) }, mask, 5)?.length;
    store.choose('new', {});
    await embedStep(deps('new'), never);
    table.catchUp();
    expect(store.models().map(({ name, state }) => [name, state])).toEqual([['old', 'serving'], ['new', 'building']]);
    expect(ask(1, DIMENSIONS)).toBe(5);
    expect(ask(2, 32)).toBeUndefined();
    // New documents get vectors of the model that serves as well.
    addDocument(31, 'Late.pdf', ['late solar']);
    await work('new');
    table.catchUp();
    expect(store.models().map(({ name, state }) => [name, state])).toEqual([['new', 'serving']]);
    expect(ask(2, 32)).toBe(5);
    expect(ask(1, DIMENSIONS)).toBeUndefined();
    expect(slotsOf(1)).toContain(expected().at(-1));
    while (store.sweep());
    expect(slotsOf(1)).toEqual([]);
    expect(slotsOf(2)).toEqual(expected());
    // And back again: the name is free, the work is done anew.
    await work('old');
    expect(store.models().map(({ name, state }) => [name, state])).toEqual([['old', 'serving']]);
    expect(slotsOf(3)).toEqual(expected());
  });

  test('going back to the serving model gives up the half-built one', async () => {
    for (let ref = 1; ref <= 30; ref++) addDocument(ref, `D${ref}.pdf`, ['solar power']);
    await work('old');
    store.choose('new', {});
    await embedStep(deps('new'), never);
    store.choose('old', {});
    expect(store.models().map(({ name }) => name)).toEqual(['old']);
    while (store.sweep());
    expect(slotsOf(2)).toEqual([]);
  });

  test.each(['serving', 'already being built'])('after a model that never answered the right one serves at once (%s)', async (how) => {
    addDocument(1, 'A.pdf', Array.from({ length: 40 }, (_, i) => `solar page ${i}`));
    providers.get('old')!.fail = 'refused';
    store.choose('old', {});
    expect(await embedStep(deps('old'), never)).toBe('trouble');
    // As versions left it that let the wrong one serve on.
    if (how !== 'serving') library.db.exec(`insert into vector_models (name, source, state) values ('new', '{}', 'building')`);
    store.choose('new', {});
    expect(store.models().map(({ name, state, trouble }) => [name, state, trouble])).toEqual([['new', 'serving', null]]);
    await embedStep(deps('new'), never);
    const meaning = createMeaning({ store, providerOf: (model) => providers.get(model.name) ?? null, clock: { now: () => 1 } });
    expect((await meaning.ask('solar'))?.model).toBe(2);
    expect(meaning.status()).toMatchObject({ model: 'new', trouble: null });
    while (store.sweep());
    expect(library.db.prepare('select name from vector_models').pluck().all()).toEqual(['new']);
  });

  test('one text that is refused keeps nothing else from having a vector', async () => {
    addDocument(1, 'A.pdf', ['fine', 'poison', 'fine too']);
    providers.get('old')!.fail = (texts) => (texts.some((text) => text.includes('poison')) ? 'unfit' : null);
    await work('old');
    expect(slotsOf(1)).toEqual([0, 2]);
    expect(store.coverage(1)).toEqual({ done: 3, excerpts: 3, refused: 1 });
  });

  test.each(['unfit', 'refused', 'unavailable', 'resting'] as const)('%s of everything skips nothing and says so', async (trouble) => {
    addDocument(1, 'A.pdf', ['one', 'two']);
    store.choose('old', {});
    providers.get('old')!.fail = trouble;
    expect(await embedStep(deps('old'), never)).toBe('trouble');
    expect(store.models()[0]!.trouble).toMatch(trouble === 'unfit' ? /refuses every text/ : trouble);
    expect(store.coverage(1)).toMatchObject({ done: 0, refused: 0 });
    providers.get('old')!.fail = null;
    await work('old');
    expect(store.models()[0]!.trouble).toBeNull();
    expect(slotsOf(1)).toEqual(expected());
  });

  test('an old model that is gone does not keep the new one from being built', async () => {
    addDocument(1, 'A.pdf', ['one']);
    await work('old');
    providers.get('old')!.fail = 'refused';
    addDocument(2, 'B.pdf', ['two']);
    await work('new');
    expect(store.models().map(({ name, state }) => [name, state])).toEqual([['new', 'serving']]);
  });

  test('the loop ends when told to, and pauses longer while there is trouble', async () => {
    addDocument(1, 'A.pdf', ['one']);
    providers.get('old')!.fail = 'unavailable';
    const stop = new AbortController();
    const pauses: number[] = [];
    await runEmbedLoop(
      {
        ...deps('old'),
        wait: async (ms) => {
          pauses.push(ms);
          if (pauses.length === 3) providers.get('old')!.fail = null;
          if (pauses.length === 6) stop.abort();
        },
      },
      stop.signal,
    );
    expect(pauses).toEqual([15_000, 30_000, 60_000, 0, 2_000, 2_000]);
  });
});

describe('questions', () => {
  const clock = { at: 1_000_000, now: () => clock.at };
  const meaning = (): ReturnType<typeof createMeaning> =>
    createMeaning({ store, providerOf: (model) => providers.get(model.name) ?? null, clock });

  test('are embedded once while they are asked again, and by the model that serves', async () => {
    addDocument(1, 'A.pdf', ['one']);
    await work('old');
    const asked = meaning();
    const [first, second] = await Promise.all([asked.ask('solar  power'), asked.ask('solar power ')]);
    expect(first).toEqual(second);
    expect(first!.model).toBe(1);
    expect(providers.get('old')!.calls.filter((call) => call.kind === 'query')).toHaveLength(1);
    await work('new');
    clock.at += 2_000;
    expect((await asked.ask('solar power'))!.model).toBe(2);
    clock.at += 11 * 60_000;
    await asked.ask('solar power');
    expect(providers.get('new')!.calls.filter((call) => call.kind === 'query')).toHaveLength(2);
  });

  test('an outage is no error: no vector, a notice, and vectors again when it is over', async () => {
    addDocument(1, 'A.pdf', ['one']);
    await work('old');
    const asked = meaning();
    providers.get('old')!.fail = 'timeout';
    expect(await asked.ask('solar')).toBeNull();
    expect(asked.status()).toMatchObject({ model: 'old', trouble: 'It is timeout', done: 1, excerpts: 1 });
    providers.get('old')!.fail = null;
    expect(await asked.ask('solar')).not.toBeNull();
    expect(asked.status().trouble).toBeNull();
  });

  test('without a model, or before its first vector, there is none', async () => {
    expect(await meaning().ask('solar')).toBeNull();
    store.choose('old', {});
    expect(await meaning().ask('solar')).toBeNull();
    expect(meaning().status()).toMatchObject({ model: 'old', done: 0 });
  });

  test('a model that starts slowly is asked before anybody does, also before its first vector; another one is not', async () => {
    addDocument(1, 'A.pdf', ['one']);
    store.choose('old', {});
    const provider = providers.get('old')!;
    await meaning().keepWarm();
    expect(provider.calls).toEqual([]);
    const notes: (string | null)[] = [];
    const asked = createMeaning({ store, providerOf: () => provider, clock, startsSlowly: ({ name }) => name === 'old', onTrouble: (trouble) => notes.push(trouble) });
    await asked.keepWarm();
    expect(provider.calls.map(({ kind }) => kind)).toEqual(['query']);
    // While it starts nobody waits for it, so that is no trouble; a crash is.
    provider.fail = 'timeout';
    await asked.keepWarm();
    provider.fail = 'unavailable';
    await asked.keepWarm();
    provider.fail = null;
    await asked.keepWarm();
    expect(notes).toEqual(['It is unavailable', null]);
    // Ending it is no trouble either.
    provider.fail = 'unavailable';
    const last = asked.keepWarm();
    await asked.close();
    await last;
    expect(notes).toHaveLength(2);
  });

  test('trouble keeps its cause while the model is left alone, and says nothing of a question', async () => {
    addDocument(1, 'A.pdf', ['one']);
    await work('old');
    const asked = meaning();
    const provider = providers.get('old')!;
    for (const trouble of ['refused', 'resting'] as const) {
      provider.fail = trouble;
      expect(await asked.ask(`solar ${trouble}`)).toBeNull();
      expect(asked.status().trouble).toBe('It is refused');
    }
    provider.fail = 'unfit';
    expect(await asked.ask('solar')).toBeNull();
    expect(asked.status().trouble).toBe('The embedding model refused the last question');
  });

  test('a caller that went away hears its own reason', async () => {
    await expect(meaning().ask('solar', AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone');
  });
});

test('a passage starts with what says what it is about, once', () => {
  const named = { slot: 1, name: 'AEO2023 Narrative.pdf', title: null, section: 'Solar', text: 'Capacity grows.' };
  expect(passageText(named)).toBe('AEO2023 Narrative\nSolar\nCapacity grows.');
  expect(passageText({ ...named, title: 'Annual Energy Outlook' })).toBe('Annual Energy Outlook\nSolar\nCapacity grows.');
  // A title has no ending to be cut off.
  expect(passageText({ ...named, title: 'Histone H2A.Z' })).toBe('Histone H2A.Z\nSolar\nCapacity grows.');
  expect(passageText({ ...named, name: 'Solar', section: 'Solar power', text: 'Solar power grows.' })).toBe('Solar power grows.');
});
