import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { FileTime } from '../formats/file-time.ts';
import { UnreadableFile, type ReadPage, type ReadResult } from '../formats/types.ts';
import { analyseDocument } from '../search/analysis/document.ts';
import { createSearchIndex } from '../search/pool.ts';
import { openDiskBlobs } from '../storage/blobs/disk.ts';
import type { BlobStore, DocumentRow, Storage } from '../storage/ports.ts';
import { openSqliteStorage } from '../storage/sqlite/open.ts';
import type { ProcessingDeps } from './deps.ts';
import { reapOrphans } from './reaper.ts';
import { createPageViewer, pageViewState } from './view-page.ts';
import { workOnce } from './worker.ts';

/** Readers here are fakes that say what a test wants said; the real ones have tests of their own in formats/. */
let folder: string;
let storage: Storage;
let blobs: BlobStore;
let now: number;
let root: number;
let owner: number;
let read: (type: string, bytes: Buffer) => Promise<ReadResult>;
const never = new AbortController().signal;

const page = (number: number, text: string, more: Partial<ReadPage> = {}): ReadPage => ({ number, text, fate: text ? 'text' : 'image_only', toView: text === '', ...more });
const result = (pages: ReadPage[], more: Partial<ReadResult> = {}): ReadResult => ({ type: 'pdf', pages, pagesEstimated: false, ...more });

function makeDeps(change: Partial<ProcessingDeps> = {}): ProcessingDeps {
  return {
    storage, blobs, clock: { now: () => now },
    reader: {
      sniff: async (file) => file.name.split('.').pop() ?? null,
      read: async (type, file) => read(type, await readFile(file.path)),
    },
    copies: { missing: () => null, toPdf: async (file) => readFile(file.path) },
    ocr: { missing: async () => undefined, read: async () => new Map(), searchablePdf: async (_file, _pages, _signal, keep) => keep(Readable.from([])) },
    placeInnerFiles: async () => 0,
    roomInside: async () => ({ files: 10_000, bytes: 1 << 30 }),
    excerpts: {
      chunk: ({ pages }) => pages.filter((each) => each.text !== '').map((each, position) => ({ position, page: each.number, section: null, text: each.text })),
      analyse: async ({ name }, chunks) => analyseDocument({ title: name }, chunks),
    },
    audit: async () => {},
    limits: { pages: 5_000, unpackedBytes: 1 << 30 },
    log: { info() {}, warn() {} },
    ...change,
  };
}

async function upload(name: string, change: Partial<DocumentRow> = {}): Promise<number> {
  const blob = await blobs.putBytes(Buffer.from(name));
  return storage.transaction(async (stores) => {
    const ref = await stores.documents.insert({
      id: randomBytes(4).toString('hex'), folder: root, owner, name, type: 'pdf', preset: 'basic', status: 'processing', reason: null,
      notices: [], progress: null, sha256: blob.sha256, bytes: blob.bytes, pages: null, pagesEstimated: false, pagesToView: [],
      imageOnlyPages: [], pdfCopy: 'none', uploadedAt: now, uploadedBy: owner, generation: 1, container: null, ...change,
    });
    await stores.files.put({ document: ref, kind: 'original', name, mime: 'x', ...blob, createdAt: now });
    await stores.jobs.enqueue({ kind: 'read', document: ref, generation: 1, owner, weight: 1, availableAt: now, createdAt: now });
    return ref;
  });
}
const drain = async (deps = makeDeps()): Promise<void> => {
  while (await workOnce(deps, never)) now += 5_000;
};

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sergo-processing-'));
  now = 1_000_000;
  storage = await openSqliteStorage({ path: join(folder, 'sergo.db') });
  blobs = await openDiskBlobs({ folder: join(folder, 'blobs') });
  owner = await storage.users.insert({ id: 'u', name: 'Ava', email: 'a@example.com', passwordHash: 'x', role: 'member', createdAt: 1 });
  root = await storage.folders.insert({ id: 'f', parent: null, owner, name: "Ava's documents", nameKey: 'a', createdAt: 1 });
});
afterEach(async () => {
  await storage.close();
  await rm(folder, { recursive: true, force: true });
});

