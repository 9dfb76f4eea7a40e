/**
 * `npm run bench:hostile`: what hostile files cost everybody else. The same light request is asked again and again of the idle server and
 * of the server while all hostile files of the test (trust.md P21) go through it, at the limits that are shipped.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { hostileFiles } from '../test/hostile/generate.ts';
import { makeFiles, queueEmpty, runHostile, watchLatency } from '../test/hostile/run.ts';
import { mib, residentBytes, sandboxed, workerOf } from '../test/support/process-watch.ts';
import { openBenchLibrary } from './bench-library.ts';
import { describeMachine, median, percentile, printTable } from './table.ts';

const IDLE_MS = 10_000;
const AT_ONCE = 3;

const files = makeFiles(hostileFiles);
const library = await openBenchLibrary({ SERGO_RATE_SIGNED_IN: '1000000' });
try {
  await sleep(3_000);
  const idleProbe = watchLatency(library.admin);
  await sleep(IDLE_MS);
  const idle = await idleProbe.stop();
  const before = residentBytes(library.sergo.pid);
  const mostChild = { bytes: 0 };
  const looking = setInterval(() => {
    for (const { pid } of sandboxed(library.sergo.pid)) mostChild.bytes = Math.max(mostChild.bytes, residentBytes(pid));
  }, 100);
  const worker = workerOf(library.sergo.pid);
  const probe = watchLatency(library.admin);
  const ends = await runHostile(library.admin, library.folderId, files, AT_ONCE);
  await queueEmpty(library.admin, 600_000);
  const during = await probe.stop();
  clearInterval(looking);

  process.stdout.write(`${describeMachine()}\n`);
  const row = (name: string, took: readonly number[]): string[] => [name, String(took.length), median(took).toFixed(1), percentile(took, 0.99).toFixed(1), Math.max(...took).toFixed(0)];
  printTable(`GET /api/v1/me while ${files.length} hostile files go through, ${AT_ONCE} at a time`, ['', 'requests', 'p50 ms', 'p99 ms', 'most ms'], [row('idle', idle), row('during', during)]);
  const ratio = percentile(during, 0.99) / percentile(idle, 0.99);
  printTable('What is wanted', ['', 'figure', 'wanted'], [
    ['p99 during / idle', ratio.toFixed(1), 'below 3, or p99 below 500 ms'],
    ['server grew by', mib(residentBytes(library.sergo.pid) - before), 'below 100 MiB'],
    ['largest sandboxed program', mib(mostChild.bytes), 'below 1 GiB (LibreOffice 3 GiB)'],
    ['slowest file', `${ends.toSorted((a, b) => b.seconds - a.seconds)[0]!.seconds.toFixed(1)} s`, 'below 120 s'],
    ['ended as expected', `${ends.filter(({ file, end }) => file.ends.test(end)).length} of ${ends.length}`, 'all'],
    ['worker', workerOf(library.sergo.pid) === worker ? 'the same' : 'another', 'the same'],
  ]);
  if (ratio >= 3 && percentile(during, 0.99) >= 500) process.exitCode = 1;
} finally {
  await library.stop();
}
