import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import sharp, { type Sharp } from 'sharp';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createSandbox } from '../sandbox/sandbox.ts';
import { createImageReader, type ImageReader } from './image.ts';
import { createPdfReader, type PdfReader } from './pdf.ts';

vi.setConfig({ testTimeout: 120_000 });

const folder = mkdtempSync(join(tmpdir(), 'sergo-image-test-'));
let images: ImageReader;
let pdf: PdfReader;
beforeAll(async () => {
  const sandbox = await createSandbox();
  images = createImageReader({ sandbox });
  pdf = createPdfReader({ sandbox, size: 1 });
});
afterAll(async () => {
  await Promise.all([images.close(), pdf.close()]);
  rmSync(folder, { recursive: true });
});

/** Left half red, right half blue. */
const flag = (width: number, height: number): Sharp =>
  sharp(
    Buffer.from(
      `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><rect width="${width / 2}" height="${height}" fill="red"/><rect x="${width / 2}" width="${width / 2}" height="${height}" fill="blue"/></svg>`,
    ),
  );

async function colourAt(png: Uint8Array, x: number, y: number): Promise<string> {
  const { data, info } = await sharp(png).raw().toBuffer({ resolveWithObject: true });
  const at = (Math.round(y * (info.height - 1)) * info.width + Math.round(x * (info.width - 1))) * info.channels;
  const [r = 0, g = 0, b = 0] = data.subarray(at, at + 3);
  if (r > 200 && g > 200 && b > 200) return 'white';
  return r > 100 && r > 1.5 * g && r > 1.5 * b ? 'red' : b > 100 && b > 1.5 * g && b > 1.5 * r ? 'blue' : `${r},${g},${b}`;
}

describe('one picture, one page', () => {
  const kinds: [string, () => Promise<Buffer>][] = [
    ['png', () => flag(900, 600).png().toBuffer()],
    ['jpg', () => flag(900, 600).jpeg().toBuffer()],
    ['webp', () => flag(900, 600).webp().toBuffer()],
    ['tiff', () => flag(900, 600).tiff({ compression: 'lzw' }).toBuffer()],
    ['jpg in CMYK', () => flag(900, 600).toColourspace('cmyk').jpeg().toBuffer()],
    ['png with 16 bits', () => flag(900, 600).toColourspace('rgb16').png().toBuffer()],
  ];
  for (const [kind, make] of kinds) {
    test(kind, async () => {
      const bytes = await make();
      const type = kind.slice(0, 4).trim();
      const read = await images.read(bytes, { type });
      expect(read).toMatchObject({ type, pagesEstimated: false, pages: [{ number: 1, text: '', fate: 'image_only', toView: true }] });
      const copy = await images.toPdf(bytes, { type });
      const again = await pdf.read(copy);
      expect(again.pages.map((p) => [p.fate, p.width, p.height])).toEqual([['image_only', read.pages[0]!.width, read.pages[0]!.height]]);
      const png = await pdf.draw(copy, 1);
      expect([await colourAt(png, 0.2, 0.5), await colourAt(png, 0.8, 0.5)]).toEqual(['red', 'blue']);
      expect((await sharp(png).metadata()).width).toBe(900);
    });
  }

  test('a transparent picture lies on white', async () => {
    const bytes = await sharp({ create: { width: 200, height: 200, channels: 4, background: { r: 0, g: 0, b: 0, alpha: 0 } } }).png().toBuffer();
    const png = await pdf.draw(await images.toPdf(bytes, { type: 'png' }), 1);
    expect(await colourAt(png, 0.5, 0.5)).toBe('white');
  });

  test('a photograph held sideways comes out upright, as large as the eye sees it', async () => {
    const bytes = await flag(800, 400).withMetadata({ orientation: 6 }).jpeg().toBuffer();
    const { pages } = await images.read(bytes, { type: 'jpg' });
    expect(pages[0]!.width!).toBeLessThan(pages[0]!.height!);
    const png = await pdf.draw(await images.toPdf(bytes, { type: 'jpg' }), 1);
    expect([await colourAt(png, 0.5, 0.2), await colourAt(png, 0.5, 0.8)]).toEqual(['red', 'blue']);
  });

  test('a stated resolution is the size on paper', async () => {
    const bytes = await flag(600, 300).withMetadata({ density: 300 }).png().toBuffer();
    expect((await images.read(bytes, { type: 'png' })).pages[0]).toMatchObject({ width: 144, height: 72 });
  });

  test('from a path', async () => {
    const path = join(folder, 'a.png');
    writeFileSync(path, await flag(300, 200).png().toBuffer(), { mode: 0o600 });
    expect((await images.read(path, { type: 'png' })).pages).toHaveLength(1);
  });
});