test('a file becomes pages, excerpts and a status in one step, and its marks are counted', async () => {
  read = async () => result([page(1, 'one'), page(2, ''), page(3, 'three', { toView: true })]);
  const ref = await upload('a.pdf');
  await drain();
  expect(await storage.documents.byRef(ref)).toMatchObject({ status: 'ready', pages: 3, pagesToView: [2, 3], imageOnlyPages: [2], reason: null });
  expect((await storage.chunks.ofDocument(ref)).map((chunk) => [chunk.page, chunk.text])).toEqual([[1, 'one'], [3, 'three']]);
});

test('what is wrong with the file ends in not_indexed with its reason, at the first attempt', async () => {
  let attempts = 0;
  read = async () => {
    attempts += 1;
    throw new UnreadableFile('It needs a password to open — upload a copy without one');
  };
  const ref = await upload('a.pdf');
  await drain();
  expect(await storage.documents.byRef(ref)).toMatchObject({ status: 'not_indexed', reason: 'It needs a password to open — upload a copy without one' });
  expect(attempts).toBe(1);
});

test('what reading, converting and reading the copy may take is one time, over all attempts', async () => {
  const lefts: number[] = [];
  const takes = async (time: FileTime | undefined, ms: number): Promise<void> => {
    lefts.push(time!.leftMs());
    await time!.run(60_000, () => new Promise((resolve) => setTimeout(resolve, ms)));
  };
  const deps = makeDeps({
    limits: { pages: 5_000, unpackedBytes: 1 << 30, readMs: 500 },
    reader: {
      sniff: async (file) => file.name.split('.').pop() ?? null,
      read: async (type, _file, { time }) => {
        await takes(time, 150);
        if (type === 'pdf') throw new Error('the child died');
        return result([page(1, 'slide')], { type });
      },
    },
    copies: { missing: () => null, toPdf: async (file, _type, { time }) => (await takes(time, 100), readFile(file.path)) },
  });
  const ref = await upload('a.pptx');
  const times = new Map<number, FileTime>();
  while (await workOnce(deps, never, { times })) now += 5_000;
  // Reading, converting and reading the copy each have what was left; so has a second attempt, and the third finds nothing.
  expect(lefts.length).toBeGreaterThanOrEqual(3);
  expect(lefts.length).toBeLessThanOrEqual(5);
  expect(lefts.toSorted((a, b) => b - a)).toEqual(lefts);
  // Of 500 ms the reading took 150 and the conversion 100; a timer may fire up to a millisecond early.
  expect(lefts[2]).toBeLessThanOrEqual(252);
  expect(await storage.documents.byRef(ref)).toMatchObject({ status: 'failed', reason: expect.stringContaining('in the time that one file may take') as string });
  expect(times.size).toBe(0);
});

test('a poison file fails after three attempts and does not stop the others', async () => {
  const attempts = new Map<string, number>();
  read = async (_type, bytes) => {
    const name = bytes.toString();
    attempts.set(name, (attempts.get(name) ?? 0) + 1);
    if (name === 'poison.pdf') throw new Error('the child died');
    return result([page(1, 'fine')]);
  };
  const poison = await upload('poison.pdf');
  const fine = await upload('fine.pdf');
  await drain();
  while (await workOnce(makeDeps(), never)) now += 5_000;
  now += 60_000;
  await drain();
  expect(attempts.get('poison.pdf')).toBe(3);
  expect(await storage.documents.byRef(poison)).toMatchObject({ status: 'failed' });
  expect((await storage.documents.byRef(poison))?.reason).toMatch(/three attempts/);
  expect(await storage.documents.byRef(fine)).toMatchObject({ status: 'ready' });
});

test('a job whose worker died each time is ended without being run again', async () => {
  let runs = 0;
  read = async () => {
    runs += 1;
    return result([page(1, 'x')]);
  };
  const ref = await upload('a.pdf');
  for (let died = 0; died < 3; died++) {
    await storage.jobs.lease(['read'], now, 1_000, `dead-${died}`);
    now += 2_000;
  }
  await drain();
  expect(runs).toBe(0);
  expect(await storage.documents.byRef(ref)).toMatchObject({ status: 'failed' });
});

