import { existsSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { descendants } from '../../test/support/process-watch.ts';
import { createSandbox } from '../sandbox/sandbox.ts';
import type { Sandbox } from '../sandbox/types.ts';
import { createOcr, type Ocr, type OcrPage } from './ocr.ts';
import { estimateSkew } from './ocr/skew.ts';
import { createPdfReader, type PdfReader } from './pdf.ts';
import { lines, makePdf, scanPage, type PageSpec } from './pdf/testing/pdf-writer.ts';

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });

const text = [
  'The committee met on the fourteenth of March to discuss',
  'the budget for the coming year. Every member had received',
  'the report in advance, and most of them had read it with',
  'care. The chair opened the meeting and asked for comments.',
  'Several people pointed out that the figures for heating',
  'were lower than expected, while those for transport had',
  'grown by a quarter. It was agreed that the office should',
  'look into the reasons and write a short note about them.',
  'The second item was the new library. Its walls are of',
  'brick and wood, and its roof carries solar panels which',
  'deliver most of the power that the building uses. Visitors',
  'praise the quiet reading room on the upper floor.',
];
const typed: PageSpec = { content: lines(text, 40, 380, 11), width: 420, height: 420 };
const words = (t: string): string[] => t.toLowerCase().match(/[a-z0-9]+/g) ?? [];
function recall(found: string): number {
  const have = words(found);
  const wanted = words(text.join(' '));
  return wanted.filter((word) => have.includes(word)).length / wanted.length;
}

