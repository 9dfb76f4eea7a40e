import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { UnreadableFile, type ReadPage } from '../formats/types.ts';
import type { BlobStore } from '../storage/ports.ts';
import { withOcr, type Reading } from './ocr-pages.ts';
import type { Ocr, OcrPage } from './ports.ts';

const file = { path: '/nowhere', bytes: 1, name: 'a.pdf', owner: '1' };
const settings = { signal: new AbortController().signal };
const picture = (number: number, more: Partial<ReadPage> = {}): ReadPage => ({ number, text: '', fate: 'image_only', toView: true, ...more });
const readingOf = (pages: ReadPage[]): Reading => ({ result: { type: 'pdf', pages, pagesEstimated: false } });

/** Recognises what it is told to; the searchable PDF is the list of its pages. */
function depsOf(found: (page: number) => OcrPage, change: Partial<Ocr> = {}) {
  const asked: number[] = [];
  const ocr: Ocr = {
    missing: async () => undefined,
    read: async (_file, pages) => new Map(pages.map((page) => (asked.push(page), [page, found(page)]))),
    searchablePdf: async (_file, pages, _signal, keep) => keep(Readable.from([Buffer.from([...pages.keys()].join(','))])),
    ...change,
  };
  const blobs = {
    put: async (source: AsyncIterable<Uint8Array>) => {
      const bytes = await buffer(source);
      return { sha256: createHash('sha256').update(bytes).digest('hex'), bytes: bytes.length };
    },
  } as Partial<BlobStore> as BlobStore;
  return { deps: { ocr, blobs }, asked };
}

test('pictures, garbled pages and scans with a stamp are recognised, the stamp stays, typed pages are left alone', async () => {
  const { deps, asked } = depsOf((page) => ({ text: page === 4 ? 'CONFIDENTIAL' : `words of page ${page}` }));
  const stamp = { text: 'CONFIDENTIAL ABC000123', fate: 'text' as const, scan: true as const };
  const pages = [picture(1), picture(2, { fate: 'garbled' }), picture(3, { ...stamp, sections: [{ start: 0, title: 'Words of page' }] }), picture(4, stamp), picture(5, { text: 'typed', fate: 'text', toView: false })];
  const { result, ocr } = await withOcr(deps, 'basic-ocr', file, readingOf(pages), settings);
  expect(asked).toEqual([1, 2, 3, 4]);
  expect(result.pages.map(({ fate, text }) => [fate, text])).toEqual([
    ['ocr', 'words of page 1'],
    ['ocr', 'words of page 2'],
    ['ocr', 'CONFIDENTIAL ABC000123\n\nwords of page 3'],
    ['text', 'CONFIDENTIAL ABC000123'],
    ['text', 'typed'],
  ]);
  // Only pages of which something was recognised have words laid over them.
  expect(ocr).toMatchObject({ bytes: '1,2,3'.length });
  expect((await withOcr(deps, 'basic', file, readingOf(pages), settings)).result.pages).toEqual(pages);
});

test('a searchable PDF that cannot be written costs no words; one that cannot be kept is no fault of the file', async () => {
  const { deps } = depsOf(() => ({ text: 'words' }), { searchablePdf: () => Promise.reject(new UnreadableFile('qpdf is not installed on this server')) });
  const { result, ocr } = await withOcr(deps, 'basic-ocr', file, readingOf([picture(1)]), settings);
  expect(result).toMatchObject({ pages: [{ fate: 'ocr', text: 'words' }], notices: ['No searchable PDF is kept: qpdf is not installed on this server'] });
  expect(ocr).toBeUndefined();
  const full = depsOf(() => ({ text: 'words' }), { searchablePdf: () => Promise.reject(new Error('the disk is full')) });
  await expect(withOcr(full.deps, 'basic-ocr', file, readingOf([picture(1)]), settings)).rejects.toThrow('the disk is full');
});

test('of many pages that could not be read the first are named and the others counted', async () => {
  const { deps } = depsOf((page) => (page === 1 ? { text: 'words' } : { text: '', failed: 'it could not be drawn' }));
  const noticesOf = async (count: number) => (await withOcr(deps, 'basic-ocr', file, readingOf(Array.from({ length: count }, (_, at) => picture(at + 1))), settings)).result.notices;
  const named = [2, 3, 4, 5, 6].map((page) => `Page ${page} could not be read: it could not be drawn`);
  expect(await noticesOf(6)).toEqual(named);
  expect(await noticesOf(7)).toEqual([...named, '1 more page could not be read']);
  expect(await noticesOf(40)).toEqual([...named, '34 more pages could not be read']);
});
