/**
 * `npm run bench:search -- --chunks N [--queries N] [--fts-queries N] [--vectors] [--keep DIR] [--json]`: searching N excerpts of
 * varied text, one and eight clients, scopes of 1, 10 and 100 % of the library, beside a bare FTS5 query with the same words and scope
 * in the same run (porter, bm25 over the whole library, scope by a temporary table of folders; of the same queries as many as
 * `--fts-queries` says). With `--vectors` each excerpt has one of 384 dimensions, and the same queries are asked by words and by
 * words and meaning in turns. Also ingest, disk, memory, a new document's time to be found and the event loop's delay. Databases
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
}

const spreadOf = (times: number[], wallMs: number): Spread => {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!;
  return { p50: at(0.5), p95: at(0.95), perSecond: (times.length / wallMs) * 1_000 };
};

interface Run {
  times: number[];
  wallMs: number;
}

/** Runs all queries with some clients at once, each asking the next when it has its answer. */
async function run(queries: readonly string[], clients: number, ask: (query: string) => Promise<unknown>): Promise<Run> {
  const times: number[] = [];
  let next = 0;
  const began = performance.now();
  await Promise.all(
    Array.from({ length: clients }, async () => {
      while (next < queries.length) {
        const query = queries[next++]!;
        const start = performance.now();
        await ask(query);
        times.push(performance.now() - start);
      }
    }),
  );
  return { times, wallMs: performance.now() - began };
}

const together = (runs: readonly Run[]): Spread => spreadOf(runs.flatMap(({ times }) => times), runs.reduce((sum, { wallMs }) => sum + wallMs, 0));

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
const shares = [0.01, 0.1, 1].map((share) => ({ share, folders: Array.from({ length: FOLDERS * share }, (_, i) => 1 + Math.floor(i / share)) }));
const askIndex = (folders: number[]) => (query: string) => index.rank({ query, scope: { folders, documents: [] }, depth });
withMeaning = values.vectors;
for (const { folders } of shares) await run(queries.slice(0, 20), 2, askIndex(folders));
withMeaning = false;
const threadsMiB = rssMiB() - memoryBefore;
say(`resident memory ${rssMiB()} MiB, of it ${threadsMiB} for two search threads${values.vectors ? ' with all vectors' : ''}`);

const fts = startFts(load.ftsPath);
const fts2 = startFts(load.ftsPath);
interface Row {
  sergo: Spread;
  /** Words and meaning. */
  both: Spread | null;
  fts5: Spread;
  loopP99Ms: number;
}
const results: Record<string, Row> = {};
say(`\np50 / p95 ms (queries a second)${' '.repeat(12)}Sergo${' '.repeat(24)}FTS5${' '.repeat(16)}p95 Sergo : FTS5${values.vectors ? '   words and meaning, added' : ''}`);
for (const { share, folders } of shares) {
  for (const clients of [1, 8]) {
    const loop = monitorEventLoopDelay({ resolution: 5 });
    const words: Run[] = [];
    const both: Run[] = [];
    // In turns, so that what else the machine does falls on both.
    for (let turn = 0; turn < 4; turn++) {
      withMeaning = values.vectors && turn % 2 === 1;
      await run(queries.slice(0, 10), clients, askIndex(folders));
      loop.enable();
      (withMeaning ? both : words).push(await run(queries, clients, askIndex(folders)));
      loop.disable();
      if (!values.vectors) break;
    }
    withMeaning = false;
    let turn = 0;
    const askFts = (query: string): Promise<number> => (turn++ % 2 === 0 ? fts : fts2).ask(query, folders);
    await run(queries.slice(0, 2), 2, askFts);
    const row: Row = {
      sergo: together(words),
      both: both.length === 0 ? null : together(both),
      fts5: together([await run(queries.slice(0, ftsCount), clients, askFts)]),
      loopP99Ms: Math.max(0, loop.percentile(99) / 1e6 - 5),
    };
    const name = `${share * 100} % of the library, ${clients} client${clients > 1 ? 's' : ''}`;
    results[name] = row;
    const shown = ({ p50, p95, perSecond }: Spread): string => `${ms(p50)} /${ms(p95)} (${perSecond.toFixed(0).padStart(4)})`;
    say(
      `${name.padEnd(34)}${shown(row.sergo)} ${shown(row.fts5)}     ${(row.sergo.p95 / row.fts5.p95).toFixed(2)}` +
        (row.both === null ? '' : `       ${shown(row.both)}  p50 ${ms(row.both.p50 - row.sergo.p50)}  p95 ${ms(row.both.p95 - row.sergo.p95)}`),
    );
  }
}
const loopP99 = Math.max(...Object.values(results).map((one) => one.loopP99Ms));
say(`\nevent loop delayed by searches at most ${loopP99.toFixed(1)} ms (p99)`);

const fresh: number[] = [];
for (let i = 0; i < 20; i++) {
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
  for (const { share, folders } of shares) {
    if (share === 0.1) continue;
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
