import { readFileSync, readdirSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { zipSync } from 'fflate';
import iconv from 'iconv-lite';
import { describe, expect, test } from 'vitest';
import { makePdf } from '../../test/support/pdf-fixture.ts';
import { hasShared, sharedPath } from '../../test/support/shared.ts';
import { deckFile, wordFile, zipOf } from '../../test/support/zip-fixture.ts';
import { formats, indexFormats, readFormat, sniff } from './index.ts';
import { openZip } from './zip.ts';

const options = { name: 'a', maxPages: 5_000, maxUnpackedBytes: 1024 ** 3 };
const utf8 = (text: string) => Buffer.from(text, 'utf8');
const typeOf = (bytes: Uint8Array, name = 'file') => sniff(bytes.subarray(0, 65_536), name, bytes);

test('a type registered twice stops the start', () => {
  const one = formats.get('txt')!;
  expect(() => indexFormats([one, one])).toThrow('Two formats are registered for type "txt"');
});

test('type is by content, whatever the name says', () => {
  expect(typeOf(wordFile(''), 'report.pdf')).toBe('docx');
  expect(typeOf(deckFile([]), 'x.docx')).toBe('pptx');
  expect(typeOf(utf8('%PDF-1.7\n'), 'x.txt')).toBe('pdf');
  expect(typeOf(utf8('# Title'), 'readme.md')).toBe('md');
  expect(typeOf(utf8('a,b'), 'x.CSV')).toBe('csv');
  expect(typeOf(utf8('just words'), 'x.odt')).toBe('txt');
  expect(typeOf(Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), 'x')).toBe('png');
  expect(typeOf(zipSync({ 'a.bin': new Uint8Array(4) }), 'x.docx')).toBe('zip');
  expect(typeOf(Buffer.concat([utf8('MZ\u0090'), Buffer.alloc(100), utf8('DOS mode')]), 'x.pdf')).toBe(null);
  expect(() => typeOf(Buffer.alloc(0), 'x.pdf')).toThrow('The file is empty (0 bytes)');
});

describe('a PDF is told from what holds or mentions one', () => {
  const pdf = makePdf(['A page']);

  test('an archive whose first file is a stored PDF, a mail and Markdown about PDFs stay what they are', () => {
    const stored = zipSync({ 'a.pdf': [pdf, { level: 0 }], 'b.pdf': [pdf, { level: 0 }], 'c.txt': [utf8('words'), { level: 0 }] });
    expect(Buffer.from(stored.subarray(0, 1_000)).includes('%PDF-')).toBe(true);
    expect(typeOf(stored, 'papers.zip')).toBe('zip');
    expect(typeOf(utf8('From: a@example.org\r\nSubject: x\r\nDate: now\r\n\r\n%PDF-1.4 is how such a file begins.'), 'a.eml')).toBe('eml');
    expect(typeOf(utf8('# PDFs\n\nThe first line is\n%PDF-1.4\nand the last\nstartxref\n9\n%%EOF\n'), 'pdf.md')).toBe('md');
    expect(typeOf(utf8('The first line is\n%PDF-1.4\nand the rest follows.'), 'notes')).toBe('txt');
    expect(typeOf(utf8('{\\rtf1 A file begins with %PDF-1.4}'), 'a')).toBe('rtf');
    expect(typeOf(utf8('<!doctype html><p>%PDF-1.4</p>'), 'a')).toBe('html');
  });

  test('bytes that a sender or a printer put before a PDF do not hide it', () => {
    const before = ['\n\n', '\ufeff', 'HTTP/1.1 200 OK\r\nContent-Type: application/pdf\r\n\r\n', '\u001b%-12345X@PJL ENTER LANGUAGE=PDF\r\n', '<br />\n<b>Warning</b>: no date\n', '\0'.repeat(128)];
    for (const junk of before) expect([junk, typeOf(Buffer.concat([utf8(junk), pdf]), 'a.pdf')]).toEqual([junk, 'pdf']);
    expect(typeOf(Buffer.concat([pdf, zipSync({ 'a.txt': utf8('words') })]), 'both.zip')).toBe('pdf');
  });
});