/** A TIFF of several one-bit pages, uncompressed, little-endian (TIFF 6.0). */
function multiPageTiff(pages: number, width: number, height: number, preview = -1): Buffer {
  const row = Math.ceil(width / 8);
  const chunks: Buffer[] = [Buffer.from('II*\0\x08\0\0\0', 'latin1')];
  let at = 8;
  for (let page = 0; page < pages; page += 1) {
    const directory = Buffer.alloc(2 + 10 * 12 + 4);
    const data = at + directory.length;
    const end = data + row * height;
    const entries: [number, number, number][] = [
      [254, 4, page === preview ? 1 : 0], [256, 4, width], [257, 4, height], [258, 3, 1], [259, 3, 1], [262, 3, 1], [273, 4, data], [277, 3, 1], [278, 4, height], [279, 4, row * height],
    ];
    directory.writeUInt16LE(entries.length, 0);
    for (const [index, [tag, type, value]] of entries.entries()) {
      directory.writeUInt16LE(tag, 2 + index * 12);
      directory.writeUInt16LE(type, 4 + index * 12);
      directory.writeUInt32LE(1, 6 + index * 12);
      directory.writeUInt32LE(value, 10 + index * 12);
    }
    directory.writeUInt32LE(page < pages - 1 ? end : 0, directory.length - 4);
    const pixels = Buffer.alloc(row * height, 0xff);
    // A black bar, one further down on each page.
    pixels.fill(0, row * (page + 1) * 20, row * ((page + 1) * 20 + 10));
    chunks.push(directory, pixels);
    at = end;
  }
  return Buffer.concat(chunks);
}

test('every page of a TIFF is a page, exact to the bit', async () => {
  const bytes = multiPageTiff(3, 240, 120);
  expect((await images.read(bytes, { type: 'tiff' })).pages.map((p) => p.number)).toEqual([1, 2, 3]);
  const copy = await images.toPdf(bytes, { type: 'tiff' });
  for (const page of [1, 2, 3]) {
    const raw = await sharp(await pdf.draw(copy, page)).resize(240, 120, { kernel: 'nearest' }).greyscale().raw().toBuffer({ resolveWithObject: true });
    const dark = (y: number): boolean => raw.data[y * 240 * raw.info.channels]! < 100;
    expect([20, 40, 60].map((y) => dark(y + 5))).toEqual([20, 40, 60].map((y) => y === page * 20));
  }
  await expect(images.read(bytes, { type: 'tiff', maxPages: 2 })).rejects.toThrow('Too large to read: it has 3 pages');
});

test('a damaged page of a TIFF is blank, and costs the others nothing', async () => {
  const bytes = multiPageTiff(3, 240, 120);
  // The second directory says that its strip lies behind the end of the file.
  const second = bytes.readUInt32LE(8 + 2 + 10 * 12);
  bytes.writeUInt32LE(bytes.length + 5_000, second + 2 + 6 * 12 + 8);
  const damaged: unknown[] = [];
  const copy = await images.toPdf(bytes, { type: 'tiff', onDamage: (page, damage) => damaged.push([page, damage]) });
  expect(damaged).toEqual([[2, 'lost']]);
  const { pages } = await pdf.read(copy);
  expect(pages.map(({ fate }) => fate)).toEqual(['image_only', 'empty', 'image_only']);
  expect(Math.abs(pages[1]!.width! - pages[0]!.width!)).toBeLessThan(2);
  expect((await images.read(bytes, { type: 'tiff' })).pages).toHaveLength(3);
  for (const at of [8, second]) bytes.writeUInt32LE(bytes.length + 5_000, at + 2 + 6 * 12 + 8);
  const third = bytes.readUInt32LE(second + 2 + 10 * 12);
  bytes.writeUInt32LE(bytes.length + 5_000, third + 2 + 6 * 12 + 8);
  await expect(images.toPdf(bytes, { type: 'tiff' })).rejects.toThrow(/^It is damaged/);
});

