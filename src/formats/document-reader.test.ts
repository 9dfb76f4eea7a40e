import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSandbox, type Sandbox } from '../sandbox/index.ts';
import { wordFile, zipOf } from '../../test/support/zip-fixture.ts';
import { createDocumentReader, type DocumentReader, type FileToRead } from './document-reader.ts';

const folder = mkdtempSync(join(tmpdir(), 'sergo-reader-'));
let sandbox: Sandbox;
let reader: DocumentReader;
const started: number[] = [];

beforeAll(async () => {
  const real = await createSandbox();
  sandbox = { ...real, mode: real.mode, startChild: async (spec) => {
    const child = await real.startChild(spec);
    started.push(child.pid);
    return child;
  } };
  reader = createDocumentReader({ sandbox });
});
afterAll(async () => {
  await reader.close();
  rmSync(folder, { recursive: true, force: true });
});

function file(name: string, content: Uint8Array | string, owner = 'ava'): FileToRead {
  const path = join(folder, name);
  writeFileSync(path, content);
  return { path, bytes: statSync(path).size, name: basename(path), owner };
}
const settings = () => ({ name: '', maxPages: 5_000, maxUnpackedBytes: 1024 ** 3, signal: new AbortController().signal });
const paragraph = (text: string) => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`;

test('files are told and read in the sandbox, in one warm child per owner', async () => {
  const word = file('report.pdf', wordFile(paragraph('Größe') + paragraph('words '.repeat(2_000)).repeat(3)));
  expect(await reader.sniff(word)).toBe('docx');
  const progress: number[] = [];
  const result = await reader.read('docx', word, { ...settings(), onProgress: (done) => progress.push(done) });
  expect(result.pages.map((page) => page.number)).toEqual(result.pages.map((_, at) => at + 1));
  expect(result.pages[0]!.text.startsWith('Größe')).toBe(true);
  expect(result.notices).toEqual(['Named .pdf but is a Word document (docx): read as that']);
  expect(await reader.sniff(file('a.csv', 'a;b\n1;2'))).toBe('csv');
  expect(started.length).toBe(1);
  const other = await reader.read('txt', file('b.txt', 'other words', 'ben'), settings());
  expect(other.pages[0]!.text).toBe('other words');
  expect(started.length).toBe(2);
});

test('what is wrong with a file is an UnreadableFile with its reason, and the next file is read', async () => {
  await expect(reader.sniff(file('empty.docx', ''))).rejects.toMatchObject({ name: 'UnreadableFile', reason: 'The file is empty (0 bytes)' });
  await expect(reader.read('docx', file('cut.docx', wordFile(paragraph('x')).subarray(0, 300)), settings())).rejects.toMatchObject({ name: 'UnreadableFile' });
  expect((await reader.read('txt', file('c.txt', 'still here'), settings())).pages[0]!.text).toBe('still here');
});

test('a file that outgrows the limits ends its child and says that it is too large', async () => {
  const small = createDocumentReader({ sandbox, limits: { memoryBytes: 200 * 1024 ** 2 } });
  const rows = paragraph('some words to keep in memory').repeat(400_000);
  const parts = { '[Content_Types].xml': '<Types/>', 'word/document.xml': `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>${rows}</w:body></w:document>` };
  await expect(small.read('docx', file('big.docx', zipOf(parts)), settings())).rejects.toMatchObject({ name: 'UnreadableFile', reason: expect.stringMatching(/^Too large to read/) });
  await small.close();
});

test('a cancelled reading ends at once', async () => {
  const cancel = new AbortController();
  const reading = reader.read('txt', file('slow.txt', 'x'.repeat(60_000_000)), { ...settings(), signal: cancel.signal });
  setTimeout(() => cancel.abort(), 50);
  await expect(reading).rejects.toThrow(/cancel/i);
});
