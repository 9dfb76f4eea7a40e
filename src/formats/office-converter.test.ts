import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createSandbox, type Sandbox } from '../sandbox/index.ts';
import { hasShared, sharedPath } from '../../test/support/shared.ts';
import { namespaces, wordFile, zipOf } from '../../test/support/zip-fixture.ts';
import { alignToCopy, pageAt } from './align.ts';
import { readDocx } from './docx.ts';
import { createFileTime } from './file-time.ts';
import { createOfficeConverter, type OfficeConverter } from './office-converter.ts';

const folder = mkdtempSync(join(tmpdir(), 'sergo-convert-'));
const pids: number[] = [];
let sandbox: Sandbox;
let converter: OfficeConverter;

const real = createOfficeConverter({ sandbox: {} as Sandbox });
const canRun = real.missing === null && spawnSync('pdftotext', ['-v']).status === 0;
if (!canRun) console.warn(`SKIPPED: converting with LibreOffice. ${real.missing ?? 'pdftotext is missing'}`);

beforeAll(async () => {
  const made = await createSandbox();
  sandbox = {
    mode: made.mode,
    runTool: made.runTool,
    startChild: async (spec) => {
      const child = await made.startChild(spec);
      pids.push(child.pid);
      return child;
    },
  };
  converter = createOfficeConverter({ sandbox });
});
afterAll(async () => {
  await converter.close();
  rmSync(folder, { recursive: true, force: true });
});

const paragraph = (inner: string) => `<w:p>${inner}</w:p>`;
const run = (text: string) => `<w:r><w:t xml:space="preserve">${text}</w:t></w:r>`;

function pagesOf(pdf: Uint8Array): string[] {
  writeFileSync(join(folder, 'out.pdf'), pdf);
  return spawnSync('pdftotext', ['-q', join(folder, 'out.pdf'), '-'], { encoding: 'utf8', maxBuffer: 1e9 }).stdout.split('\f').slice(0, -1);
}

test('where LibreOffice is missing it says so and what that costs', async () => {
  const none = createOfficeConverter({ sandbox, programs: { office: undefined, python: undefined } });
  expect(none.available).toBe(false);
  expect(none.missing).toBe('LibreOffice and python3-uno are not installed on this server, so office files get no PDF copy and old office files are not read');
  await expect(none.toPdf(new Uint8Array(1), { type: 'docx', owner: 'a' })).rejects.toMatchObject({ reason: none.missing });
});

