/**
 * `npm run bench:search -- --chunks N [--queries N] [--fts-queries N] [--vectors] [--keep DIR] [--json]`: searching N excerpts of
 * varied text, one and eight clients, scopes of 1, 10 and 100 % of the library (or those of `--clients` and `--shares`, with commas), beside a bare FTS5 query with the same words and scope
 * in the same run (porter, bm25 over the whole library, scope by a temporary table of folders; of the same queries as many as
 * `--fts-queries` says). With `--vectors` each excerpt has one of 384 dimensions, and the same queries are asked by words and by words
 * and meaning: all of them four times each way, a few by words and the same few by both in turns, so that what else the machine does
 * falls on both. What meaning adds is given as the difference of both p50 and of both p95, and as the p50 and p95 over the queries of
 * what it adds to each (the median of its four times with less that without). Also ingest, disk, memory, a new document's time to be found and the event loop's delay. Databases
 * are made in the system's temporary folder and removed, or kept in DIR and asked again.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { createSearchIndex } from '../src/search/pool.ts';
import type { SearchIndex } from '../src/search/types.ts';
import { ftsThreadUrl } from './search-fts.ts';
import { hostileQueries } from './search-hostile.ts';
import { openSearchLibrary } from './search-library.ts';
import { CHUNKS_A_DOCUMENT, FOLDERS, loadDatabases, WORDS_A_CHUNK } from './search-load.ts';
import { textMaker } from './search-text.ts';
import { addVectors, questionsOf } from './search-vectors.ts';

const { values } = parseArgs({
  options: {
    chunks: { type: 'string', default: '100000' },
    queries: { type: 'string', default: '200' },
    'fts-queries': { type: 'string' },
    vectors: { type: 'boolean', default: false },
    depth: { type: 'string', default: '60' },
    shares: { type: 'string', default: '1,10,100' },
    clients: { type: 'string', default: '1,8' },
    json: { type: 'boolean', default: false },
    keep: { type: 'string' },
    'load-only': { type: 'boolean', default: false },
  },
});
const total = Number(values.chunks);
const queryCount = Number(values.queries);
const ftsCount = Math.min(queryCount, Number(values['fts-queries'] ?? queryCount));
const depth = Number(values.depth);

const folder = values.keep ?? mkdtempSync(join(tmpdir(), 'sergo-bench-search-'));
const say = (line: string): void => void (values.json || process.stdout.write(`${line}\n`));
const ms = (value: number): string => value.toFixed(1).padStart(8);

interface Spread {
  p50: number;
  p95: number;
  perSecond: number;
  /** Processor time of this process for each, all threads. */
  cpuMs?: number;
}

const spreadOf = (times: number[], wallMs: number): Spread => {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!;
  return { p50: at(0.5), p95: at(0.95), perSecond: (times.length / wallMs) * 1_000 };
};

interface Run {
  /** Of each query, in their order. */
  times: number[];
  wallMs: number;
  /** Of all threads of this process. */
  cpuMs: number;
}

/** Runs all queries with some clients at once, each asking the next when it has its answer. */
async function run(queries: readonly string[], clients: number, ask: (query: string) => Promise<unknown>): Promise<Run> {
  const times: number[] = [];
  let next = 0;
  const before = process.cpuUsage();
  const began = performance.now();
  await Promise.all(
    Array.from({ length: clients }, async () => {
      while (next < queries.length) {
        const i = next++;
        const start = performance.now();
        await ask(queries[i]!);
        times[i] = performance.now() - start;
      }
    }),
  );
  const wallMs = performance.now() - began;
  const { user, system } = process.cpuUsage(before);
  return { times, wallMs, cpuMs: (user + system) / 1_000 };
}

const together = (runs: readonly Run[]): Spread => {
  const times = runs.flatMap((one) => one.times);
  const cpuMs = runs.reduce((sum, one) => sum + one.cpuMs, 0) / times.length;
  return { ...spreadOf(times, runs.reduce((sum, { wallMs }) => sum + wallMs, 0)), cpuMs };
};

const ROUNDS = 4;

/** All queries several times in each of two ways, some queries one way and the same ones the other. */
async function inTurns(queries: readonly string[], clients: number, ways: readonly ((query: string) => Promise<unknown>)[]): Promise<Run[][]> {
  const runs: Run[][] = ways.map(() => []);
  const size = Math.max(10, clients * 3);
  for (let round = 0; round < ROUNDS; round++) {
    for (let from = 0; from < queries.length; from += size) {
      const some = queries.slice(from, from + size);
      const order = ways.map((_, way) => way);
      if ((round + from / size) % 2 === 1) order.reverse();
      for (const way of order) runs[way]!.push(await run(some, clients, ways[way]!));
    }
  }
  return runs;
}

