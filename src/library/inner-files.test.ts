import { afterAll, beforeAll, expect, test } from 'vitest';
import type { UserActor } from '../access/actor.ts';
import { openTestLibrary, type TestLibrary } from '../../test/support/library.ts';
import { changeDocument, getDocument, restoreDocument, trashDocument } from './documents.ts';
import { getFolder, listTrash, restoreFolder } from './folders.ts';
import { placeInnerFiles, roomInside } from './inner-files.ts';

let lib: TestLibrary;
let ava: UserActor & { rootId: string };
beforeAll(async () => {
  lib = await openTestLibrary();
  ava = await lib.person('Ava Bennett');
});
afterAll(() => lib.close());

/** Ends the reading of a document as processing does, with the row it had when the reading began. */
async function place(id: string, type: string, names: string[], meanwhile: () => Promise<unknown> = async () => {}): Promise<number> {
  const before = { ...(await lib.storage.documents.byId(id))!, type };
  await meanwhile();
  const files = await Promise.all(names.map(async (path) => ({ path, blob: await lib.blobs.putBytes(Buffer.from(path)) })));
  return lib.storage.transaction((stores) => placeInnerFiles(stores, lib, before, files));
}
const namesIn = async (folderId: string): Promise<string[]> => (await getFolder(lib, ava, folderId)).documents.map((document) => document.name);

test('an attachment whose name had to be cleaned is not made twice', async () => {
  const folder = await lib.folderIn(ava, ava.rootId, 'Names');
  const mail = await lib.upload(ava, folder, 'mail.eml');
  const names = ['reports/final\u202e.txt', '  ', 'plain.txt'];
  expect(await place(mail.id, 'eml', names)).toBe(3);
  expect(await place(mail.id, 'eml', names)).toBe(0);
  expect(await namesIn(folder)).toEqual(['final.txt', 'mail.eml', 'plain.txt', 'untitled']);
});

test('attachments go where the mail is now', async () => {
  const [from, to] = [await lib.folderIn(ava, ava.rootId, 'From'), await lib.folderIn(ava, ava.rootId, 'To')];
  const mail = await lib.upload(ava, from, 'moved.eml');
  await place(mail.id, 'eml', ['a.txt'], () => changeDocument(lib, ava, mail.id, { folderId: to }));
  expect(await namesIn(from)).toEqual([]);
  expect(await namesIn(to)).toEqual(['a.txt', 'moved.eml']);
});

test('what comes out of a file in the trash is in the trash', async () => {
  const folder = await lib.folderIn(ava, ava.rootId, 'Thrown away');
  const mail = await lib.upload(ava, folder, 'mail.eml');
  await place(mail.id, 'eml', ['inside.txt'], () => trashDocument(lib, ava, mail.id));
  expect(await namesIn(folder)).toEqual([]);
  const inside = (await listTrash(lib, ava)).documents.find((document) => document.name === 'inside.txt')!;
  await expect(getDocument(lib, ava, inside.id)).rejects.toMatchObject({ code: 'not_found' });
  await restoreDocument(lib, ava, inside.id);
  expect(await namesIn(folder)).toEqual(['inside.txt']);

  const archive = await lib.upload(ava, folder, 'bundle.zip');
  await place(archive.id, 'zip', ['deep/a.txt', 'b.txt'], () => trashDocument(lib, ava, archive.id));
  expect((await getFolder(lib, ava, folder)).folders).toEqual([]);
  const bundle = (await listTrash(lib, ava)).folders.find((one) => one.name === 'bundle')!;
  await restoreFolder(lib, ava, bundle.id);
  expect(await namesIn(bundle.id)).toEqual(['b.txt']);
});

test('what comes out of one archive shares one limit, however deep it lies, and reading it again costs nothing', async () => {
  const limits = { ...lib.limits, maxInnerFiles: 5, maxInnerBytes: 1_000 };
  const deps = { ...lib, limits };
  const folder = await lib.folderIn(ava, ava.rootId, 'Limits');
  const outer = await lib.upload(ava, folder, 'outer.zip');
  const rowOf = async (name: string) => (await lib.storage.documents.byId((await getFolder(lib, ava, outerFolder)).documents.find((one) => one.name === name)!.id))!;
  const placeIn = async (row: Awaited<ReturnType<typeof rowOf>>, names: string[]): Promise<number> => {
    const files = await Promise.all(names.map(async (path) => ({ path, blob: await lib.blobs.putBytes(Buffer.from(path)) })));
    return lib.storage.transaction((stores) => placeInnerFiles(stores, deps, { ...row, type: 'zip' }, files));
  };
  const outerRow = (await lib.storage.documents.byId(outer.id))!;
  expect(await roomInside(lib.storage, deps, outerRow)).toEqual({ files: 5, bytes: 1_000 });
  expect(await placeIn(outerRow, ['a.zip', 'b.zip'])).toBe(2);
  const outerFolder = (await getFolder(lib, ava, folder)).folders[0]!.id;
  const [a, b] = [await rowOf('a.zip'), await rowOf('b.zip')];
  expect(await roomInside(lib.storage, deps, a)).toEqual({ files: 3, bytes: 990 });
  expect(await placeIn(a, ['1.txt', '2.txt'])).toBe(2);
  // b was begun when there was room for three.
  expect(await placeIn(b, ['3.txt', '4.txt', '5.txt'])).toBe(1);
  expect((await lib.storage.documents.byRef(b.ref))?.notices).toEqual([expect.stringMatching(/^2 files inside were left inside/)]);
  expect(await roomInside(lib.storage, deps, b)).toEqual({ files: 1, bytes: 980 });
  // Nothing is made twice, and nothing is said to be left that is there.
  expect(await placeIn(a, ['1.txt', '2.txt'])).toBe(0);
  expect((await lib.storage.documents.byRef(a.ref))?.notices).toEqual([]);
  // Bytes are limited as files are.
  const tight = { ...lib, limits: { ...limits, maxInnerFiles: 100, maxInnerBytes: 25 } };
  expect(await roomInside(lib.storage, tight, b)).toEqual({ files: 96, bytes: 5 });
  const deep = (await lib.storage.documents.byNameInFolder((await lib.storage.folders.byId((await getFolder(lib, ava, outerFolder)).folders[0]!.id))!.ref, '1.txt'))[0]!;
  expect(await roomInside(lib.storage, deps, deep)).toBeNull();
});