describe('packages of other programs are no archives', () => {
  const stored = (parts: Record<string, string>) => zipSync(Object.fromEntries(Object.entries(parts).map(([name, text]) => [name, utf8(text)])));
  const manifest = (type: string) => `<manifest:manifest><manifest:file-entry manifest:media-type="${type}" manifest:full-path="/"/><manifest:file-entry manifest:full-path="Object 1/" manifest:media-type="application/vnd.oasis.opendocument.spreadsheet"/></manifest:manifest>`;
  const odf = 'application/vnd.oasis.opendocument';

  test('Visio, iWork, drawings and formulas are kinds that are not read', () => {
    expect(typeOf(stored({ '[Content_Types].xml': '<Types/>', '_rels/.rels': '<x/>', 'visio/document.xml': '<x/>' }), 'plan.vsdx')).toBe(null);
    expect(typeOf(stored({ 'Index/Document.iwa': 'x', 'Metadata/Properties.plist': 'x' }), 'letter.pages')).toBe(null);
    expect(typeOf(stored({ mimetype: `${odf}.graphics`, 'content.xml': '<x/>', 'META-INF/manifest.xml': manifest(`${odf}.graphics`) }), 'plan.odg')).toBe(null);
    expect(typeOf(stored({ 'content.xml': '<x/>', 'META-INF/manifest.xml': manifest(`${odf}.graphics`) }), 'plan.odg')).toBe(null);
    expect(typeOf(stored({ mimetype: 'image/openraster', 'stack.xml': '<x/>' }), 'a.ora')).toBe(null);
  });

  test('those of ours are told without their usual folder or mimetype, and an archive may hold a file of that name', () => {
    const main = '<Types><Override PartName="/doc/main.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>';
    expect(typeOf(stored({ '[Content_Types].xml': main, 'doc/main.xml': '<x/>' }))).toBe('docx');
    expect(typeOf(stored({ 'content.xml': '<x/>', 'META-INF/manifest.xml': manifest(`${odf}.text`) }), 'a.zip')).toBe('odt');
    expect(typeOf(stored({ 'content.xml': '<x/>', 'META-INF/manifest.xml': '<x/>' }), 'a.ott')).toBe('odt');
    expect(typeOf(stored({ 'a.txt': 'words', mimetype: 'image/openraster' }), 'a.zip')).toBe('zip');
  });
});

test('a name that promises another kind is said on the document', async () => {
  const notices = async (type: string, bytes: Uint8Array, name: string) => (await readFormat(type, bytes, { ...options, name })).notices;
  expect(await notices('docx', wordFile(''), 'report.pdf')).toEqual(['Named .pdf but is a Word document (docx): read as that']);
  expect(await notices('docx', wordFile(''), 'report.docm')).toBeUndefined();
  expect(await notices('txt', utf8('words'), 'server.log')).toBeUndefined();
  expect(await notices('txt', utf8('words'), 'letter.odt')).toEqual(['Named .odt but is plain text: read as that']);
});

