import { readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { UserActor } from '../../src/access/actor.ts';
import { purgeDocument } from '../../src/library/documents.ts';
import { readPage } from '../../src/library/reading.ts';
import { replaceDocument } from '../../src/library/uploads.ts';
import type { DocumentView } from '../../src/library/views.ts';
import { UnreadableFile } from '../../src/formats/types.ts';
import type { ProcessingDeps } from '../../src/processing/deps.ts';
import { createPageViewer } from '../../src/processing/view-page.ts';
import { workOnce } from '../../src/processing/worker.ts';
import { analyseDocument } from '../../src/search/analysis/document.ts';
import { bytesOf, openTestLibrary, type TestLibrary } from '../support/library.ts';

// field.md "Index truth": text and picture of a page are of the same file, whichever one serves. Readers and drawer say the bytes.

let lib: TestLibrary;
let ava: UserActor & { rootId: string };
let broken = false;
beforeAll(async () => {
  lib = await openTestLibrary();
  ava = await lib.person('Ava Bennett');
});
afterAll(() => lib.close());

const typeOf = (name: string): string => name.split('.').pop()!;

async function work(): Promise<void> {
  const deps: ProcessingDeps = {
    storage: lib.storage, blobs: lib.blobs, clock: lib.clock,
    reader: {
      sniff: async (file) => typeOf(file.name),
      read: async (type, file) => {
        if (broken) throw new UnreadableFile('Damaged: no page could be read');
        const text = await readFile(file.path, 'utf8');
        return { type, pagesEstimated: false, pages: [{ number: 1, text, fate: 'text', toView: false }] };
      },
    },
    copies: { missing: () => null, toPdf: async (file) => Buffer.from(`copy of ${await readFile(file.path, 'utf8')}`) },
    ocr: { missing: async () => undefined, read: async () => new Map(), searchablePdf: async (_file, _pages, _signal, keep) => keep(Readable.from([])) },
    placeInnerFiles: async () => 0,
    roomInside: async () => ({ files: 10_000, bytes: 1 << 30 }),
    excerpts: {
      chunk: ({ pages }) => pages.map((each, position) => ({ position, page: each.number, section: null, text: each.text })),
      analyse: async ({ name }, chunks) => analyseDocument({ title: name }, chunks),
    },
    audit: async () => {},
    limits: { pages: 5_000, unpackedBytes: 1 << 30 },
    log: { info() {}, warn() {} },
  };
  while (await workOnce(deps, new AbortController().signal)) lib.clock.advance(5_000);
}

/** Text of page 1 and what its picture shows. */
async function seen(document: DocumentView): Promise<[string, string]> {
  const draw = async (file: { path: string }): Promise<Uint8Array> => Buffer.from(`picture of ${await readFile(file.path, 'utf8')}`);
  const viewer = createPageViewer({ storage: lib.storage, blobs: lib.blobs, drawer: { draw, cut: draw } });
  const row = (await lib.storage.documents.byRef(document.ref))!;
  return [(await readPage(lib, ava, document.id, 1)).text, Buffer.from(await viewer.view(row, 1, 'png')).toString()];
}
const replace = (document: DocumentView, text: string, name?: string): Promise<DocumentView> =>
  replaceDocument(lib, ava, document.id, { source: bytesOf(text), ...(name === undefined ? {} : { name }) });
const keeps = (sha256: string): Promise<boolean> => lib.blobs.has(sha256);

test('until the new file is read, text and picture are of the old one; then both of the new one, and the old one is gone', async () => {
  const document = await lib.upload(ava, ava.rootId, 'plan.pdf', 'old plan');
  await work();
  expect(await seen(document)).toEqual(['old plan', 'picture of old plan']);

  const between = await replace(document, 'plan in between');
  await replace(document, 'new plan');
  // Twice replaced before it was read: the pages are still the first one's, and nobody needs the second.
  expect(await seen(document)).toEqual(['old plan', 'picture of old plan']);
  expect([await keeps(document.sha256), await keeps(between.sha256)]).toEqual([true, false]);

  await work();
  expect(await seen(document)).toEqual(['new plan', 'picture of new plan']);
  expect(await keeps(document.sha256)).toBe(false);
});

test('a new file that cannot be read leaves the old pages with their pictures, until one can be', async () => {
  const document = await lib.upload(ava, ava.rootId, 'report.pdf', 'old report');
  await work();
  const { sha256 } = await replace(document, 'damaged');
  broken = true;
  await work();
  broken = false;
  expect((await lib.storage.documents.byRef(document.ref))!.notices[0]).toContain('pages from before still serve');
  expect(await seen(document)).toEqual(['old report', 'picture of old report']);
  await replace(document, 'better report');
  await work();
  expect(await seen(document)).toEqual(['better report', 'picture of better report']);
  expect([await keeps(document.sha256), await keeps(sha256)]).toEqual([false, false]);
});

test('a file of another kind: a PDF in the place of a Word file shows the copy of the Word file first', async () => {
  const document = await lib.upload(ava, ava.rootId, 'letter.docx', 'old letter');
  await work();
  expect((await seen(document))[1]).toBe('picture of copy of old letter');
  await replace(document, 'new letter', 'letter.pdf');
  expect((await seen(document))[1]).toBe('picture of copy of old letter');
  await work();
  expect(await seen(document)).toEqual(['new letter', 'picture of new letter']);

  await replace(document, 'never read');
  await purgeDocument(lib, ava, document.id);
  expect(await keeps(document.sha256)).toBe(false);
});
