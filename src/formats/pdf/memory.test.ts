import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createSandbox } from '../../sandbox/sandbox.ts';
import type { Child, Sandbox } from '../../sandbox/types.ts';
import { createPdfReader, type PdfReader } from '../pdf.ts';
import { lines, makePdf, scanPage } from './testing/pdf-writer.ts';

vi.setConfig({ testTimeout: 300_000 });

/** Half of what ships (1 GiB): what goes through here has room to spare. */
const CAP = 512 * 1024 ** 2;
const MB = 1024 ** 2;
const folder = mkdtempSync(join(tmpdir(), 'sergo-pdf-memory-'));
const children: Child[] = [];
let reader: PdfReader;

beforeAll(async () => {
  const sandbox = await createSandbox();
  const watched: Sandbox = {
    ...sandbox,
    startChild: async (spec) => {
      const child = await sandbox.startChild(spec);
      children.push(child);
      return child;
    },
  };
  reader = createPdfReader({ sandbox: watched, size: 1, limits: { memoryBytes: CAP } });
});
afterAll(async () => {
  await reader.close();
  rmSync(folder, { recursive: true });
});

/** Largest resident size of this process while `work` runs, beyond what it was before. */
async function growth<T>(work: () => Promise<T>): Promise<{ result: T; grownBytes: number }> {
  const before = process.memoryUsage().rss;
  let most = before;
  const timer = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 20);
  try {
    const result = await work();
    return { result, grownBytes: most - before };
  } finally {
    clearInterval(timer);
  }
}

const peak = (): number => Math.max(...children.map((child) => child.peakBytes));

test('2,000 pages of text: every page is there, in half the memory that is allowed', async () => {
  const path = join(folder, 'long.pdf');
  const body = Array.from({ length: 40 }, (_, n) => `Line ${n} of a page in a long report about many different things.`);
  writeFileSync(path, makePdf({ pages: Array.from({ length: 2000 }, (_, n) => ({ content: lines([`Page ${n + 1}`, ...body], 72, 740) })) }));
  const seen: number[] = [];
  const { result, grownBytes } = await growth(() => reader.read(path, { onProgress: (done) => seen.push(done) }));
  expect(result.pages).toHaveLength(2000);
  expect(result.pages.every((page, n) => page.fate === 'text' && page.text.startsWith(`Page ${n + 1}\n`))).toBe(true);
  expect(result.notices).toBeUndefined();
  expect(seen.at(-1)).toBe(2000);
  expect(peak()).toBeLessThan(CAP);
  expect(grownBytes).toBeLessThan(200 * MB);
});

test('a scan of 184 pages and 80 MB: every page is told, drawn and cut by its path', async () => {
  const path = join(folder, 'scan.pdf');
  // Noise does not compress: each page is as large as a real colour scan.
  const [width, height] = [1000, 1400];
  const jpeg = await sharp(randomBytes(width * height), { raw: { width, height, channels: 1 } }).toColourspace('b-w').jpeg({ quality: 30 }).toBuffer();
  const count = 184;
  const padded = Buffer.concat([jpeg, Buffer.alloc(Math.max(0, Math.ceil((80 * MB) / count) - jpeg.length))]);
  writeFileSync(path, makePdf({ pages: Array.from({ length: count }, () => scanPage(padded, width, height, 120)) }), { mode: 0o600 });
  const { result, grownBytes } = await growth(async () => {
    const { pages } = await reader.read(path, { key: 'scan' });
    const png = await reader.draw(path, count, { key: 'scan' });
    return { pages, png, alone: await reader.cut(path, count) };
  });
  expect(result.pages.map((page) => page.fate)).toEqual(Array.from({ length: count }, () => 'image_only'));
  expect((await sharp(result.png).metadata()).height).toBe(1283);
  expect(result.alone.byteLength).toBeLessThan(2 * MB);
  expect(peak()).toBeLessThan(CAP);
  expect(grownBytes).toBeLessThan(250 * MB);
});