describe.skipIf(!canRun)('with LibreOffice', { timeout: 180_000 }, () => {
  test('one running LibreOffice serves an owner; another owner gets another one', async () => {
    const bytes = wordFile(paragraph(run('Hello copy')));
    const first = await converter.toPdf(bytes, { type: 'docx', owner: 'ava' });
    expect(pagesOf(first)[0]).toContain('Hello copy');
    await converter.toPdf(bytes, { type: 'docx', owner: 'ava' });
    expect(pids.length).toBe(1);
    await converter.toPdf(bytes, { type: 'docx', owner: 'ben' });
    expect(pids.length).toBe(2);
  });

  test('a spare that has seen no file is kept for the first owner, and the next owner gets another one', async () => {
    let started = 0;
    const children: number[] = [];
    const counting: Sandbox = { mode: sandbox.mode, runTool: sandbox.runTool, startChild: async (spec) => {
      started += 1;
      const child = await sandbox.startChild(spec);
      children.push(child.pid);
      return child;
    } };
    const kept = createOfficeConverter({ sandbox: counting, keepSpare: true });
    try {
      while (children.length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
      const bytes = wordFile(paragraph(run('Hello copy')));
      kept.warm('ava');
      expect(pagesOf(await kept.toPdf(bytes, { type: 'docx', owner: 'ava' }))[0]).toContain('Hello copy');
      expect(started).toBe(1);
      expect(pagesOf(await kept.toPdf(bytes, { type: 'docx', owner: 'ben' }))[0]).toContain('Hello copy');
      expect(started).toBe(2);
    } finally {
      await kept.close();
    }
    for (const pid of children) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
    pids.splice(2);
  });

  test('a LibreOffice that has converted so many files is replaced', async () => {
    const children: number[] = [];
    const counting: Sandbox = { mode: sandbox.mode, runTool: sandbox.runTool, startChild: async (spec) => {
      const child = await sandbox.startChild(spec);
      children.push(child.pid);
      return child;
    } };
    const before = pids.length;
    const short = createOfficeConverter({ sandbox: counting, filesPerStart: 2 });
    const running: number[] = [];
    try {
      for (const text of ['one', 'two', 'three', 'four', 'five']) {
        expect(pagesOf(await short.toPdf(wordFile(paragraph(run(text))), { type: 'docx', owner: 'ava' }))[0]).toContain(text);
        running.push(children.length);
      }
      expect(running).toEqual([1, 1, 2, 2, 3]);
      for (const pid of children.slice(0, 2)) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
    } finally {
      await short.close();
    }
    pids.splice(before);
  });

  test('what it cannot open is a reason, and the next file is converted', async () => {
    await expect(converter.toPdf(wordFile(paragraph(run('x'))).subarray(0, 200), { type: 'docx', owner: 'ben' })).rejects.toMatchObject({
      name: 'UnreadableFile',
      reason: 'LibreOffice cannot open it: it is damaged or needs a password',
    });
    expect(pagesOf(await converter.toPdf(Buffer.from('{\\rtf1 still alive}'), { type: 'rtf', owner: 'ben' }))[0]).toContain('still alive');
    expect(pids.length).toBe(2);
  });

  test('tracked changes are accepted in the copy as they are in the text', async () => {
    const body = paragraph(`${run('We pay ')}<w:del w:id="1" w:author="a" w:date="2024-01-01T00:00:00Z"><w:r><w:delText>eleven</w:delText></w:r></w:del><w:ins w:id="2" w:author="a" w:date="2024-01-01T00:00:00Z">${run('twelve')}</w:ins>`);
    const [page] = pagesOf(await converter.toPdf(wordFile(body), { type: 'docx', owner: 'ben' }));
    expect(page).toContain('We pay twelve');
    expect(page).not.toContain('eleven');
  });

  test('comments in the margin neither end LibreOffice nor are printed; an old file keeps them for its reader', async () => {
    const comments = `<w:comments ${namespaces}><w:comment w:id="5" w:author="Rita"><w:p>${run('Remark on money')}</w:p></w:comment></w:comments>`;
    const body = paragraph(`<w:commentRangeStart w:id="5"/>${run('We pay twelve')}<w:commentRangeEnd w:id="5"/><w:r><w:commentReference w:id="5"/></w:r>`);
    const started = pids.length;
    const [page] = pagesOf(await converter.toPdf(wordFile(body, { comments }), { type: 'docx', owner: 'ben' }));
    expect(page).toContain('We pay twelve');
    expect(page).not.toContain('Remark');
    const rtf = String.raw`{\rtf1 Old words{\*\atnid R}{\*\atnauthor Rita}\chatn{\*\annotation Remark on rtf}}`;
    const asWord = await converter.convert(Buffer.from(rtf), 'docx', { type: 'rtf', owner: 'ben' });
    const [read] = readDocx(asWord, { name: 'a', maxPages: 50, maxUnpackedBytes: 1e8 }).pages;
    expect(read).toMatchObject({ text: 'Old words', notes: 'Comment by Rita: Remark on rtf' });
    expect(pids.length).toBe(started);
  });

  test.each([
    ['without a password', ''],
    ['with a password', 'table:protection-key="mt4HJVdyhJJ1JjJu9CQfZkGsOU8=" table:protection-key-digest-algorithm="http://www.w3.org/2000/09/xmldsig#sha1"'],
  ])('a workbook whose structure is locked %s shows every sheet, hidden and empty ones too', async (_how, key) => {
    const names = ['office', 'table', 'text', 'style'].map((part) => `xmlns:${part}="urn:oasis:names:tc:opendocument:xmlns:${part}:1.0"`).join(' ');
    const sheet = (name: string, words: string, style: string, more = '') =>
      `<table:table table:name="${name}" table:style-name="${style}" ${more}><table:table-row><table:table-cell>${words === '' ? '' : `<text:p>${words}</text:p>`}</table:table-cell></table:table-row></table:table>`;
    const shown = (name: string, display: boolean) => `<style:style style:name="${name}" style:family="table"><style:table-properties table:display="${display}"/></style:style>`;
    const sheets = sheet('Open', 'open words', 'ta1') + sheet('Hidden', 'hidden words', 'ta2') + sheet('Empty', '', 'ta1', 'table:protected="true"') + sheet('Last', 'last words', 'ta1');
    const bytes = zipOf({
      mimetype: 'application/vnd.oasis.opendocument.spreadsheet',
      'META-INF/manifest.xml':
        '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"><manifest:file-entry manifest:full-path="/" manifest:media-type="application/vnd.oasis.opendocument.spreadsheet"/><manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/></manifest:manifest>',
      'content.xml': `<office:document-content ${names} office:version="1.2"><office:automatic-styles>${shown('ta1', true)}${shown('ta2', false)}</office:automatic-styles><office:body><office:spreadsheet table:structure-protected="true" ${key}>${sheets}</office:spreadsheet></office:body></office:document-content>`,
    });
    const pages = pagesOf(await converter.toPdf(bytes, { type: 'ods', owner: 'ben' }));
    expect(pages.map((page) => page.trim())).toEqual(['open words', 'hidden words', '', 'last words']);
  });

  test('a cancelled conversion ends LibreOffice and the next one has its own', async () => {
    const cancel = new AbortController();
    const slow = converter.toPdf(wordFile(paragraph(run('word '.repeat(200))).repeat(3_000)), { type: 'docx', owner: 'ben', signal: cancel.signal });
    setTimeout(() => cancel.abort(), 300);
    await expect(slow).rejects.toThrow();
    expect(pagesOf(await converter.toPdf(wordFile(paragraph(run('after'))), { type: 'docx', owner: 'ben' }))[0]).toContain('after');
  });

  test('a file that has used its time up is ended, be it in one long conversion or in many steps', async () => {
    const time = createFileTime(3_000);
    const slow = wordFile(paragraph(run('word '.repeat(200))).repeat(8_000));
    const reason = 'LibreOffice does not get done with it in the time that one file may take';
    await expect(converter.toPdf(slow, { type: 'docx', owner: 'ben', time })).rejects.toMatchObject({ reason });
    expect(time.leftMs()).toBe(0);
    await expect(converter.toPdf(wordFile(paragraph(run('short'))), { type: 'docx', owner: 'ben', time })).rejects.toMatchObject({ reason });
    expect(pagesOf(await converter.toPdf(wordFile(paragraph(run('short'))), { type: 'docx', owner: 'ben', time: createFileTime(60_000) }))[0]).toContain('short');
  });

  test('a slow file does not hold up the others: they get a LibreOffice of their own for the while', async () => {
    const cancel = new AbortController();
    const hold = converter.toPdf(wordFile(paragraph(run('word '.repeat(200))).repeat(8_000)), { type: 'docx', owner: 'ben', signal: cancel.signal });
    const held = expect(hold).rejects.toThrow();
    const before = pids.length;
    const [one, other] = await Promise.all(['one', 'other'].map((text) => converter.toPdf(wordFile(paragraph(run(text))), { type: 'docx', owner: 'ben' })));
    expect([pagesOf(one!)[0], pagesOf(other!)[0]]).toEqual([expect.stringContaining('one'), expect.stringContaining('other')]);
    expect(pids.length).toBeGreaterThan(before);
    cancel.abort();
    await held;
  });

  test('a cancelled conversion does not wait for its turn', async () => {
    const [holding, waiting] = [new AbortController(), new AbortController()];
    const slow = () => wordFile(paragraph(run('word '.repeat(200))).repeat(8_000));
    const holds = [1, 2].map(() => expect(converter.toPdf(slow(), { type: 'docx', owner: 'ben', signal: holding.signal })).rejects.toThrow());
    const third = expect(converter.toPdf(slow(), { type: 'docx', owner: 'ben', signal: waiting.signal })).rejects.toThrow(/abort/i);
    waiting.abort();
    await third;
    holding.abort();
    await Promise.all(holds);
  });

  test('a linked picture is never fetched', async () => {
    let calls = 0;
    const server = createServer((socket) => {
      calls++;
      socket.end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    const page = `<html><head><link rel="stylesheet" href="http://127.0.0.1:${port}/a.css"></head><body>words<img src="http://127.0.0.1:${port}/a.png"></body></html>`;
    const converted = await converter.toPdf(Buffer.from(page), { type: 'html', owner: 'ben' });
    server.close();
    expect(pagesOf(converted)[0]).toContain('words');
    expect(calls).toBe(0);
  });
});

describe.skipIf(!canRun || !hasShared('corpus', 'aligning real Word files with their copies'))('alignment of real files', { timeout: 180_000 }, () => {
  const squash = (text: string) => text.normalize('NFKD').toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');

  test.each(['docx-bug51170.docx', 'docx-cyrillic-long.docx', 'docx-equations-omml.docx', 'docx-word-sample.docx'])('paragraphs of %s are on the page that prints them', async (name) => {
    const bytes = readFileSync(sharedPath(`corpus/${name}`));
    const flow = readDocx(bytes, { name, maxPages: 5_000, maxUnpackedBytes: 1024 ** 3 }).pages.map((page) => page.text).join('\n\n');
    const copy = pagesOf(await converter.toPdf(bytes, { type: 'docx', owner: 'ben' }));
    const starts = alignToCopy(flow, copy);
    const printed = copy.map(squash);
    let right = 0;
    let all = 0;
    for (const match of flow.matchAll(/(?:^|\n\n)([^\n]+)/g)) {
      const key = squash(match[1]!).slice(0, 30);
      const on = printed.flatMap((page, index) => (key.length >= 20 && page.includes(key) ? [index + 1] : []));
      // Only paragraphs whose page is certain.
      if (on.length !== 1) continue;
      all++;
      if (pageAt(starts, match.index + match[0].length - match[1]!.length) === on[0]) right++;
    }
    expect(all).toBeGreaterThan(5);
    expect(right / all).toBeGreaterThanOrEqual(0.95);
  });
});
