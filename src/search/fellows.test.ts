/** Searches that wait are looked for by those that run: each is answered, given up and lost as if it were alone. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import Sqlite from 'better-sqlite3';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { createSearchLibrary } from '../../bench/search-library.ts';
import { clusteredVectors } from '../../bench/vectors.ts';
import { vectorTables } from '../storage/sqlite/vector-tables.ts';
import { chooseFellows } from './fellows.ts';
import type { RankMessage } from './messages.ts';
import { createSearchIndex } from './pool.ts';
import type { RankedExcerpt, SearchIndex, SearchRequest } from './types.ts';
import { quantise } from './vectors/quantise.ts';
import { isOpen, takeLook } from './vectors/shared-look.ts';

type Seeker = Parameters<typeof chooseFellows>[0];
const scope = { folders: [1, 2], documents: [] };

describe('who is looked for on the way', () => {
  const seeker = (over: Partial<Seeker> = {}, folders: readonly number[] = scope.folders, documents: readonly number[] = []): Seeker => ({
    request: { query: 'x', scope: { folders, documents }, depth: 60 }, question: { model: 1, vector: Float32Array.of(1) }, look: null, ...over,
  });

  test('of the next six those of the same scope and model that nobody looks for yet', () => {
    const looked = seeker({ look: new SharedArrayBuffer(100) });
    takeLook(looked.look!);
    const [open, second, third] = [seeker({ look: new SharedArrayBuffer(100) }), seeker(), seeker()];
    const others = [seeker({ question: null }), seeker({ question: { model: 2, vector: Float32Array.of(1) } }), looked, seeker({}, [1]), seeker({}, [1, 3]), seeker({}, [1, 2], [7])];
    const chosen = chooseFellows(seeker(), [others[1]!, open, others[2]!, second, others[3]!, third, seeker()]);
    expect(chosen.map(({ look }) => look)).toEqual([open.look, second.look, third.look]);
    expect(new Set(chosen.map(({ look }) => look)).size).toBe(3);
    expect(chooseFellows(seeker(), others)).toEqual([]);
    expect(others.filter((one) => one !== looked).map(({ look }) => look)).toEqual(others.slice(1).map(() => null));
  });

  test('nobody far back, and nobody where nothing is looked for', () => {
    const far = [...Array.from({ length: 6 }, () => seeker({ question: null })), seeker()];
    expect(chooseFellows(seeker(), far)).toEqual([]);
    expect(chooseFellows(seeker({ question: null }), [seeker()])).toEqual([]);
    const done = seeker({ look: new SharedArrayBuffer(100) });
    takeLook(done.look!);
    expect(chooseFellows(done, [seeker()])).toEqual([]);
  });
});

describe('eight searches at once', () => {
  // More excerpts than stay near the processor: in smaller scopes nobody looks for others.
  const [DOCUMENTS, CHUNKS, DIMENSIONS] = [204, 1_000, 64];
  const words = ['turbine', 'cable', 'solar', 'grid', 'reactor', 'valve', 'pump', 'sensor'];
  let folder: string;
  let path: string;
  let index: SearchIndex;
  const questions = new Map<string, Float32Array>();
  const requests = words.map((word): SearchRequest => ({ query: `${word} text`, scope, depth: 30 }));
  const sent: RankMessage[] = [];
  const failures: string[] = [];

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'sergo-fellows-'));
    path = join(folder, 'library.db');
    const library = createSearchLibrary(path);
    library.db.pragma('synchronous = OFF');
    for (let ref = 1; ref <= DOCUMENTS; ref++) {
      const chunks = Array.from({ length: CHUNKS }, (_, position) => ({ position, page: 1, section: null, text: `${words[(ref * 31 + position * 7) % 8]} text ${(ref * position) % 97}` }));
      library.add([{ ref, id: `d${String(ref).padStart(7, '0')}`, folder: 1 + (ref % 2), title: `Note ${ref}`, chunks }]);
    }
    library.close();
    const db = new Sqlite(path);
    const next = db.prepare(`select value from search_state where name = 'next_slot'`).pluck().get() as number;
    for (const statement of vectorTables) db.exec(statement);
    db.exec(`insert into vector_models (model, name, source, dimensions, state) values (1, 'm', '{}', ${DIMENSIONS}, 'serving')`);
    const make = clusteredVectors(DIMENSIONS, DOCUMENTS * CHUNKS);
    const insert = db.prepare('insert into chunk_vectors (model, slot, bits, int8, scale) values (1, ?, ?, ?, ?)');
    db.transaction(() => {
      for (let slot = 0; slot < next; slot++) {
        const { bits, int8, scale } = quantise(make.next());
        insert.run(slot, Buffer.from(bits.buffer), Buffer.from(int8.buffer), scale);
      }
    })();
    db.close();
    for (const { query } of requests) questions.set(query, make.question());
  }, 120_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  beforeEach(() => {
    sent.length = 0;
    failures.length = 0;
    const post = Worker.prototype.postMessage;
    vi.spyOn(Worker.prototype, 'postMessage').mockImplementation(function (this: Worker, message: RankMessage, transfer) {
      sent.push(message);
      post.call(this, message, transfer);
    });
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    await index.close();
  });

  const open = async (): Promise<RankedExcerpt[][]> => {
    index = createSearchIndex({
      databasePath: path, threads: 1, timeoutMs: 30_000, onError: (error) => failures.push(error.message),
      meaning: { ask: async (query) => ({ model: 1, vector: questions.get(query)! }) },
    });
    // One after the other, each alone, once the vectors are read.
    while ((await index.explain!(requests[0]!)).ranked.every(({ why }) => why?.vectorRank == null));
    const alone: RankedExcerpt[][] = [];
    for (const request of requests) alone.push(await index.rank(request));
    expect(sent.every(({ company }) => company.look === null && company.fellows.length === 0)).toBe(true);
    sent.length = 0;
    return alone;
  };
  const fellows = (): SharedArrayBuffer[] => sent.flatMap(({ company }) => company.fellows.map(({ look }) => look));

  test('have the answers they have alone, and most are looked for by others', { timeout: 120_000 }, async () => {
    const alone = await open();
    expect(await Promise.all(requests.map((request) => index.rank(request)))).toEqual(alone);
    expect(sent.map(({ company }) => company.fellows.length)).toEqual([0, 6, 0, 0, 0, 2, 0, 0]);
    // The second looks for three others, the sixth for what is left.
    expect(new Set(fellows()).size).toBe(6);
    expect(fellows().filter(isOpen)).toEqual([]);
    expect(new Set(alone.map((ranked) => JSON.stringify(ranked))).size).toBe(requests.length);
  });

  test('one that is given up while another looks for it is given up at once, and the others are answered', { timeout: 120_000 }, async () => {
    const alone = await open();
    const controllers = requests.map(() => new AbortController());
    const asked = requests.map((request, i) => index.rank(request, controllers[i]!.signal));
    const first = await asked[0];
    // The second runs and looks for others, the third first.
    controllers[2]!.abort();
    controllers[1]!.abort();
    await expect(asked[2]).rejects.toThrow('given up');
    await expect(asked[1]).rejects.toThrow('given up');
    const rest = await Promise.all(asked.slice(3));
    expect([first, ...rest]).toEqual([alone[0], ...alone.slice(3)]);
    expect(failures).toEqual([]);
  });

  test('whose time is over while another looks for them are busy', { timeout: 120_000 }, async () => {
    const alone = await open();
    const asked = requests.map((request) => index.rank(request));
    const outcomes = Promise.allSettled(asked);
    await asked[0];
    // The second runs: the clock of those that wait goes on meanwhile.
    const now = Date.now();
    vi.spyOn(Date, 'now').mockImplementation(() => now + 60_000);
    const [, second, ...waiting] = await outcomes;
    expect(second).toEqual({ status: 'fulfilled', value: alone[1] });
    for (const one of waiting) expect(one).toMatchObject({ status: 'rejected', reason: { code: 'busy', message: expect.stringContaining('Too many searches') } });
    expect(sent).toHaveLength(2);
  });

  test('only the one whose thread dies is interrupted', { timeout: 120_000 }, async () => {
    let worker: Worker | null = null;
    process.once('worker', (started) => (worker = started));
    const alone = await open();
    const asked = requests.map((request) => index.rank(request));
    const outcomes = Promise.allSettled(asked);
    await asked[0];
    void worker!.terminate();
    const [first, second, ...others] = await outcomes;
    expect(first).toEqual({ status: 'fulfilled', value: alone[0] });
    expect(second).toMatchObject({ status: 'rejected', reason: { code: 'busy', message: expect.stringContaining('interrupted') } });
    expect(failures).toEqual(['a search thread ended']);
    // A new thread has to read the vectors first and goes by words until then, or has the same answers.
    expect(others.map(({ status }) => status)).toEqual(others.map(() => 'fulfilled'));
    while ((await index.explain!(requests[0]!)).ranked.every(({ why }) => why?.vectorRank == null));
    expect(await Promise.all(requests.map((request) => index.rank(request)))).toEqual(alone);
  });
});
