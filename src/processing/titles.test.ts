/** A file's own title is found by words and meaning, outlives renames, and goes with the reading whose pages serve. */
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { UserActor } from '../access/actor.ts';
import { excerpts } from '../app/excerpts.ts';
import { changeDocument, getDocument, restoreDocument, trashDocument } from '../library/documents.ts';
import { replaceDocument } from '../library/uploads.ts';
import { createSearchIndex } from '../search/pool.ts';
import type { SearchIndex } from '../search/types.ts';
import { passageText } from '../search/vectors/passage.ts';
import { openVectorStore } from '../storage/sqlite/vector-store.ts';
import { bytesOf, openTestLibrary, type TestLibrary } from '../../test/support/library.ts';
import { preparePages, writePages } from './commit.ts';
import type { ProcessingDeps } from './deps.ts';

let library: TestLibrary;
let index: SearchIndex;
let ava: UserActor & { rootId: string };
let root: number;
beforeEach(async () => {
  library = await openTestLibrary({ realIndex: true });
  index = createSearchIndex({ databasePath: join(library.folder, 'sergo.db'), threads: 1 });
  ava = await library.person('Ava Bennett');
  root = (await library.storage.folders.byIdOrAny(ava.rootId))!.ref;
});
afterEach(async () => {
  await index.close();
  await library.close();
});

/** What a reading that found this title and text leaves. */
async function read(id: string, title: string | undefined, text: string, whileReading?: () => Promise<unknown>): Promise<void> {
  const row = (await library.storage.documents.byId(id))!;
  const pages = [{ number: 1, text, fate: 'text' as const, toView: false }];
  const processing = { storage: library.storage, excerpts, clock: library.clock } as unknown as ProcessingDeps;
  const prepared = await preparePages(processing, row, { type: 'md', pages, pagesEstimated: true, ...(title === undefined ? {} : { title }) });
  await whileReading?.();
  await library.storage.transaction((stores) => writePages(stores, row, prepared));
}

const found = async (query: string): Promise<number> => (await index.rank({ query, scope: { folders: [root], documents: [] }, depth: 10 })).length;

/** What an embedding model would be given. */
function passages(): string[] {
  const store = openVectorStore(join(library.folder, 'sergo.db'));
  store.choose('model', {});
  const texts = store.next(store.models()[0]!.ref, 10).map(passageText);
  store.close();
  return texts;
}

test('a title is in words and passages, and a rename takes neither away', async () => {
  const { id } = await library.upload(ava, ava.rootId, 'scan0007.md');
  await read(id, 'Annual Zebra Outlook', 'Prices rise.');
  expect([await found('zebra'), await found('scan0007')]).toEqual([1, 1]);
  expect(passages()).toEqual(['Annual Zebra Outlook\nPrices rise.']);
  const letter = await library.upload(ava, ava.rootId, 'letter.md');
  await read(letter.id, undefined, 'As the annual zebra outlook and the Okapi report say.');
  await changeDocument(library, ava, id, { name: 'Okapi report.md' });
  expect([await found('zebra'), await found('okapi'), await found('scan0007')]).toEqual([2, 2, 0]);
  expect([await found('"annual zebra outlook"'), await found('"okapi report"'), await found('"report okapi"')]).toEqual([2, 2, 2]);
  await trashDocument(library, ava, letter.id);
  expect(passages()[0]).toBe('Annual Zebra Outlook\nPrices rise.');
  await trashDocument(library, ava, id);
  await restoreDocument(library, ava, id);
  expect([await found('zebra'), await found('okapi')]).toEqual([1, 1]);
  expect(JSON.stringify(await getDocument(library, ava, id))).not.toContain('Zebra');
});

test('a name given while it is read stands beside the title', async () => {
  const { id } = await library.upload(ava, ava.rootId, 'scan0007.md');
  await read(id, 'Annual Zebra Outlook', 'Prices rise.', () => changeDocument(library, ava, id, { name: 'Okapi report.md' }));
  expect([await found('zebra'), await found('okapi'), await found('scan0007')]).toEqual([1, 1, 0]);
});

test('a file that takes another’s place brings its own title with its pages, or none', async () => {
  const { id } = await library.upload(ava, ava.rootId, 'scan0007.md');
  await read(id, 'Annual Zebra Outlook', 'Prices rise.');
  await replaceDocument(library, ava, id, { name: 'Okapi report.md', source: bytesOf('new') });
  // The pages from before serve until the new ones are read.
  expect([await found('zebra'), await found('okapi')]).toEqual([1, 1]);
  await read(id, 'Annual Gnu Outlook', 'Prices fall.');
  expect([await found('zebra'), await found('gnu'), await found('okapi')]).toEqual([0, 1, 1]);
  expect(passages()).toEqual(['Annual Gnu Outlook\nPrices fall.']);
  await replaceDocument(library, ava, id, { source: bytesOf('newer') });
  await read(id, undefined, 'Prices stay.');
  expect([await found('gnu'), await found('okapi')]).toEqual([0, 1]);
  expect(passages()).toEqual(['Okapi report\nPrices stay.']);
});

test('documents of before titles were kept go by their names', async () => {
  const { id } = await library.upload(ava, ava.rootId, 'Okapi report.md');
  await read(id, 'Annual Zebra Outlook', 'Prices rise.');
  const row = (await library.storage.documents.byId(id))!;
  await library.storage.transaction((stores) => stores.documents.update(row.ref, { title: null }));
  expect(passages()).toEqual(['Okapi report\nPrices rise.']);
});