describe('archives', () => {
  test('real bytes are counted, whatever the header claims', () => {
    const bytes = zipOf({ 'word/document.xml': new Uint8Array(3_000_000) }).slice();
    // The directory claims 100 bytes.
    const view = new DataView(bytes.buffer);
    const directory = Buffer.from(bytes).lastIndexOf(Buffer.from([0x50, 0x4b, 1, 2]));
    view.setUint32(directory + 24, 100, true);
    const zip = openZip(bytes, { maxUnpackedBytes: 2 * 1024 ** 2 });
    expect(() => zip.bytes(zip.find('word/document.xml')!)).toThrow('Too large to read: it unpacks to more than 2 MiB');
  });

  test('too many entries, a cut file and a damaged part are told apart', () => {
    const many = zipSync(Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`f${at}`, new Uint8Array(1)])));
    expect(() => openZip(many, { maxUnpackedBytes: 1e6, maxEntries: 49 })).toThrow('it holds more than 49 files');
    expect(openZip(many, { maxUnpackedBytes: 1e6, maxEntries: 50 }).entries).toHaveLength(50);
    for (const length of [4, 30, many.length - 23, many.length - 200]) expect(() => openZip(many.subarray(0, length), { maxUnpackedBytes: 1e6 })).toThrow(/Damaged: the file is cut short/);
    const text = zipSync({ a: utf8(Array.from({ length: 200 }, (_, at) => `line ${at * 7919}`).join(' ')) }).slice();
    text.fill(0xff, 40, 140);
    const zip = openZip(text, { maxUnpackedBytes: 1e6 });
    expect(() => zip.bytes(zip.find('a')!)).toThrow(/Damaged: a part of it cannot be unpacked/);
  });

  test('names are UTF-8, else CP437, else what the Unicode path says', () => {
    const named = (raw: Uint8Array, extra?: Record<number, Uint8Array>) => {
      const zip = Buffer.from(zipSync({ ['x'.repeat(raw.length)]: [utf8('words'), extra ? { extra } : {}] }));
      for (const at of [30, zip.lastIndexOf(Buffer.from([0x50, 0x4b, 1, 2])) + 46]) zip.set(raw, at);
      return openZip(zip, { maxUnpackedBytes: 1e6 }).entries[0]!.name;
    };
    const dos = iconv.encode('Übersicht.txt', 'cp437');
    expect(named(dos)).toBe('Übersicht.txt');
    expect(named(utf8('Übersicht.txt'))).toBe('Übersicht.txt');
    const path = (of: Uint8Array) => {
      const field = Buffer.concat([Buffer.from([1, 0, 0, 0, 0]), utf8('Обзор.txt')]);
      field.writeUInt32LE(crc32(of), 1);
      return { 0x7075: field };
    };
    expect(named(dos, path(dos))).toBe('Обзор.txt');
    expect(named(dos, path(utf8('renamed since')))).toBe('Übersicht.txt');
  });

  test('an archive behind other bytes is found', () => {
    const zip = openZip(Buffer.concat([utf8('#!/bin/sh\nexit\n'), zipSync({ a: utf8('inner') })]), { maxUnpackedBytes: 1e6 });
    expect(Buffer.from(zip.bytes(zip.find('a')!)).toString()).toBe('inner');
  });
});

describe.skipIf(!hasShared('corpus', 'telling the kinds of the corpus files'))('corpus', () => {
  test('each file is what it is, files with a password say so', () => {
    const found: Record<string, string | null> = {};
    for (const name of readdirSync(sharedPath('corpus'))) {
      if (name.endsWith('.tsv')) continue;
      const bytes = readFileSync(sharedPath(`corpus/${name}`));
      try {
        found[name] = typeOf(bytes, name);
      } catch (error) {
        found[name] = (error as { reason: string }).reason;
      }
    }
    const password = 'It needs a password to open — upload a copy without one';
    expect(found).toMatchObject({
      'docx-encrypted-password-pass.docx': password,
      'pptx-encrypted-password-tika.pptx': password,
      'xlsx-encrypted-password-tika.xlsx': password,
      'empty-zero-bytes.pdf': 'The file is empty (0 bytes)',
      'wrong-extension-docx-named.pdf': 'docx',
      'docx-truncated.docx': 'docx',
      'doc-word95.doc': 'doc',
      'ppt-chinese.ppt': 'ppt',
      'xls-sample.xls': 'xls',
      'msg-chinese.msg': 'msg',
      'epub-purvis-poetry.epub': 'epub',
      'odt-text-03.odt': 'odt',
      'odp-footer.odp': 'odp',
      'odt-not-a-zip.odt': 'txt',
      'img-scan-page.tif': 'tiff',
    });
    for (const [name, type] of Object.entries(found)) {
      if (name.startsWith('pdf-')) expect([name, type]).toEqual([name, 'pdf']);
      if (/^(docx|pptx|xlsx)-(?!encrypted)/.test(name)) expect([name, type]).toEqual([name, name.slice(0, 4)]);
    }
  });
});