test('a cancelled or replaced reading writes nothing', async () => {
  const ref = await upload('a.pdf');
  read = async () => {
    await storage.jobs.cancelOfDocument(ref, now);
    return result([page(1, 'too late')]);
  };
  await drain();
  expect(await storage.documents.byRef(ref)).toMatchObject({ status: 'processing', pages: null });
  expect(await storage.chunks.ofDocument(ref)).toEqual([]);
});

test('a failed reprocessing leaves the old pages serving and says so', async () => {
  read = async () => result([page(1, 'old')]);
  const ref = await upload('a.pdf');
  await drain();
  await storage.documents.update(ref, { status: 'processing', generation: 2 });
  await storage.jobs.enqueue({ kind: 'read', document: ref, generation: 2, owner, weight: 1, availableAt: now, createdAt: now });
  read = async () => {
    throw new UnreadableFile('Damaged: no page could be read');
  };
  await drain();
  const document = await storage.documents.byRef(ref);
  expect(document).toMatchObject({ status: 'ready', pages: 1 });
  expect(document?.notices[0]).toMatch(/still serve: Damaged/);
  expect((await storage.chunks.ofDocument(ref)).map((chunk) => chunk.text)).toEqual(['old']);
});

test('a scan read with Basic is not indexed, says what to do, and keeps its pages', async () => {
  read = async () => result([page(1, ''), page(2, '')]);
  const ref = await upload('scan.pdf');
  await drain();
  const document = await storage.documents.byRef(ref);
  expect(document).toMatchObject({ status: 'not_indexed', pages: 2, imageOnlyPages: [1, 2] });
  expect(document?.reason).toMatch(/pictures.*view_page/);
});

test('a deck takes text from its copy and marks from its slides', async () => {
  read = async (type) =>
    type === 'pptx'
      ? result([page(1, 'Slide one', { toView: true, notes: 'say hello' }), page(2, 'Slide two')], { type: 'pptx' })
      : result([page(1, 'Slide one as drawn', { toView: false, width: 720, height: 405 }), page(2, 'Slide two as drawn', { toView: true })]);
  const ref = await upload('deck.pptx');
  await drain();
  const document = await storage.documents.byRef(ref);
  expect(document).toMatchObject({ type: 'pptx', pdfCopy: 'ready', pagesToView: [1], pages: 2 });
  expect(await storage.pages.get(ref, 1)).toMatchObject({ text: 'Slide one as drawn', notes: 'say hello', width: 720, toView: true });
  expect(await storage.files.get(ref, 'pdf-copy')).toMatchObject({ sha256: createHash('sha256').update('deck.pptx').digest('hex') });
});

test('a page of a picture file that is damaged is a page that could not be read, and is named', async () => {
  read = async (type) => result([1, 2, 3].map((number) => page(number, '', type === 'pdf' && number === 2 ? { fate: 'empty', toView: false } : {})), { type });
  const ref = await upload('scans.tiff');
  const damaging = (damage: [number, 'partly' | 'lost'][]): Partial<ProcessingDeps> => ({
    copies: {
      missing: () => null,
      toPdf: async (file, _type, { onDamage }) => {
        for (const each of damage) onDamage?.(...each);
        return readFile(file.path);
      },
    },
  });
  await drain(makeDeps(damaging([[2, 'lost'], [3, 'partly']])));
  expect((await storage.pages.range(ref, 1, 3)).map(({ fate }) => fate)).toEqual(['image_only', 'failed', 'image_only']);
  expect((await storage.documents.byRef(ref))?.notices).toEqual([
    'Page 2 is damaged: nothing of it could be read — upload an intact copy to have all of it',
    'Page 3 is damaged: its end is missing, what is left is shown — upload an intact copy to have all of it',
  ]);
  read = async (type) => result([page(1, '')], { type });
  const single = await upload('photo.jpg');
  await drain(makeDeps(damaging([[1, 'partly']])));
  expect((await storage.documents.byRef(single))?.notices).toEqual(['The picture is damaged: its end is missing, what is left is shown — upload an intact copy to have all of it']);
});

