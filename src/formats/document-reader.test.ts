import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { zipSync } from 'fflate';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createSandbox, type Sandbox } from '../sandbox/index.ts';
import { makePdf } from '../../test/support/pdf-fixture.ts';
import { wordFile, zipOf } from '../../test/support/zip-fixture.ts';
import { hasShared, sharedPath } from '../../test/support/shared.ts';
import { createCopyMaker } from './copy-maker.ts';
import { createOfficeConverter } from './office-converter.ts';
import { createDocumentReader, type DocumentReader, type FileToRead, type ReadSettings } from './document-reader.ts';

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

test('a name that promises another kind is said of PDFs and pictures too, and not of a PDF copy', async () => {
  const page = { number: 1, text: '', fate: 'image_only' as const, toView: true };
  const other = (type: string) => async () => ({ type, pages: [page], pagesEstimated: false, notices: ['Its own'] });
  const some = createDocumentReader({ sandbox, others: { pdf: other('pdf'), png: other('png') } });
  const noticesOf = async (type: string, name: string) => (await some.read(type, file(name, 'x'), settings())).notices;
  expect(await noticesOf('png', 'photo.pdf')).toEqual(['Named .pdf but is a picture (png): read as that', 'Its own']);
  expect(await noticesOf('pdf', 'report.docx')).toEqual(['Named .docx but is a PDF: read as that', 'Its own']);
  expect(await noticesOf('pdf', 'report.docx.pdf')).toEqual(['Its own']);
  expect(await noticesOf('png', 'scan.png')).toEqual(['Its own']);
  await some.close();
});