/** Over the queries: the median of each one's times in the second way less that in the first. */
function addedTo(queryCount: number, [first, second]: readonly Run[][]): { p50: number; p95: number } {
  const medians = (runs: readonly Run[]): number[] => {
    const all = runs.flatMap((one) => one.times);
    return Array.from({ length: queryCount }, (_, i) => {
      const own = Array.from({ length: ROUNDS }, (__, round) => all[round * queryCount + i]!).toSorted((a, b) => a - b);
      return (own[ROUNDS / 2 - 1]! + own[ROUNDS / 2]!) / 2;
    });
  };
  const [without, having] = [medians(first!), medians(second!)];
  return spreadOf(having.map((ms, i) => ms - without[i]!), 1);
}

/** A thread that answers FTS5 queries: the yardstick has the same way to go as Sergo's searches. */
function startFts(path: string): { ask(query: string, folders: number[]): Promise<number>; close(): Promise<unknown> } {
  const worker = new Worker(ftsThreadUrl, { workerData: { path, depth } });
  const waiting: ((found: number) => void)[] = [];
  worker.on('message', (found: number) => waiting.shift()!(found));
  return {
    ask: (query, folders) =>
      new Promise((resolve) => {
        waiting.push(resolve);
        worker.postMessage({ query, folders });
      }),
    close: () => worker.terminate(),
  };
}

const load = loadDatabases(folder, total);
say(`${total} excerpts of about ${WORDS_A_CHUNK} words in ${Math.ceil(total / CHUNKS_A_DOCUMENT)} documents and ${FOLDERS} folders`);
say(`Sergo  ingest ${load.ingestPerSecond} excerpts/s (analysis, commit, merging; ${load.ingestMiB} MiB resident)   index ${Math.round(load.indexBytes / 2 ** 20)} MiB`);
say(`FTS5   ingest ${load.ftsIngestPerSecond} excerpts/s   database with text ${Math.round(load.ftsBytes / 2 ** 20)} MiB`);
if (values['load-only']) process.exit(0);
if (values.vectors) addVectors(load.sergoPath, total);
const library = openSearchLibrary(load.sergoPath);

const maker = textMaker(21);
const queries = Array.from({ length: queryCount }, () => maker.query());
const questionOf = questionsOf(total);
let withMeaning = false;
const rssMiB = (): number => Math.round(process.memoryUsage().rss / 2 ** 20);
const memoryBefore = rssMiB();
const index: SearchIndex = createSearchIndex({
  databasePath: library.path,
  threads: 2,
  timeoutMs: 60_000,
  meaning: { ask: async (query) => (withMeaning ? questionOf(query) : null) },
});
const numbers = (list: string): number[] => list.split(',').map(Number);
const foldersOf = (share: number): number[] => Array.from({ length: FOLDERS * share }, (_, i) => 1 + Math.floor(i / share));
const shares = numbers(values.shares).map((percent) => ({ share: percent / 100, folders: foldersOf(percent / 100) }));
const askIndex = (folders: number[]) => (query: string) => index.rank({ query, scope: { folders, documents: [] }, depth });
withMeaning = values.vectors;
for (const { folders } of shares) await run(queries.slice(0, 20), 2, askIndex(folders));
// After a start, searches go by words until the vectors are read.
const isMeant = async (query: string): Promise<boolean> => {
  const { ranked } = await index.explain!({ query, scope: { folders: foldersOf(1), documents: [] }, depth });
  return ranked.some(({ why }) => why?.vectorRank != null);
};
while (values.vectors && (await Promise.all(queries.slice(0, 8).map(isMeant))).some((meant) => !meant));
withMeaning = false;
const threadsMiB = rssMiB() - memoryBefore;
say(`resident memory ${rssMiB()} MiB, of it ${threadsMiB} for two search threads${values.vectors ? ' with all vectors' : ''}`);