test('without LibreOffice a deck is read from its slides and says what is missing', async () => {
  read = async () => result([page(1, 'Slide one')], { type: 'pptx' });
  const ref = await upload('deck.pptx');
  await drain(makeDeps({ copies: { missing: () => 'LibreOffice is missing: no pictures of its pages', toPdf: () => Promise.reject(new Error('no')) } }));
  expect(await storage.documents.byRef(ref)).toMatchObject({ status: 'ready', pdfCopy: 'none', notices: ['LibreOffice is missing: no pictures of its pages'] });
});

test('a workbook whose copy has not one page a sheet says so until a copy has', async () => {
  let drawn = 2;
  read = async (type) => (type === 'xlsx' ? result([page(1, 'Open'), page(2, 'Hidden'), page(3, 'Last')], { type: 'xlsx' }) : result(Array.from({ length: drawn }, (_, at) => page(at + 1, 'drawn'))));
  const ref = await upload('book.xlsx');
  await drain();
  const notices = ['The PDF copy has 2 pages for 3 sheets: pictures may show another sheet than the text'];
  expect(await storage.documents.byRef(ref)).toMatchObject({ type: 'xlsx', status: 'ready', pages: 3, pdfCopy: 'ready', notices });
  expect(await storage.pages.get(ref, 2)).toMatchObject({ text: 'Hidden' });
  for (drawn of [1, 3]) {
    await storage.jobs.enqueue({ kind: 'pdf-copy', document: ref, generation: 1, owner, weight: 1, availableAt: now, createdAt: now });
    await drain();
    const left = drawn === 3 ? [] : ['The PDF copy has 1 page for 3 sheets: pictures may show another sheet than the text'];
    expect((await storage.documents.byRef(ref))?.notices).toEqual(left);
  }
});

test.each([
  ['LibreOffice cannot convert it', { toPdf: () => Promise.reject(new UnreadableFile('LibreOffice could not load it')) }],
  ['the copy cannot be read', {}],
])('a deck whose copy cannot be made is read from its slides and says why: %s', async (_how, change) => {
  const slides = async (type: string): Promise<ReadResult> => {
    if (type === 'pdf') throw new UnreadableFile('LibreOffice could not load it');
    return result([page(1, 'Slide one', { notes: 'say hello' })], { type: 'pptx' });
  };
  read = slides;
  const ref = await upload('deck.pptx');
  const deps = makeDeps({ copies: { ...makeDeps().copies, ...change } });
  await drain(deps);
  const told = { status: 'ready', type: 'pptx', pdfCopy: 'failed', reason: null, notices: ['No PDF copy could be made: LibreOffice could not load it'] };
  expect(await storage.documents.byRef(ref)).toMatchObject(told);
  expect(await storage.pages.get(ref, 1)).toMatchObject({ text: 'Slide one', notes: 'say hello' });
  expect((await storage.chunks.ofDocument(ref)).map((chunk) => chunk.text)).toEqual(['Slide one']);
  await again(ref);
  await drain(deps);
  expect(await storage.documents.byRef(ref)).toMatchObject(told);
  // Slides without a word leave nothing to keep; neither is a copy from before given up for the same text.
  read = async (type) => (type === 'pdf' ? slides(type) : result([page(1, '')], { type }));
  const empty = await upload('empty.pptx');
  await drain(deps);
  expect(await storage.documents.byRef(empty)).toMatchObject({ status: 'not_indexed', reason: 'LibreOffice could not load it' });
  read = async (type) => result([page(1, 'Slide one')], { type });
  await again(ref);
  await drain();
  expect(await storage.documents.byRef(ref)).toMatchObject({ status: 'ready', pdfCopy: 'ready', notices: [] });
  read = slides;
  await again(ref);
  await drain(deps);
  expect(await storage.documents.byRef(ref)).toMatchObject({ status: 'ready', pdfCopy: 'ready', notices: [expect.stringContaining('did not succeed')] });
});

