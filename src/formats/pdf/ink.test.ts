import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSandbox } from '../../sandbox/sandbox.ts';
import { createPdfReader, type PdfReader } from './reader.ts';
import { lines, makePdf, scanPage, type PageSpec } from './testing/pdf-writer.ts';

let pdf: PdfReader;
beforeAll(async () => {
  pdf = createPdfReader({ sandbox: await createSandbox(), size: 1 });
});
afterAll(() => pdf.close());

/** A scan of so many rows of letters. */
async function scan(rows: number): Promise<PageSpec> {
  const page = makePdf({ pages: [{ content: lines(Array.from({ length: rows }, () => 'The quick brown fox jumps over the lazy dog'), 40, 380, 11), width: 420, height: 420 }] });
  const { pixels, ...size } = await pdf.drawGrey(page, 1, { dpi: 150, maxSidePx: 3000 });
  const { data, info } = await sharp(pixels, { raw: { ...size, channels: 1 } }).jpeg({ quality: 85 }).toBuffer({ resolveWithObject: true });
  return scanPage(data, info.width, info.height, 150);
}

test('a scan of white paper is an empty page, whether little or much is on the others', async () => {
  const { pages } = await pdf.read(makePdf({ pages: [await scan(30), await scan(1), await scan(0)] }));
  expect(pages.map(({ fate, toView }) => [fate, toView])).toEqual([['image_only', true], ['image_only', true], ['empty', false]]);
});

test('a grey drawing is one byte a pixel and shows what the coloured one does', async () => {
  const file = makePdf({ pages: [{ content: '1 0 0 rg 0 0 50 100 re f 0 0 0 rg 50 0 25 100 re f', width: 100, height: 100 }] });
  const { width, height, pixels } = await pdf.drawGrey(file, 1, { dpi: 72 });
  expect([width, height, pixels.byteLength]).toEqual([100, 100, 10_000]);
  const [red, black, white] = [pixels[5_010]!, pixels[5_060]!, pixels[5_090]!];
  expect([black, white]).toEqual([0, 255]);
  expect(red).toBeGreaterThan(50);
  expect(red).toBeLessThan(120);
});