test('a PDF behind other bytes is told by its end, however far that is; a stored one in an archive is not taken for the file', async () => {
  const junk = Buffer.from('HTTP/1.1 200 OK\r\n\r\n');
  const long = makePdf([`words ${'x'.repeat(200_000)}`]);
  expect(await reader.sniff(file('sent.pdf', Buffer.concat([junk, long])))).toBe('pdf');
  expect(await reader.sniff(file('quoted.txt', Buffer.concat([junk, Buffer.from('%PDF-1.4\n'), Buffer.from('words\n'.repeat(40_000))])))).toBe('txt');
  const archive = zipSync({ 'a.pdf': [makePdf(['one']), { level: 0 }], 'b.pdf': [makePdf(['two']), { level: 0 }] });
  expect(await reader.sniff(file('papers.zip', archive))).toBe('zip');
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

test('files inside are handed on one by one, or with the result', async () => {
  const archive = file('a.zip', zipSync({ 'in/a.txt': Buffer.from('one'), 'b.txt': Buffer.from('two') }));
  expect(await reader.sniff(archive)).toBe('zip');
  const kept = await reader.read('zip', archive, settings());
  expect(kept.attachments?.map(({ name, bytes }) => [name, Buffer.from(bytes).toString()])).toEqual([['in/a.txt', 'one'], ['b.txt', 'two']]);
  const { taken, onAttachment } = taking();
  const result = await reader.read('zip', archive, { ...settings(), onAttachment });
  expect(taken).toEqual(['in/a.txt=one', 'b.txt=two']);
  expect(result.attachments).toBeUndefined();
});

/** Takes files inside as text, `name=…` for whole ones. */
function taking(): { taken: string[]; onAttachment: NonNullable<ReadSettings['onAttachment']> } {
  const taken: string[] = [];
  return {
    taken,
    onAttachment(name) {
      const pieces: Buffer[] = [];
      return {
        write: (piece) => void pieces.push(Buffer.from(piece)),
        end: (whole) => void taken.push(whole ? `${name}=${Buffer.concat(pieces).toString()}` : `${name} is damaged`),
      };
    },
  };
}

test('a file inside comes in pieces, each waited for', async () => {
  const large = Buffer.from(randomBytes(5_300_000));
  const archive = file('large.zip', zipSync({ 'large.bin': [large, { level: 0 }], 'empty.txt': new Uint8Array() }));
  const pieces: Buffer[] = [];
  const ends: [string, boolean][] = [];
  let open = false;
  await reader.read('zip', archive, {
    ...settings(),
    onAttachment: (name) => ({
      async write(piece) {
        expect(open).toBe(false);
        open = true;
        expect(piece.byteLength).toBeLessThanOrEqual(1024 ** 2);
        pieces.push(Buffer.from(piece));
        await new Promise((resolve) => setTimeout(resolve, 5));
        open = false;
      },
      end: (whole) => void ends.push([name, whole]),
    }),
  });
  expect(Buffer.concat(pieces).equals(large)).toBe(true);
  expect(ends).toEqual([['large.bin', true], ['empty.txt', true]]);
});

test('one damaged file inside an archive does not cost the others', async () => {
  const bytes = Buffer.from(zipSync({ 'a.txt': Buffer.from('one'), 'b.bin': randomBytes(3_000), 'c.txt': Buffer.from('three') }));
  const broken = bytes.indexOf('b.bin') + 'b.bin'.length;
  // A block of a kind that deflate does not have.
  bytes[broken] = 0x07;
  const { taken, onAttachment } = taking();
  const result = await reader.read('zip', file('broken.zip', bytes), { ...settings(), onAttachment });
  expect(taken).toEqual(['a.txt=one', 'b.bin is damaged', 'c.txt=three']);
  expect(result.notices).toEqual([expect.stringMatching(/^1 of its files are damaged/)]);
  const alone = Buffer.from(zipSync({ 'b.bin': randomBytes(3_000) }));
  alone[alone.indexOf('b.bin') + 'b.bin'.length] = 0x07;
  await expect(reader.read('zip', file('alone.zip', alone), settings())).rejects.toMatchObject({ reason: expect.stringMatching(/^Damaged: none of the files/) });
});

test('without LibreOffice old kinds say what is missing', async () => {
  await expect(reader.read('doc', file('a.doc', 'x'), settings())).rejects.toMatchObject({ reason: 'LibreOffice is not installed on this server, so old office files are not read' });
});

test('an old file is held against the fonts of this server as well', async () => {
  const body = '<w:p><w:r><w:rPr><w:rFonts w:ascii="Fontless Grotesque"/></w:rPr><w:t>Words</w:t></w:r></w:p>';
  const asking = createDocumentReader({ sandbox, office: { available: true, convert: async () => wordFile(body) } });
  const { type, notices } = await asking.read('doc', file('old.doc', 'x'), settings());
  expect({ type, notices }).toEqual({ type: 'doc', notices: [expect.stringMatching(/^Font Fontless Grotesque is missing on this server/)] });
  await asking.close();
});

const office = createOfficeConverter({ sandbox: {} as Sandbox });
if (!office.available) console.warn(`SKIPPED: reading old office files. ${office.missing}`);

describe.skipIf(!office.available || !hasShared('corpus', 'reading all office, text and mail files of the corpus'))('corpus', { timeout: 300_000 }, () => {
  test('every file is read or refused with a reason, none is an error of ours', async () => {
    const converter = createOfficeConverter({ sandbox });
    const whole = createDocumentReader({ sandbox, office: converter });
    const copies = createCopyMaker({ office: converter, reader: whole });
    const found: Record<string, string> = {};
    const elsewhere = new Set(['pdf', 'png', 'jpg', 'tiff', 'webp']);
    for (const name of readdirSync(sharedPath('corpus')).filter((entry) => !entry.startsWith('pdf-') && !entry.endsWith('.tsv'))) {
      const path = sharedPath(`corpus/${name}`);
      const source = { path, bytes: statSync(path).size, name, owner: 'ava' };
      try {
        const type = await whole.sniff(source);
        if (type === null || elsewhere.has(type)) continue;
        const result = await whole.read(type, source, { ...settings(), name });
        found[name] = `${result.type} ${result.pages.length}`;
      } catch (error) {
        if (!(error instanceof Error) || error.name !== 'UnreadableFile') throw error;
        found[name] = (error as Error & { reason: string }).reason;
      }
    }
    expect(found).toMatchObject({
      'doc-sample.doc': 'doc 2', 'doc-word95.doc': 'doc 1', 'ppt-chinese.ppt': 'ppt 1', 'xls-sample.xls': 'xls 3', 'pptx-deck-aptia.pptx': 'pptx 9',
      'docx-cyrillic-long.docx': 'docx 15', 'xlsx-formulas.xlsx': 'xlsx 5', 'epub-purvis-poetry.epub': 'epub 5', 'odt-text-03.odt': 'odt 2',
      'msg-chinese.msg': 'msg 1', 'eml-attachment.eml': 'eml 1', 'odt-not-a-zip.odt': 'txt 1', 'wrong-extension-docx-named.pdf': 'docx 1',
      'docx-zip-bomb-made-here.docx': expect.stringMatching(/^Too large to read/), 'xlsx-zip-bomb-shared-strings.xlsx': expect.stringMatching(/^Too large to read/),
      'docx-truncated.docx': expect.stringMatching(/^Damaged/), 'odt-encrypted.odt': expect.stringMatching(/needs a password/),
      'pptx-no-slides.pptx': expect.stringMatching(/no slides/),
    });
    expect(found['rtf-various.rtf']).toMatch(/^rtf [12]$/);
    const mail = sharedPath('corpus/msg-chinese.msg');
    const copy = await copies.toPdf({ path: mail, bytes: statSync(mail).size, name: 'm.msg', owner: 'ava' }, 'msg', { signal: new AbortController().signal });
    expect(Buffer.from(copy.subarray(0, 5)).toString()).toBe('%PDF-');
    await whole.close();
    await converter.close();
  });
});