test("a Word file's estimated pages become its copy's pages, and its headings keep their places", async () => {
  const paragraph = (which: string): string => Array.from({ length: 40 }, (_, at) => `${which} sentence number ${at} says ${createHash('md5').update(`${which}${at}`).digest('hex')}.`).join(' ');
  const [first, second, third] = [paragraph('alpha'), paragraph('beta'), paragraph('gamma')];
  read = async (type) =>
    type === 'docx'
      ? result([page(1, `Intro\n${first}\n${second}\nLater\n${third}`, { sections: [{ start: 0, title: 'Intro' }, { start: `Intro\n${first}\n${second}\n`.length, title: 'Later' }] })], { type: 'docx', pagesEstimated: true })
      : result([page(1, `Intro ${first}`), page(2, second), page(3, `Later ${third}`)]);
  const ref = await upload('report.docx');
  const deps = makeDeps();
  expect(await workOnce(deps, never)).toBe(true);
  expect(await storage.documents.byRef(ref)).toMatchObject({ status: 'ready', pagesEstimated: true, pages: 1, pdfCopy: 'making' });
  await drain(deps);
  expect(await storage.documents.byRef(ref)).toMatchObject({ pagesEstimated: false, pages: 3, pdfCopy: 'ready' });
  expect((await storage.pages.get(ref, 2))?.text).toBe(second);
  expect(await storage.pages.get(ref, 3)).toMatchObject({ text: `Later\n${third}`, sections: [{ start: 0, title: 'Later' }] });
  expect((await storage.chunks.ofDocument(ref)).map((chunk) => chunk.page)).toEqual([1, 2, 3]);
});

test('the title that a file has stays with its pages: through its copy and a reading that fails, until a reading finds another', async () => {
  read = async (type) => result([page(1, 'text')], type === 'docx' ? { type, pagesEstimated: true, title: 'Coal to 2050' } : { title: 'Exported by a printer' });
  const ref = await upload('report.docx');
  const title = async (): Promise<unknown> => (await storage.documents.byRef(ref))!.title;
  await drain();
  expect(await storage.documents.byRef(ref)).toMatchObject({ pdfCopy: 'ready', pagesEstimated: false, title: 'Coal to 2050' });
  await again(ref);
  expect(await title()).toBe('Coal to 2050');
  read = async () => Promise.reject(new UnreadableFile('Damaged'));
  await drain();
  expect(await title()).toBe('Coal to 2050');
  await again(ref);
  read = async (type) => result([page(1, 'text')], { type });
  await drain();
  expect(await title()).toBeNull();
});

test('a copy that cannot be made leaves the estimated pages and says why', async () => {
  read = async () => result([page(1, 'text')], { type: 'docx', pagesEstimated: true });
  const ref = await upload('report.docx');
  await drain(makeDeps({ copies: { missing: () => null, toPdf: () => Promise.reject(new UnreadableFile('LibreOffice could not load it')) } }));
  const document = await storage.documents.byRef(ref);
  expect(document).toMatchObject({ status: 'ready', pdfCopy: 'failed', pagesEstimated: true });
  expect(document?.notices[0]).toMatch(/No PDF copy could be made: LibreOffice could not load it/);
});

/** OCR that finds the same words on each page it is asked for, and says which file it drew. */
function recognising() {
  const drawn: string[] = [];
  const ocr: ProcessingDeps['ocr'] = {
    missing: async () => undefined,
    read: async (file, pages) => (drawn.push(`${file.name} ${pages.join(',')}`), new Map(pages.map((number) => [number, { text: `recognised ${number}` }]))),
    searchablePdf: async (_file, _pages, _signal, keep) => keep(Readable.from([Buffer.from('searchable')])),
  };
  return { drawn, ocr };
}

test("a slide that is a scan with a title is recognised; a template's background is not", async () => {
  read = async (type) =>
    type === 'pptx'
      ? result([page(1, 'Exhibit', { toView: true }), page(2, 'Chapter two')], { type })
      : result([page(1, 'Exhibit', { scan: true, toView: true }), page(2, 'Chapter two', { scan: true, toView: true })]);
  const { drawn, ocr } = recognising();
  const ref = await upload('deck.pptx', { preset: 'basic-ocr' });
  await drain(makeDeps({ ocr }));
  expect(drawn).toEqual(['deck.pptx.pdf 1']);
  expect(await storage.pages.get(ref, 1)).toMatchObject({ fate: 'ocr', text: 'Exhibit\n\nrecognised 1' });
  expect(await storage.pages.get(ref, 2)).toMatchObject({ fate: 'text', text: 'Chapter two' });
});

