/**
 * `npm run bench:ocr`: scanned pages from upload to searchable with "Basic with OCR", beside `OMP_THREAD_LIMIT=1 tesseract` on as many
 * cores over the same page pictures (200 dpi, grey) in the same run. Needs poppler-utils and the shared corpus.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { makePdf, scanPage, type PageSpec } from '../src/formats/pdf/testing/pdf-writer.ts';
import { sharedPath } from '../test/support/shared.ts';
import { openBenchLibrary } from './bench-library.ts';
import { describeMachine, median, printTable } from './table.ts';

const ROUNDS = Number(process.env.ROUNDS ?? 3);
const DPI = 200;
const sources: [string, number][] = [['corpus/pdf-two-column.pdf', 2], ['corpus/pdf-tracemonkey-14p-two-column.pdf', 5], ['corpus/pdf-handbook-figures.pdf', 1]];
const cores = availableParallelism();
const folder = mkdtempSync(join(tmpdir(), 'sergo-bench-ocr-'));

/** The pictures as files for tesseract, and the same pixels as a PDF of scans. */
async function draw(): Promise<{ pictures: string[]; pdf: string }> {
  const pictures: string[] = [];
  const pages: PageSpec[] = [];
  for (const [source, last] of sources) {
    for (let page = 1; page <= last; page++) {
      const png = execFileSync('pdftoppm', ['-q', '-r', String(DPI), '-gray', '-png', '-f', String(page), '-l', String(page), sharedPath(source)], { maxBuffer: 1 << 28 });
      const { data, info } = await sharp(png).toColourspace('b-w').jpeg({ quality: 90 }).toBuffer({ resolveWithObject: true });
      const path = join(folder, `${pictures.length}.png`);
      writeFileSync(path, await sharp(data).png({ compressionLevel: 1 }).toBuffer());
      pictures.push(path);
      pages.push(scanPage(data, info.width, info.height, DPI));
    }
  }
  const pdf = join(folder, 'scan.pdf');
  writeFileSync(pdf, makePdf({ pages }));
  return { pictures, pdf };
}

async function tesseractSeconds(pictures: readonly string[]): Promise<number> {
  const began = performance.now();
  const waiting = [...pictures];
  await Promise.all(
    Array.from({ length: cores }, async () => {
      for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
        await once(spawn('tesseract', [path, path, '-l', 'eng', '--dpi', String(DPI)], { env: { ...process.env, OMP_THREAD_LIMIT: '1' }, stdio: 'ignore' }), 'exit');
      }
    }),
  );
  return (performance.now() - began) / 1_000;
}

const { pictures, pdf } = await draw();
const library = await openBenchLibrary();
try {
  // What is started once (pdfium, the list of languages) is no part of pages a second.
  await library.settled(await library.upload([sharedPath('corpus/pdf-scan-ocr-test.pdf')], 'basic-ocr'));
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    theirs.push(await tesseractSeconds(pictures));
    const began = performance.now();
    const [document] = await library.settled(await library.upload([pdf], 'basic-ocr'));
    ours.push((performance.now() - began) / 1_000);
    if (document.pages !== pictures.length || document.imageOnlyPages.length > 0) throw new Error(`${document.imageOnlyPages.length} of ${document.pages} pages were not read`);
  }
  const row = (name: string, seconds: number[]): string[] => [name, (pictures.length / median(seconds)).toFixed(2), seconds.map((each) => each.toFixed(1)).join(' ')];
  process.stdout.write(`${describeMachine()}\n`);
  printTable(`OCR of ${pictures.length} pages at ${DPI} dpi, medians of ${ROUNDS} interleaved rounds`, ['', 'pages/s', 'seconds'], [
    row(`tesseract, ${cores} at a time`, theirs),
    row('Sergo, upload to searchable, with its searchable PDF', ours),
    ['ratio (Sergo / tesseract), at least 0.9 wanted', (median(theirs) / median(ours)).toFixed(2), ''],
  ]);
} finally {
  await library.stop();
  rmSync(folder, { recursive: true, force: true });
}
