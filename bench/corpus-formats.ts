/**
 * Reads every file of the shared corpus as a worker would and prints a table: type, pages against the independent tool's,
 * words found of those that another extractor finds (pdftotext; for office files on LibreOffice's PDF; for text the file
 * itself), milliseconds. `node bench/corpus-formats.ts [name part]`
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDocumentReader } from '../src/formats/document-reader.ts';
import { createOfficeConverter } from '../src/formats/office-converter.ts';
import { createPdfReader } from '../src/formats/pdf.ts';
import { type ReadResult, UnreadableFile } from '../src/formats/types.ts';
import { createSandbox } from '../src/sandbox/index.ts';
import { hasShared, sharedPath } from '../test/support/shared.ts';

const office = new Set(['docx', 'pptx', 'xlsx', 'doc', 'ppt', 'xls', 'rtf', 'odt', 'ods', 'odp', 'html']);
const wordsOf = (text: string): string[] => text.normalize('NFKC').toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

function recallOf(found: string, reference: string): string {
  const have = new Map<string, number>();
  for (const word of wordsOf(found)) have.set(word, (have.get(word) ?? 0) + 1);
  const wanted = wordsOf(reference);
  if (wanted.length === 0) return '-';
  const hits = wanted.filter((word) => {
    const left = have.get(word) ?? 0;
    have.set(word, left - 1);
    return left > 0;
  });
  return (hits.length / wanted.length).toFixed(3);
}

if (!hasShared('corpus', 'the table of corpus files')) process.exit(0);
const folder = mkdtempSync(join(tmpdir(), 'sergo-corpus-'));
const sandbox = await createSandbox({ log: console.warn });
const converter = createOfficeConverter({ sandbox });
const pdf = createPdfReader({ sandbox });
const reader = createDocumentReader({
  sandbox,
  office: converter,
  others: { pdf: (file, settings) => pdf.read(file.path, { ...settings, owner: file.owner }) },
});

const expected = new Map(
  readFileSync(sharedPath('corpus/manifest.tsv'), 'utf8')
    .split('\n')
    .map((line) => line.split('\t'))
    .map((row) => [row[0] ?? '', /(?:pages|slides|sheets)=(\d+)/.exec((row[5] ?? '').replace(/(slides|sheets)=0 ?/g, ''))?.[1] ?? '']),
);

/** What another extractor reads; null where there is none. */
async function referenceText(path: string, type: string, owner: string): Promise<string | null> {
  if (type === 'txt' || type === 'md' || type === 'csv' || type === 'eml') return readFileSync(path, 'utf8');
  let source = path;
  if (office.has(type)) {
    source = join(folder, 'copy.pdf');
    writeFileSync(source, await converter.toPdf(path, { type, owner }));
  } else if (type !== 'pdf') return null;
  return execFileSync('pdftotext', ['-q', source, '-'], { encoding: 'utf8', maxBuffer: 1e9 });
}

const rows: string[][] = [['file', 'type', 'pages', 'tool', 'recall', 'ms', 'what became of it']];
for (const name of readdirSync(sharedPath('corpus')).toSorted()) {
  if (name === 'manifest.tsv' || (process.argv[2] && !name.includes(process.argv[2]))) continue;
  const path = sharedPath(`corpus/${name}`);
  const file = { path, bytes: statSync(path).size, name, owner: 'bench' };
  const started = performance.now();
  let type: string | null = null;
  try {
    type = await reader.sniff(file);
    if (type === null) throw new UnreadableFile('not a kind that is read');
    const result: ReadResult = await reader.read(type, file, { name, maxPages: 5_000, maxUnpackedBytes: 1024 ** 3, signal: AbortSignal.timeout(120_000) });
    const took = performance.now() - started;
    const reference = await referenceText(path, type, 'bench').catch(() => null);
    const fates = [...new Set(result.pages.map((page) => page.fate))].join(' ');
    rows.push([
      name, type, String(result.pages.length), expected.get(name) ?? '',
      reference === null ? '-' : recallOf(result.pages.map((page) => `${page.text}\n${page.notes ?? ''}`).join('\n'), reference),
      took.toFixed(0), [fates, ...(result.notices ?? [])].join('; '),
    ]);
  } catch (error) {
    const what = error instanceof UnreadableFile ? error.reason : `FAILED: ${String(error)}`;
    rows.push([name, type ?? '', '', expected.get(name) ?? '', '', (performance.now() - started).toFixed(0), what]);
  }
}
const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
for (const row of rows) console.log(row.map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column]!))).join('  '));
await Promise.all([reader.close(), converter.close(), pdf.close()]);
rmSync(folder, { recursive: true, force: true });