test("a Word file's pictures are recognised in its copy, and it is processing until then", async () => {
  read = async (type) => result([page(1, '')], type === 'docx' ? { type, pagesEstimated: true } : {});
  const { drawn, ocr } = recognising();
  const deps = makeDeps({ ocr });
  const ref = await upload('scan.docx', { preset: 'basic-ocr' });
  await workOnce(deps, never);
  expect(drawn).toEqual([]);
  expect(await storage.documents.byRef(ref)).toMatchObject({ status: 'processing', pdfCopy: 'making', pages: 1, reason: null, notices: [] });
  let released = 0;
  await workOnce(deps, never, { onConverted: () => (released += 1) });
  expect([drawn, released]).toEqual([['scan.docx.pdf 1'], 1]);
  expect(await storage.documents.byRef(ref)).toMatchObject({ status: 'ready', pdfCopy: 'ready', imageOnlyPages: [], pagesToView: [1], notices: [] });
  expect(await storage.pages.get(ref, 1)).toMatchObject({ fate: 'ocr', text: 'recognised 1' });
  expect(await storage.files.get(ref, 'ocr')).toMatchObject({ name: 'scan.docx.ocr.pdf', bytes: 'searchable'.length });
});

test('a sheet that is a picture is recognised in its copy, typed sheets stay as they are', async () => {
  read = async (type) => (type === 'xlsx' ? result([page(1, 'sums', { notes: 'a note' }), page(2, '')], { type }) : result([page(1, 'sums as drawn'), page(2, '')]));
  const { drawn, ocr } = recognising();
  const ref = await upload('book.xlsx', { preset: 'basic-ocr' });
  await drain(makeDeps({ ocr }));
  expect(drawn).toEqual(['book.xlsx.pdf 2']);
  expect(await storage.pages.get(ref, 1)).toMatchObject({ fate: 'text', text: 'sums', notes: 'a note' });
  expect(await storage.pages.get(ref, 2)).toMatchObject({ fate: 'ocr', text: 'recognised 2' });
});

test('a picture in a Word file whose copy cannot be made ends with a reason, and one without LibreOffice says what is missing', async () => {
  read = async (type) => result([page(1, '')], type === 'docx' ? { type, pagesEstimated: true } : {});
  const ref = await upload('scan.docx', { preset: 'basic-ocr' });
  await drain(makeDeps({ copies: { missing: () => null, toPdf: () => Promise.reject(new UnreadableFile('LibreOffice could not load it')) } }));
  expect(await storage.documents.byRef(ref)).toMatchObject({ status: 'not_indexed', pdfCopy: 'failed', reason: expect.stringContaining('pictures') as string });
  const other = await upload('other.docx', { preset: 'basic-ocr' });
  await drain(makeDeps({ copies: { missing: () => 'LibreOffice is missing: no pictures of its pages', toPdf: () => Promise.reject(new Error('no')) } }));
  expect(await storage.documents.byRef(other)).toMatchObject({ status: 'not_indexed', pdfCopy: 'none', notices: ['LibreOffice is missing: no pictures of its pages'] });
});

test('a web page of pictures gets its copy to be recognised in; a book of pictures is told what helps', async () => {
  read = async (type) => result([page(1, '')], type === 'pdf' ? {} : { type, pagesEstimated: true });
  const { drawn, ocr } = recognising();
  const web = await upload('a.html', { preset: 'basic-ocr' });
  const book = await upload('a.epub', { preset: 'basic-ocr' });
  const plain = await upload('b.html');
  await drain(makeDeps({ ocr }));
  expect(drawn).toEqual(['a.html.pdf 1']);
  expect(await storage.documents.byRef(web)).toMatchObject({ status: 'ready', pdfCopy: 'ready' });
  expect(await storage.documents.byRef(book)).toMatchObject({ status: 'not_indexed', pdfCopy: 'none', reason: expect.stringMatching(/upload it as a PDF to have them read$/) as string });
  expect(await storage.documents.byRef(plain)).toMatchObject({ status: 'not_indexed', pdfCopy: 'none', reason: expect.stringContaining('Basic with OCR') as string });
});

/** Reads it again, as the library's `reprocessDocument` does. */
async function again(ref: number): Promise<void> {
  const { generation } = (await storage.documents.byRef(ref))!;
  await storage.jobs.cancelOfDocument(ref, now);
  await storage.documents.update(ref, { status: 'processing', reason: null, generation: generation + 1 });
  await storage.jobs.enqueue({ kind: 'read', document: ref, generation: generation + 1, owner, weight: 1, availableAt: now, createdAt: now });
}

