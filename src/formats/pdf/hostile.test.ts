import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createSandbox } from '../../sandbox/sandbox.ts';
import { createPdfReader, type PdfReader } from '../pdf.ts';
import { UnreadableFile, type ReadResult } from '../types.ts';
import { line, lines, makePdf } from './testing/pdf-writer.ts';

vi.setConfig({ testTimeout: 180_000 });

const folder = mkdtempSync(join(tmpdir(), 'sergo-pdf-hostile-'));
let reader: PdfReader;
beforeAll(async () => {
  reader = createPdfReader({ sandbox: await createSandbox({ tempDir: folder }), size: 2, pageMs: 15_000, limits: { wallMs: 60_000, memoryBytes: 512 * 1024 ** 2 } });
});
afterAll(async () => {
  await reader.close();
  expect(readdirSync(folder).filter((name) => name.startsWith('sergo-sandbox-'))).toEqual([]);
  rmSync(folder, { recursive: true });
});

/** The only two ends there are: pages, or a sentence for the owner. */
async function end(bytes: Uint8Array): Promise<ReadResult | string> {
  try {
    return await reader.read(bytes);
  } catch (error) {
    if (error instanceof UnreadableFile) return error.reason;
    throw error;
  }
}

/** A PDF from raw objects, numbered from 1; object 1 is the catalogue. No cross-reference table: readers rebuild it. */
const raw = (objects: (string | Buffer)[], trailer = '/Root 1 0 R'): Buffer =>
  Buffer.concat([
    Buffer.from('%PDF-1.7\n'),
    ...objects.flatMap((body, index) => [Buffer.from(`${index + 1} 0 obj\n`), typeof body === 'string' ? Buffer.from(body, 'latin1') : body, Buffer.from('\nendobj\n')]),
    Buffer.from(`trailer\n<< ${trailer} >>\n%%EOF\n`),
  ]);
const stream = (dictionary: string, data: string | Buffer): Buffer =>
  Buffer.concat([Buffer.from(`<< ${dictionary} /Length ${data.length} >>\nstream\n`), Buffer.from(data), Buffer.from('\nendstream')]);
const page = (more: string, parent = 2): string => `<< /Type /Page /Parent ${parent} 0 R /MediaBox [0 0 600 800] ${more} >>`;
const one = '<< /Type /Pages /Count 1 /Kids [3 0 R] >>';
const catalogue = '<< /Type /Catalog /Pages 2 0 R >>';

