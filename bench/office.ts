/**
 * `npm run bench:office [-- FILTER]`: office files of the shared corpus from upload to the PDF copy, beside one
 * `soffice --headless --convert-to pdf` batch over the same files in the same run. Sergo was started seconds before, so its LibreOffice runs
 * (SERGO_WARM_OFFICE) and has converted nothing yet.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sharedPath } from '../test/support/shared.ts';
import { openBenchLibrary } from './bench-library.ts';
import { describeMachine, median, printTable } from './table.ts';

const WARM_MS = 6_000;
const ROUNDS = Number(process.env.ROUNDS ?? 3);
const office = /\.(docx|docm|doc|pptx|ppt|xlsx|xls|odt|ods|odp|rtf)$/;
const filter = process.argv[2] ?? '';
// Files that are broken, encrypted or a bomb on purpose are converted by neither.
const hopeless = /encrypted|bomb|truncated|corrupted|not-a-zip|no-slides|xxe|zero-length|wrong-extension/;
const files = readFileSync(sharedPath('corpus/manifest.tsv'), 'utf8')
  .trim()
  .split('\n')
  .slice(1)
  .map((line) => line.split('\t')[0] as string)
  .filter((name) => office.test(name) && !hopeless.test(name) && name.includes(filter))
  .map((name) => sharedPath(`corpus/${name}`));

function batchSeconds(): [seconds: number, made: number] {
  const folder = mkdtempSync(join(tmpdir(), 'sergo-bench-office-'));
  try {
    const began = performance.now();
    spawnSync('soffice', [`-env:UserInstallation=file://${folder}/profile`, '--headless', '--convert-to', 'pdf', '--outdir', join(folder, 'out'), ...files], { stdio: 'ignore' });
    const seconds = (performance.now() - began) / 1_000;
    return [seconds, readdirSync(join(folder, 'out')).length];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function sergoSeconds(): Promise<[seconds: number, made: number]> {
  const library = await openBenchLibrary({ SERGO_WARM_OFFICE: '1' });
  try {
    await sleep(WARM_MS);
    const began = performance.now();
    const documents = await library.settled(await library.upload(files), true);
    return [(performance.now() - began) / 1_000, documents.filter((document) => document.pdfCopy === 'ready').length];
  } finally {
    await library.stop();
  }
}

const theirs: [number, number][] = [];
const ours: [number, number][] = [];
for (let round = 0; round < ROUNDS; round++) {
  theirs.push(batchSeconds());
  ours.push(await sergoSeconds());
}
const secondsOf = (rounds: [number, number][]): number[] => rounds.map(([seconds]) => seconds);
const row = (name: string, rounds: [number, number][]): string[] => [name, median(secondsOf(rounds)).toFixed(2), secondsOf(rounds).map((each) => each.toFixed(2)).join(' '), String(rounds[0]?.[1])];
process.stdout.write(`${describeMachine()}\n`);
printTable(`${files.length} office files to PDF copies, medians of ${ROUNDS} interleaved rounds`, ['', 'seconds', 'each round', 'copies made'], [
  row('one soffice --convert-to pdf batch', theirs),
  row('Sergo, upload to copy, with text, pages and index', ours),
  ['ratio (Sergo / batch), at most 1.3 wanted', (median(secondsOf(ours)) / median(secondsOf(theirs))).toFixed(2), '', ''],
]);