test('a copy that is asked for during a reading waits for it: old pages never come back over new ones', async () => {
  read = async (type) => result([page(1, 'old words')], type === 'docx' ? { type, pagesEstimated: true } : {});
  const ref = await upload('report.docx');
  await drain();
  await again(ref);
  const { generation } = (await storage.documents.byRef(ref))!;
  await storage.jobs.enqueue({ kind: 'pdf-copy', document: ref, generation, owner, weight: 1, availableAt: now, createdAt: now });
  const reading = (await storage.jobs.lease(['read', 'pdf-copy'], now, 60_000, 'held'))!;
  expect(reading.kind).toBe('read');
  expect(await storage.jobs.lease(['read', 'pdf-copy'], now, 60_000, 'second')).toBeNull();
  await storage.jobs.retry(reading.ref, 'held', now, 'let go');
  read = async (type) => result([page(1, 'new words')], type === 'docx' ? { type, pagesEstimated: true } : {});
  await drain();
  expect(await storage.documents.byRef(ref)).toMatchObject({ status: 'ready', pdfCopy: 'ready' });
  expect((await storage.chunks.ofDocument(ref)).map((chunk) => chunk.text)).toEqual(['new words']);
  expect(await storage.jobs.openOfDocument(ref)).toEqual([]);
});

test('a failed reprocessing leaves the copy, and a document of pictures what it was', async () => {
  read = async (type) => result([page(1, '')], { type });
  const ref = await upload('scan.png');
  await drain();
  const before = (await storage.documents.byRef(ref))!;
  expect(before).toMatchObject({ status: 'not_indexed', pdfCopy: 'ready', pages: 1 });
  await again(ref);
  read = async () => Promise.reject(new UnreadableFile('Damaged'));
  await drain();
  expect(await storage.documents.byRef(ref)).toMatchObject({ status: 'not_indexed', reason: before.reason, pdfCopy: 'ready', pages: 1 });

  // A copy that was under way when it was read again is not waited for for ever, and it is made after all.
  read = async (type) => result([page(1, 'words')], { type, pagesEstimated: true });
  const report = await upload('report.docx');
  await workOnce(makeDeps(), never);
  expect(await storage.documents.byRef(report)).toMatchObject({ pdfCopy: 'making' });
  await again(report);
  read = async (type) => (type === 'docx' ? Promise.reject(new UnreadableFile('Damaged')) : result([page(1, 'words')], { type }));
  await workOnce(makeDeps(), never);
  expect(await storage.documents.byRef(report)).toMatchObject({ status: 'ready', pdfCopy: 'making' });
  await drain();
  expect(await storage.documents.byRef(report)).toMatchObject({ status: 'ready', pdfCopy: 'ready', pages: 1, notices: [expect.stringMatching(/still serve: Damaged/)] });
  expect(await storage.jobs.openOfDocument(report)).toEqual([]);

  // When the copy cannot be made either, that is the end of it.
  const second = await upload('second.docx');
  read = async (type) => result([page(1, 'words')], { type, pagesEstimated: true });
  await workOnce(makeDeps(), never);
  await again(second);
  read = async () => Promise.reject(new UnreadableFile('Damaged'));
  await drain();
  expect(await storage.documents.byRef(second)).toMatchObject({ status: 'ready', pdfCopy: 'failed' });
});

test('a name given while it is read is the name it is found by', async () => {
  const ref = await upload('draft.pdf');
  read = async () => {
    await storage.documents.update(ref, { name: 'zebra.pdf' });
    return result([page(1, 'stripes')]);
  };
  await drain();
  const index = createSearchIndex({ databasePath: join(folder, 'sergo.db'), threads: 1 });
  try {
    const found = async (query: string): Promise<number> => (await index.rank({ query, scope: { folders: [root], documents: [] }, depth: 10 })).length;
    expect(await found('zebra')).toBe(1);
    expect(await found('draft')).toBe(0);
  } finally {
    await index.close();
  }
});