const files: [string, () => Buffer][] = [
  ['pages that are their own parents', () => raw([catalogue, '<< /Type /Pages /Count 3 /Kids [2 0 R 2 0 R 3 0 R] /Parent 2 0 R >>', page('')])],
  ['a page count of a billion', () => raw([catalogue, '<< /Type /Pages /Count 1000000000 /Kids [3 0 R] >>', page('')])],
  ['a negative page count', () => raw([catalogue, '<< /Type /Pages /Count -5 /Kids [3 0 R] >>', page('')])],
  ['a tree of pages 5,000 deep', () =>
    raw([catalogue, ...Array.from({ length: 5000 }, (_, n) => `<< /Type /Pages /Count 1 /Kids [${n + 3} 0 R] /Parent ${n + 1} 0 R >>`), page('', 5001)])],
  ['a form that draws itself', () =>
    raw([catalogue, one, page('/Contents 4 0 R /Resources << /XObject << /F 5 0 R >> >>'), stream('', '/F Do'), stream('/Type /XObject /Subtype /Form /BBox [0 0 600 800] /Resources << /XObject << /F 5 0 R >> >>', '/F Do /F Do')])],
  ['forms that double 40 times', () =>
    raw([
      catalogue, one, page('/Contents 4 0 R /Resources << /XObject << /F 5 0 R >> >>'), stream('', '/F Do'),
      ...Array.from({ length: 40 }, (_, n) => stream(`/Type /XObject /Subtype /Form /BBox [0 0 600 800] /Resources << /XObject << /F ${n === 39 ? 4 : n + 6} 0 R >> >>`, '/F Do /F Do')),
    ])],
  ['an outline that bites its tail', () =>
    raw(['<< /Type /Catalog /Pages 2 0 R /Outlines 4 0 R >>', one, page(''), '<< /First 5 0 R /Last 5 0 R >>', '<< /Title (a) /Parent 4 0 R /Next 6 0 R /First 5 0 R >>', '<< /Title (b) /Parent 4 0 R /Next 5 0 R >>'])],
  ['20,000 annotations', () => raw([catalogue, one, page(`/Annots [${'4 0 R '.repeat(20_000)}]`), '<< /Type /Annot /Subtype /Text /Rect [0 0 9 9] /Contents (same) >>'])],
  ['a field that is its own kid', () =>
    raw(['<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [4 0 R] >> >>', one, page('/Annots [4 0 R]'), '<< /Type /Annot /Subtype /Widget /FT /Tx /T (a) /Kids [4 0 R] /Parent 4 0 R /Rect [0 0 99 99] >>'])],
  ['a picture of 60,000 by 60,000 pixels', () => {
    const picture = stream('/Type /XObject /Subtype /Image /Width 60000 /Height 60000 /ColorSpace /DeviceRGB /BitsPerComponent 8 /Filter /FlateDecode', deflateSync(Buffer.alloc(100_000)));
    return raw([catalogue, one, page('/Contents 4 0 R /Resources << /XObject << /I 5 0 R >> >>'), stream('', 'q 600 0 0 800 0 0 cm /I Do Q'), picture]);
  }],
  ['a million operators', () => makePdf({ pages: [{ content: 'q 1 0 0 1 0 0 cm Q '.repeat(250_000) + line('end', 72, 72) }] })],
  ['a page of infinite size', () => raw([catalogue, one, '<< /Type /Page /Parent 2 0 R /MediaBox [-1e38 -1e38 1e38 1e38] >>'])],
  ['a page without size', () => raw([catalogue, one, '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 0 0] >>'])],
  ['a stream that says it is longer than the file', () => raw([catalogue, one, page('/Contents 4 0 R'), '<< /Length 99999999 >>\nstream\nBT ET\nendstream'])],
  ['a filter that is not there, 500 times', () => raw([catalogue, one, page('/Contents 4 0 R'), stream(`/Filter [${'/FlateDecode '.repeat(500)}]`, 'x')])],
  ['JavaScript and a launch action', () =>
    raw(['<< /Type /Catalog /Pages 2 0 R /OpenAction << /S /JavaScript /JS (while\\(1\\){}) >> /AA << /WC << /S /Launch /F (/bin/sh) >> >> >>', one, page('/AA << /O << /S /JavaScript /JS (while\\(1\\){}) >> >>')])],
  ['a cross-reference table that points at itself', () => Buffer.from('%PDF-1.7\nxref\n0 1\n0000000000 65535 f \ntrailer\n<< /Size 1 /Root 1 0 R /Prev 9 >>\nstartxref\n9\n%%EOF')],
];
for (const [what, make] of files) {
  test(what, async () => {
    const result = await end(make());
    if (typeof result === 'string') expect(result).toMatch(/^(It is damaged|Too large|Too slow)/);
    else expect(result.pages.length).toBeGreaterThan(0);
    // Whatever happened: the next file is read as if nothing had been.
    const good = await end(makePdf({ pages: [{ content: lines(['This page is fine.']) }] }));
    expect(good).toMatchObject({ pages: [{ text: 'This page is fine.' }] });
  });
}

test('200 files with flipped, lost and doubled bytes', async () => {
  const whole = makePdf({
    title: 'Base',
    outline: [{ title: 'One', page: 0 }],
    pages: [
      { content: lines(['Some text', 'and more of it']), annotations: ['<< /Type /Annot /Subtype /Widget /FT /Tx /T (f) /V (value) /Rect [72 100 300 120] /DA (/F1 12 Tf 0 g) >>'] },
      { content: 'q 300 0 0 300 72 72 cm /Im1 Do Q', picture: 20 },
    ],
  });
  let seed = 42;
  const random = (below: number): number => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return seed % below;
  };
  const ends: string[] = [];
  for (let round = 0; round < 200; round += 1) {
    let bytes = Buffer.from(whole);
    for (let edit = 0; edit <= round % 6; edit += 1) {
      const at = random(bytes.length - 20);
      const kind = random(3);
      if (kind === 0) bytes[at] = random(256);
      else if (kind === 1) bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + random(20))]);
      else bytes = Buffer.concat([bytes.subarray(0, at + 20), bytes.subarray(at)]);
    }
    const result = await end(bytes);
    ends.push(typeof result === 'string' ? result.split(' ')[2]! : 'read');
  }
  expect(ends).toHaveLength(200);
  expect(ends.filter((each) => each === 'read').length).toBeGreaterThan(50);
});