test('a JPEG that is slightly cut is shown as far as it goes, one that is mostly missing is not', async () => {
  const noise = sharp({ create: { width: 800, height: 800, channels: 3, background: 'white', noise: { type: 'gaussian', mean: 128, sigma: 60 } } });
  const whole = await noise.clone().jpeg().toBuffer();
  const damaged: unknown[] = [];
  const copy = await images.toPdf(whole.subarray(0, whole.length * 0.9), { type: 'jpg', onDamage: (page, damage) => damaged.push([page, damage]) });
  expect(damaged).toEqual([[1, 'partly']]);
  expect((await pdf.read(copy)).pages).toMatchObject([{ fate: 'image_only' }]);
  const refused = expect.objectContaining({ reason: expect.stringMatching(/^It is damaged/) as string }) as unknown;
  expect(await images.toPdf(whole.subarray(0, whole.length * 0.2), { type: 'jpg' }).catch((error: unknown) => error)).toEqual(refused);
  // Of what its decoder leaves of a cut PNG nobody can say how much is the picture.
  const png = await noise.clone().png().toBuffer();
  expect(await images.toPdf(png.subarray(0, png.length * 0.9), { type: 'png' }).catch((error: unknown) => error)).toEqual(refused);
});

test('a preview inside a TIFF is no page', async () => {
  expect((await images.read(multiPageTiff(3, 240, 120, 1), { type: 'tiff' })).pages).toHaveLength(2);
});

describe('what cannot be read', () => {
  /** A PNG that says it has 60,000 × 60,000 pixels of one bit. */
  const huge = (): Buffer => {
    const chunk = (type: string, data: Buffer): Buffer => {
      const out = Buffer.alloc(12 + data.length);
      out.writeUInt32BE(data.length, 0);
      out.write(type, 4, 'latin1');
      data.copy(out, 8);
      return out;
    };
    const header = Buffer.alloc(13);
    header.writeUInt32BE(60_000, 0);
    header.writeUInt32BE(60_000, 4);
    header[8] = 1;
    return Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), chunk('IHDR', header), chunk('IDAT', deflateSync(Buffer.alloc(1000))), chunk('IEND', Buffer.alloc(0))]);
  };
  const cases: [string, () => Promise<Buffer>, RegExp][] = [
    ['no bytes', async () => Buffer.alloc(0), /^It is empty/],
    ['not a picture', async () => Buffer.from('\x89PNG\r\n\x1a\nbut nothing else', 'latin1'), /^It is damaged/],
    ['far too many pixels', async () => huge(), /^(Too large to read|It is damaged)/],
    ['cut off', async () => (await flag(900, 600).png().toBuffer()).subarray(0, 400), /^It is damaged/],
  ];
  for (const [what, make, reason] of cases) {
    test(what, async () => {
      const bytes = await make();
      await expect(images.toPdf(bytes, { type: 'png' })).rejects.toThrow(reason);
    });
  }
  test('the limit on pixels is a setting', async () => {
    const strict = createImageReader({ sandbox: await createSandbox(), maxPixels: 100_000 });
    await expect(strict.read(await flag(900, 600).png().toBuffer(), { type: 'png' })).rejects.toThrow('more than 0.1 million pixels');
    await strict.close();
  });
});

const scan = [process.env['SERGO_SHARED'], '../shared', '../../shared'].map((path) => join(path ?? '/nowhere', 'corpus', 'img-scan-page.tif')).find((path) => existsSync(path));
test.skipIf(scan === undefined)('two scanned pages of the corpus', async () => {
  const copy = await images.toPdf(scan!, { type: 'tiff' });
  expect((await pdf.read(copy)).pages.map((p) => p.fate)).toEqual(['image_only', 'image_only']);
});