describe.skipIf(!existsSync('/usr/bin/tesseract'))('reading pictures of pages', () => {
  let sandbox: Sandbox;
  let pdf: PdfReader;
  let ocr: Ocr;
  let file: Buffer;
  let found: Map<number, OcrPage>;

  async function scan(dpi: number, degrees: number, rotate = 0): Promise<PageSpec> {
    const { pixels, ...size } = await pdf.drawGrey(makePdf({ pages: [typed] }), 1, { dpi, maxSidePx: 6000 });
    const { data, info } = await sharp(pixels, { raw: { ...size, channels: 1 } }).rotate(degrees, { background: 'white' }).toColourspace('b-w').jpeg({ quality: 85 }).toBuffer({ resolveWithObject: true });
    return scanPage(data, info.width, info.height, dpi, rotate);
  }

  beforeAll(async () => {
    sandbox = await createSandbox();
    pdf = createPdfReader({ sandbox, size: 2 });
    ocr = createOcr({ sandbox, pdf });
    const noise = await sharp({ create: { width: 800, height: 800, channels: 3, background: 'white', noise: { type: 'gaussian', mean: 128, sigma: 60 } } })
      .toColourspace('b-w')
      .jpeg()
      .toBuffer();
    file = makePdf({
      pages: [typed, await scan(200, 0), await scan(200, 90), await scan(200, -5), await scan(150, 180), await scan(200, 0, 270), scanPage(noise, 800, 800, 150)],
    });
    found = await ocr.pages(file, [2, 3, 4, 5, 6, 7], { key: 'scans' });
  });
  afterAll(() => Promise.all([ocr.close(), pdf.close()]));

  test('only the pictures need it', async () => {
    const { pages } = await pdf.read(file);
    expect(pages.map((p) => p.fate)).toEqual(['text', ...Array.from({ length: 6 }, () => 'image_only')]);
  });

  const kinds: [string, number, number][] = [
    ['as it is, at 200 dpi', 2, 0.95],
    ['turned by 90 degrees', 3, 0.95],
    ['leaning by 5 degrees', 4, 0.95],
    ['upside down, at 150 dpi', 5, 0.9],
    ['turned by the page itself', 6, 0.95],
  ];
  for (const [kind, page, atLeast] of kinds) {
    test(`a page ${kind}`, () => expect(recall(found.get(page)!.text)).toBeGreaterThanOrEqual(atLeast));
  }

  test('noise stays without text', () => expect(found.get(7)!.text.length).toBeLessThan(20));

  test('the searchable copy has the words on their pages and leaves the typed page alone', async () => {
    const copy = await ocr.searchablePdf(file, found, buffer);
    const { pages } = await pdf.read(copy);
    expect(pages).toHaveLength(7);
    expect(pages[0]!.text).toBe(text.join('\n'));
    for (const page of [2, 3, 4, 6]) expect(recall(pages[page - 1]!.text)).toBeGreaterThanOrEqual(0.95);
    // The picture is still the scan: no ink was added.
    const [before, after] = await Promise.all([pdf.draw(file, 2, { dpi: 50 }), pdf.draw(copy, 2, { dpi: 50 })]);
    expect(after).toEqual(before);
  });

  test('without qpdf there is no searchable copy, and the reason is named', async () => {
    const bare = createOcr({ sandbox, pdf, qpdfPath: '/nowhere/qpdf' });
    await expect(bare.searchablePdf(file, found, buffer)).rejects.toMatchObject({ name: 'UnreadableFile', reason: expect.stringMatching(/^qpdf is not installed/) as string });
    await expect(ocr.searchablePdf(Buffer.from('%PDF-1.7\nbut nothing else'), found, buffer)).rejects.toMatchObject({ reason: expect.stringMatching(/could not be written again/) as string });
  });

  test('what cannot be kept is no fault of the file', async () => {
    await expect(ocr.searchablePdf(file, found, () => Promise.reject(new Error('the disk is full')))).rejects.toThrow('the disk is full');
  });

  test('without user namespaces it reads as well', async () => {
    const bare = createOcr({ sandbox: await createSandbox({ mode: 'limits-only' }), pdf });
    const results = await bare.pages(file, [2]);
    await bare.close();
    expect(recall(results.get(2)!.text)).toBeGreaterThanOrEqual(0.95);
  });

  test('an abort stops it', async () => {
    const abort = new AbortController();
    setTimeout(() => abort.abort(new Error('enough')), 50);
    await expect(ocr.pages(file, [2, 3, 4], { signal: abort.signal })).rejects.toThrow('enough');
  });

  test('a page that takes too long says so, and the others go on', async () => {
    const hasty = createOcr({ sandbox, pdf, limits: { wallMs: 20 } });
    const results = await hasty.pages(file, [2]).catch((error: unknown) => error);
    await hasty.close();
    // With so little time even the list of languages may not come.
    if (results instanceof Map) expect((results as Map<number, OcrPage>).get(2)).toEqual({ text: '', failed: 'reading its picture takes too long' });
    else expect(String(results)).toContain('tesseract');
  });

  test('a few pages that take long and in vain end it for the rest', async () => {
    await ocr.missing();
    const hasty = createOcr({ sandbox: { ...sandbox, runTool: (spec) => (spec.args.includes('--list-langs') ? sandbox.runTool({ ...spec, limits: {} }) : sandbox.runTool(spec)) }, pdf, concurrency: 1, limits: { wallMs: 20 } });
    const results = await hasty.pages(file, [2, 3, 4, 5, 6], { key: 'scans' });
    await hasty.close();
    expect([2, 3, 4, 5, 6].map((page) => results.get(page)!.failed)).toEqual([
      ...Array.from({ length: 3 }, () => expect.stringMatching(/takes too long|could not be drawn/) as string),
      'too many pages before it took too long',
      'too many pages before it took too long',
    ]);
  });

  test('languages that are not installed are named', async () => {
    expect(await ocr.missing()).toBeUndefined();
    const other = createOcr({ sandbox, pdf, languages: ['eng', 'xyz'] });
    expect(await other.missing()).toBe('tesseract has no data for xyz: install tesseract-ocr-xyz');
    // None of them: there is nothing to read with, which is said and not tried.
    expect(await createOcr({ sandbox, pdf, languages: ['xyz'] }).missing()).toMatch(/^tesseract is not of use without data for xyz/);
  });

  test('no process is left', async () => {
    await ocr.close();
    // Of ours: somebody else on this machine may be reading a picture right now.
    const all = [...descendants(process.pid), ...descendants(1).filter(({ command }) => command.some((part) => part.includes(`sergo-sandbox-${process.pid}-`)))];
    expect(all.filter(({ command }) => command.some((part) => part.includes('tesseract')))).toEqual([]);
  });
});

test('the lean of a page is found', async () => {
  const rows = Array.from({ length: 24 }, (_, n) => `<rect x="60" y="${60 + n * 24}" width="${500 - ((n * 37) % 90)}" height="9" fill="black"/>`).join('');
  const svg = Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" width="640" height="700"><rect width="640" height="700" fill="white"/>${rows}</svg>`);
  for (const degrees of [0, 4, -7]) {
    const { data: pixels, info } = await sharp(svg).rotate(degrees, { background: 'white' }).removeAlpha().toColourspace('b-w').raw().toBuffer({ resolveWithObject: true });
    expect(Math.abs((await estimateSkew({ width: info.width, height: info.height, pixels })) + degrees)).toBeLessThanOrEqual(0.5);
  }
});