const fts = startFts(load.ftsPath);
const fts2 = startFts(load.ftsPath);
interface Row {
  sergo: Spread;
  /** Words and meaning. */
  both: Spread | null;
  /** What meaning adds to each query. */
  added: { p50: number; p95: number } | null;
  fts5: Spread;
  loopP99Ms: number;
}
const results: Record<string, Row> = {};
say(`\np50 / p95 ms (queries a second)${' '.repeat(12)}Sergo${' '.repeat(24)}FTS5${' '.repeat(16)}p95 Sergo : FTS5${values.vectors ? '   words and meaning; added: p50, p95; to each query p50 / p95; processor ms a search' : ''}`);
for (const { share, folders } of shares) {
  for (const clients of numbers(values.clients)) {
    const ask = askIndex(folders);
    const ways = (values.vectors ? [false, true] : [false]).map((meaning) => (query: string) => {
      withMeaning = meaning;
      return ask(query);
    });
    for (const way of ways) await run(queries.slice(0, 20), clients, way);
    const loop = monitorEventLoopDelay({ resolution: 5 });
    loop.enable();
    const runs = await inTurns(queries, clients, ways);
    loop.disable();
    withMeaning = false;
    let turn = 0;
    const askFts = (query: string): Promise<number> => (turn++ % 2 === 0 ? fts : fts2).ask(query, folders);
    await run(queries.slice(0, 2), 2, askFts);
    const row: Row = {
      sergo: together(runs[0]!),
      both: values.vectors ? together(runs[1]!) : null,
      added: values.vectors ? addedTo(queries.length, runs) : null,
      fts5: together([await run(queries.slice(0, ftsCount), clients, askFts)]),
      loopP99Ms: Math.max(0, loop.percentile(99) / 1e6 - 5),
    };
    const name = `${share * 100} % of the library, ${clients} client${clients > 1 ? 's' : ''}`;
    results[name] = row;
    const shown = ({ p50, p95, perSecond }: Spread): string => `${ms(p50)} /${ms(p95)} (${perSecond.toFixed(0).padStart(4)})`;
    say(
      `${name.padEnd(34)}${shown(row.sergo)} ${shown(row.fts5)}     ${(row.sergo.p95 / row.fts5.p95).toFixed(2)}` +
        (row.both === null || row.added === null
          ? ''
          : `     ${shown(row.both)}  ${ms(row.both.p50 - row.sergo.p50)} ${ms(row.both.p95 - row.sergo.p95)}  ${ms(row.added.p50)} /${ms(row.added.p95)}  ${ms(row.sergo.cpuMs!)} ${ms(row.both.cpuMs!)}`),
    );
  }
}
const loopP99 = Math.max(...Object.values(results).map((one) => one.loopP99Ms));
say(`\nevent loop delayed by searches at most ${loopP99.toFixed(1)} ms (p99)`);

const fresh: number[] = [];
for (let i = 0; i < 60; i++) {
  const text = `${maker.text(WORDS_A_CHUNK)} freshword${i}x`;
  library.add([{ ref: 10_000_000 + i, id: `f${i}`, folder: 1, title: 'Fresh', text }]);
  const committed = performance.now();
  const found = await index.rank({ query: `freshword${i}x`, scope: { folders: [1], documents: [] }, depth: 5 });
  fresh.push(performance.now() - committed);
  if (found.length !== 1) throw new Error('a new document was not found');
}
const freshSpread = spreadOf(fresh, 1);
say(`a new document is found after its commit in ${freshSpread.p50.toFixed(1)} / ${freshSpread.p95.toFixed(1)} ms`);

const worst = new Map<string, number>();
for (const [name, query] of Object.entries(hostileQueries())) {
  for (const folders of [foldersOf(0.01), foldersOf(1)]) {
    const start = performance.now();
    await index.rank({ query, scope: { folders, documents: [] }, depth });
    worst.set(name, Math.max(worst.get(name) ?? 0, performance.now() - start));
  }
}
const worstMs = Math.max(...worst.values());
say(`worst-case queries (${worst.size}, in all and in 1 %): at most ${worstMs.toFixed(0)} ms (${[...worst].filter(([, took]) => took === worstMs).map(([name]) => name).join()})`);
await Promise.all([index.close(), fts.close(), fts2.close()]);
library.close();
if (values.keep === undefined) rmSync(folder, { recursive: true, force: true });
process.stdout.write(
  `${JSON.stringify({
    chunks: total, ...load, residentMiB: memoryBefore + threadsMiB, threadsMiB, eventLoopP99Ms: loopP99, freshMs: freshSpread, worstMs, results,
  })}\n`,
);