test('progress of a reading that was cancelled is not written', async () => {
  const ref = await upload('a.pdf');
  const deps = makeDeps();
  deps.reader = {
    ...deps.reader,
    read: async (_type, _file, settings) => {
      await storage.jobs.cancelOfDocument(ref, now);
      await storage.documents.update(ref, { status: 'not_indexed' });
      now += 1_000;
      settings.onProgress?.(1, 2);
      return result([page(1, 'x')]);
    },
  };
  await workOnce(deps, never);
  await storage.check();
  expect(await storage.documents.byRef(ref)).toMatchObject({ status: 'not_indexed', progress: null });
});

test('a worker that is told to stop does not use up an attempt', async () => {
  const ref = await upload('a.pdf');
  for (let stops = 0; stops < 4; stops++) {
    const stop = new AbortController();
    read = async () => {
      stop.abort();
      throw new Error('stopped');
    };
    await workOnce(makeDeps(), stop.signal);
  }
  read = async () => result([page(1, 'fine')]);
  await drain();
  expect(await storage.documents.byRef(ref)).toMatchObject({ status: 'ready' });
});

test('what was drawn of an older copy goes with it, and drawings of a file that is gone are reaped', async () => {
  read = async (type) => result([page(1, 'slide')], { type });
  const ref = await upload('deck.pptx');
  let made = 0;
  const deps = makeDeps({ copies: { missing: () => null, toPdf: async () => Buffer.from(`copy ${made++}`) } });
  await drain(deps);
  const drawer = { draw: async () => Buffer.from(`drawn ${made}`), cut: async () => Buffer.from('cut') };
  const viewer = createPageViewer({ storage, blobs, drawer });
  await viewer.view((await storage.documents.byRef(ref))!, 1, 'png');
  const first = (await storage.files.get(ref, 'pdf-copy'))!.sha256;
  const drawing = (await storage.drawnPages.get(first, 1, 'png'))!;
  await again(ref);
  await drain(deps);
  expect(await storage.drawnPages.get(first, 1, 'png')).toBeNull();
  expect([await blobs.has(first), await blobs.has(drawing)]).toEqual([false, false]);

  await storage.drawnPages.put('f'.repeat(64), 1, 'png', drawing, 1);
  await viewer.view((await storage.documents.byRef(ref))!, 1, 'png');
  await reapOrphans({ storage, blobs, clock: { now: () => now } });
  expect(await storage.drawnPages.get('f'.repeat(64), 1, 'png')).toBeNull();
  expect(await storage.drawnPages.get((await storage.files.get(ref, 'pdf-copy'))!.sha256, 1, 'png')).not.toBeNull();
});

test('a page that cannot be drawn is a sentence, and a copy is on its way while a file is first read', async () => {
  const ref = await upload('report.docx', { type: 'docx' });
  const document = (await storage.documents.byRef(ref))!;
  expect(await pageViewState(storage, document)).toBe('making');
  const pdf = (await storage.documents.byRef(await upload('a.pdf')))!;
  const failing = (error: Error) => createPageViewer({ storage, blobs, drawer: { draw: () => Promise.reject(error), cut: () => Promise.reject(error) } });
  await expect(failing(new RangeError('This document has 2 pages')).view(pdf, 3, 'png')).rejects.toMatchObject({ code: 'invalid', message: 'This document has 2 pages' });
  await expect(failing(new UnreadableFile('Damaged')).view(pdf, 1, 'pdf')).rejects.toMatchObject({ code: 'not_ready', message: 'This page cannot be drawn: Damaged' });
});

test('a file that is replaced between look-up and drawing is drawn as it is now; one that is simply gone is an alarm', async () => {
  const stale = (await storage.documents.byRef(await upload('a.pdf')))!;
  const blob = await blobs.putBytes(Buffer.from('newer'));
  const viewer = createPageViewer({ storage, blobs, drawer: { draw: async (file) => readFile(file.path), cut: async () => Buffer.from('') } });
  await blobs.remove(stale.sha256);
  await expect(viewer.view(stale, 1, 'png')).rejects.toMatchObject({ code: 'ENOENT' });
  await storage.documents.update(stale.ref, blob);
  expect(Buffer.from(await viewer.view(stale, 1, 'png')).toString()).toBe('newer');
});
