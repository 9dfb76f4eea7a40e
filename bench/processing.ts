/**
 * `npm run bench:processing`: PDFs from upload to searchable, beside `pdftotext` over the same files on the same cores in the same
 * run; and the memory that serve and worker take, idle and at work. Needs poppler-utils and the shared corpus.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sharedPath } from '../test/support/shared.ts';
import { openBenchLibrary } from './bench-library.ts';
import { residentBytes, watchResident } from './process-memory.ts';
import { describeMachine, median, printTable } from './table.ts';

const ROUNDS = 5;
const sources: [string, number][] = [
  ['corpus/pdf-geotopo-117p-german.pdf', 16],
  ['corpus/pdf-tracemonkey-14p-two-column.pdf', 20],
  ['corpus/pdf-two-column.pdf', 20],
  ['corpus/pdf-wikipedia-browser-print.pdf', 20],
];

const folder = mkdtempSync(join(tmpdir(), 'sergo-bench-'));
const files = sources.flatMap(([source, copies]) =>
  Array.from({ length: copies }, (_, at) => {
    const path = join(folder, `${at}-${source.split('/').pop()}`);
    symlinkSync(sharedPath(source), path);
    return path;
  }),
);
const pagesOf = (path: string): number => Number(/^Pages:\s+(\d+)/m.exec(execFileSync('pdfinfo', [path], { encoding: 'utf8' }))?.[1] ?? 0);
const pages = files.reduce((sum, path) => sum + pagesOf(path), 0);

/** As many pdftotext processes at a time as there are cores. */
async function pdftotextSeconds(): Promise<number> {
  const began = performance.now();
  const waiting = [...files];
  await Promise.all(
    Array.from({ length: availableParallelism() }, async () => {
      for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
        await once(spawn('pdftotext', ['-q', path, join(folder, `${process.pid}-${waiting.length}.txt`)]), 'exit');
      }
    }),
  );
  return (performance.now() - began) / 1_000;
}

const library = await openBenchLibrary();
const mib = (bytes: number): string => `${Math.round(bytes / 2 ** 20)} MiB`;
try {
  // A first round, not counted: PDFium is compiled while it runs.
  await library.settled(await library.upload(files));
  // Both give memory back once they have had nothing to do for a while.
  await sleep(15_000);
  const idle = residentBytes(library.sergo.pid);
  const watching = watchResident(library.sergo.pid);
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    theirs.push(await pdftotextSeconds());
    const began = performance.now();
    const documents = await library.settled(await library.upload(files));
    ours.push((performance.now() - began) / 1_000);
    const read = documents.reduce((sum, document) => sum + Number(document.pages), 0);
    if (read !== pages || documents.some((document) => document.status !== 'ready')) throw new Error(`${read} of ${pages} pages became searchable`);
  }
  const peak = watching.stop();
  const rate = (seconds: readonly number[]): string => (pages / median(seconds)).toFixed(0);
  const spread = (seconds: readonly number[]): string => seconds.map((each) => each.toFixed(2)).join(' ');
  process.stdout.write(`${describeMachine()}\n`);
  printTable(`PDF to searchable: ${files.length} files, ${pages} pages, medians of ${ROUNDS} interleaved rounds`, ['', 'pages/s', 'seconds'], [
    [`pdftotext, ${availableParallelism()} at a time`, rate(theirs), spread(theirs)],
    ['Sergo, upload to searchable', rate(ours), spread(ours)],
    ['ratio (Sergo / pdftotext), at least 1 wanted', (median(theirs) / median(ours)).toFixed(2), ''],
  ]);
  printTable('Resident memory', ['', 'serve + worker', 'sandboxed children'], [
    ['idle (under 300 MB wanted)', mib(idle.ours), mib(idle.children)],
    ['peak while processing (under 800 MB wanted)', mib(peak.ours), mib(peak.children)],
  ]);
} finally {
  await library.stop();
  rmSync(folder, { recursive: true, force: true });
}
