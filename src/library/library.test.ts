import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { bytesOf, openTestLibrary, type TestLibrary } from '../../test/support/library.ts';
import type { UserActor } from '../access/actor.ts';
import { giveGrant } from '../access/grants.ts';
import { NOT_FOUND_SENTENCE } from '../errors.ts';
import { changeDocument, findByName, getDocument, listDocuments, purgeDocument, restoreDocument, trashDocument } from './documents.ts';
import { changeFolder, createFolder, getFolder, listRoots, listTrash, purgeFolder, restoreFolder, trashFolder } from './folders.ts';
import { placeInnerFiles } from './inner-files.ts';
import { cancelProcessing, makePdfCopy, reprocessDocument } from './processing.ts';
import { openFile, readPage } from './reading.ts';
import { admitUpload, replaceDocument, uploadDocument } from './uploads.ts';

let lib: TestLibrary;
let ava: UserActor & { rootId: string };
beforeEach(async () => {
  lib = await openTestLibrary();
  ava = await lib.person('Ava Bennett');
});
afterEach(() => lib.close());

const page = (number: number, text: string, toView = false) => ({
  number, text, toView, fate: text === '' ? ('image_only' as const) : ('text' as const), width: null, height: null, sections: [], notes: null, hidden: null,
});

describe('folders', () => {
  test('are made, listed with a path from the owner, and refused a second time under any form of the name', async () => {
    const made = await createFolder(lib, ava, { name: 'Énergie', parentId: ava.rootId });
    expect(made).toEqual({ id: expect.stringMatching(/^[0-9A-Za-z]{8}$/), name: 'Énergie', path: "Ava Bennett's documents/Énergie", parentId: ava.rootId });
    for (const twin of ['Énergie', 'E\u0301nergie', 'ÉNERGIE', ' énergie\u202e ']) {
      await expect(createFolder(lib, ava, { name: twin, parentId: ava.rootId })).rejects.toMatchObject({ code: 'conflict', field: 'name' });
    }
    expect((await getFolder(lib, ava, ava.rootId)).folders.map((folder) => folder.name)).toEqual(['Énergie']);
    expect((await listRoots(lib, ava)).map((folder) => folder.name)).toEqual(["Ava Bennett's documents"]);
  });

  test('go 32 deep and no deeper, by making and by moving', async () => {
    let parentId = ava.rootId;
    const ids: string[] = [];
    for (let depth = 2; depth <= 32; depth += 1) ids.push((parentId = await lib.folderIn(ava, parentId, `level ${depth}`)));
    await expect(createFolder(lib, ava, { name: 'too deep', parentId })).rejects.toMatchObject({ code: 'invalid' });
    const tall = await lib.folderIn(ava, ava.rootId, 'tall');
    await lib.folderIn(ava, tall, 'inside');
    await expect(changeFolder(lib, ava, tall, { parentId: ids.at(-2)! })).rejects.toMatchObject({ code: 'invalid' });
    await expect(changeFolder(lib, ava, tall, { parentId: ids.at(-3)! })).resolves.toMatchObject({ name: 'tall' });
  });

  test('never form a cycle, also when two movers cross', async () => {
    for (let round = 0; round < 20; round += 1) {
      const a = await lib.folderIn(ava, ava.rootId, `a${round}`);
      const b = await lib.folderIn(ava, ava.rootId, `b${round}`);
      const outcomes = await Promise.allSettled([changeFolder(lib, ava, a, { parentId: b }), changeFolder(lib, ava, b, { parentId: a })]);
      expect(outcomes.map((one) => one.status).toSorted()).toEqual(['fulfilled', 'rejected']);
    }
    const outer = await lib.folderIn(ava, ava.rootId, 'outer');
    const inner = await lib.folderIn(ava, outer, 'inner');
    await expect(changeFolder(lib, ava, outer, { parentId: inner })).rejects.toMatchObject({ code: 'conflict' });
    await expect(changeFolder(lib, ava, outer, { parentId: outer })).rejects.toMatchObject({ code: 'conflict' });
  });

  test('of an owner stay in the owner’s tree, and the root stays as it is', async () => {
    const bo = await lib.person('Bo Larsen');
    const folder = await lib.folderIn(ava, ava.rootId, 'Shared');
    await giveGrant(lib, bo, { folderId: bo.rootId }, { email: ava.user.email, right: 'edit' });
    await expect(changeFolder(lib, ava, folder, { parentId: bo.rootId })).rejects.toMatchObject({ code: 'invalid', field: 'parentId' });
    for (const work of [changeFolder(lib, ava, ava.rootId, { name: 'Mine' }), trashFolder(lib, ava, ava.rootId), purgeFolder(lib, ava, ava.rootId)]) {
      await expect(work).rejects.toMatchObject({ code: 'invalid' });
    }
  });

  test('go to the trash with all inside, and come back as they were', async () => {
    const outer = await lib.folderIn(ava, ava.rootId, 'Outer');
    const inner = await lib.folderIn(ava, outer, 'Inner');
    const kept = await lib.upload(ava, inner, 'kept.txt');
    const thrown = await lib.upload(ava, inner, 'thrown.txt');
    await trashDocument(lib, ava, thrown.id);
    await trashFolder(lib, ava, outer);
    expect(lib.index.live.get(kept.ref)).toBe(false);
    await expect(getDocument(lib, ava, kept.id)).rejects.toMatchObject({ code: 'not_found' });
    expect((await listDocuments(lib, ava, { limit: 10, offset: 0 })).total).toBe(0);
    expect((await listTrash(lib, ava)).folders.map((folder) => folder.name)).toEqual(['Outer']);
    await expect(restoreFolder(lib, ava, inner)).rejects.toMatchObject({ code: 'conflict' });

    await restoreFolder(lib, ava, outer);
    expect(lib.index.live.get(kept.ref)).toBe(true);
    expect(lib.index.live.get(thrown.ref)).toBe(false);
    expect((await listDocuments(lib, ava, { limit: 10, offset: 0 })).documents.map((one) => one.name)).toEqual(['kept.txt']);
  });

  test('come back to the root when their place is gone, under a free name, and say so', async () => {
    const outer = await lib.folderIn(ava, ava.rootId, 'Outer');
    const inner = await lib.folderIn(ava, outer, 'Reports');
    await trashFolder(lib, ava, inner);
    await trashFolder(lib, ava, outer);
    await lib.folderIn(ava, ava.rootId, 'reports');
    const back = await restoreFolder(lib, ava, inner);
    expect(back).toMatchObject({ name: 'Reports (2)', parentId: ava.rootId, said: expect.stringContaining("'Outer' is not there any more") });
  });

  test('are purged with everything inside: rows, index, blobs', async () => {
    const outer = await lib.folderIn(ava, ava.rootId, 'Outer');
    const inner = await lib.folderIn(ava, outer, 'Inner');
    const document = await lib.upload(ava, inner, 'a.txt', 'only here');
    const twin = await lib.upload(ava, inner, 'twin.txt', 'also elsewhere');
    const elsewhere = await lib.upload(ava, ava.rootId, 'b.txt', 'also elsewhere');
    await trashFolder(lib, ava, outer);
    await purgeFolder(lib, ava, outer);
    expect(await lib.storage.folders.byId(inner)).toBeNull();
    expect(await lib.storage.documents.byId(document.id)).toBeNull();
    expect(lib.index.removed).toEqual(new Set([document.ref, twin.ref]));
    expect(await lib.blobs.has(document.sha256)).toBe(false);
    expect(await lib.blobs.has(elsewhere.sha256)).toBe(true);
    expect((await openFile(lib, ava, elsewhere.id)).bytes).toBe(14);
  });
});

describe('documents', () => {
  test('are shown with exactly the fields of the API', async () => {
    const folder = await lib.folderIn(ava, ava.rootId, 'Energy outlooks');
    const view = await lib.upload(ava, folder, 'IEO2023.pptx', 'deck');
    expect(view).toEqual({
      id: expect.stringMatching(/^[0-9A-Za-z]{8}$/), ref: view.ref, name: 'IEO2023.pptx', type: 'pptx', status: 'processing', pagesEstimated: false,
      pagesToView: [], imageOnlyPages: [], pdfCopy: 'none', folder: "Ava Bennett's documents/Energy outlooks", folderId: folder,
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/), bytes: 4, uploaded: '2026-10-24T09:00:00.000Z', preset: 'basic', notices: [],
    });
    expect(await getDocument(lib, ava, view.id)).toEqual(view);
    expect(await findByName(lib, ava, folder, 'IEO2023.pptx')).toEqual([view]);
    expect(await lib.storage.jobs.openOfDocument(view.ref)).toMatchObject([{ kind: 'read', state: 'queued', weight: 4, generation: 1 }]);
  });

  test('names are cleaned, the same bytes may come again, unknown presets name the known ones', async () => {
    const hostile = await lib.upload(ava, ava.rootId, '../../etc/pass\u202ewd\0.pdf', 'x');
    expect(hostile.name).toBe('passwd.pdf');
    expect((await lib.upload(ava, ava.rootId, 'again.pdf', 'x')).sha256).toBe(hostile.sha256);
    await expect(admitUpload(lib, ava, { folderId: ava.rootId, preset: 'magic' })).rejects.toMatchObject({
      code: 'invalid', field: 'preset', message: expect.stringContaining('basic'),
    });
  });

  test('beyond the queue or the size limit are refused before the body is read', async () => {
    lib.limits.maxOpenJobs = 1;
    await lib.upload(ava, ava.rootId);
    let read = false;
    const source = (async function* () {
      read = true;
      yield Buffer.from('x');
    })();
    await expect(uploadDocument(lib, ava, { folderId: ava.rootId }, { name: 'b.txt', source })).rejects.toMatchObject({ code: 'busy', retryAfterSeconds: 30 });
    expect(read).toBe(false);
    lib.limits.maxOpenJobs = 10;
    lib.limits.maxFileBytes = 4;
    await expect(admitUpload(lib, ava, { folderId: ava.rootId }, 5)).rejects.toMatchObject({ code: 'too_large' });
    await expect(lib.upload(ava, ava.rootId, 'c.txt', 'five!')).rejects.toMatchObject({ code: 'too_large' });
    expect((await listDocuments(lib, ava, { limit: 10, offset: 0 })).total).toBe(1);
  });

  test("what came out of somebody's archive holds up nobody else", async () => {
    lib.limits.maxOpenJobs = 4;
    const ben = await lib.person('Ben');
    const archive = await lib.upload(ava, ava.rootId, 'bundle.zip');
    const row = (await lib.storage.documents.byId(archive.id))!;
    const files = await Promise.all(['1.txt', '2.txt', '3.txt'].map(async (path) => ({ path, blob: await lib.blobs.putBytes(Buffer.from(path)) })));
    await lib.storage.transaction((stores) => placeInnerFiles(stores, lib, row, files));
    expect(await lib.storage.jobs.countOpen()).toBe(4);
    const busy = { code: 'busy', retryAfterSeconds: 30 };
    await expect(admitUpload(lib, ava, { folderId: ava.rootId })).rejects.toMatchObject(busy);
    // Uploads themselves count for everybody, those on their way as well: Ava's archive and three of Ben's.
    const ended = await admitUpload(lib, ben, { folderId: ben.rootId });
    await lib.upload(ben, ben.rootId, 'a.txt');
    const other = await admitUpload(lib, ben, { folderId: ben.rootId });
    await expect(admitUpload(lib, ben, { folderId: ben.rootId })).rejects.toMatchObject(busy);
    ended();
    other();
    await lib.upload(ben, ben.rootId, 'b.txt');
    await lib.upload(ben, ben.rootId, 'c.txt');
    await expect(lib.upload(ben, ben.rootId, 'd.txt')).rejects.toMatchObject(busy);
  });

  test('an upload whose folder goes meanwhile leaves no row', async () => {
    const folder = await lib.folderIn(ava, ava.rootId, 'Going');
    const source = (async function* () {
      yield Buffer.from('x');
      await trashFolder(lib, ava, folder);
      yield Buffer.from('y');
    })();
    await expect(uploadDocument(lib, ava, { folderId: folder }, { name: 'a.txt', source })).rejects.toMatchObject({ code: 'not_found' });
    expect(await lib.storage.jobs.countOpen()).toBe(0);
  });

  test('an upload of bytes that are being purged never leaves a row without its blob', async () => {
    for (let round = 0; round < 15; round += 1) {
      const first = await lib.upload(ava, ava.rootId, 'first.txt', `same ${round}`);
      const [, upload] = await Promise.allSettled([purgeDocument(lib, ava, first.id), lib.upload(ava, ava.rootId, 'second.txt', `same ${round}`)]);
      if (upload.status === 'fulfilled') expect(await lib.blobs.has(upload.value.sha256)).toBe(true);
      else expect(upload.reason).toMatchObject({ code: 'busy', retryAfterSeconds: 1 });
    }
  });

  test('are renamed and moved within the owner’s tree; the index follows', async () => {
    const folder = await lib.folderIn(ava, ava.rootId, 'There');
    const document = await lib.upload(ava, ava.rootId, 'a.txt');
    const moved = await changeDocument(lib, ava, document.id, { name: 'b.txt', folderId: folder });
    expect(moved).toMatchObject({ name: 'b.txt', folder: "Ava Bennett's documents/There" });
    const folderRow = await lib.storage.folders.byId(folder);
    expect(lib.index.folder.get(document.ref)).toBe(folderRow?.ref);
    expect(lib.index.titles.get(document.ref)).toBe('b.txt');
    const [row] = await lib.audit.list({}, 1);
    expect(row).toMatchObject({
      action: 'document moved', objectId: document.id, outcome: 'ok',
      detail: "Ava Bennett's documents/a.txt → Ava Bennett's documents/There/b.txt",
    });
  });

  test('come back from the trash, into the root when their folder is gone; purging is for good', async () => {
    const folder = await lib.folderIn(ava, ava.rootId, 'Gone');
    const document = await lib.upload(ava, folder, 'a.txt');
    await trashDocument(lib, ava, document.id);
    expect(lib.index.live.get(document.ref)).toBe(false);
    expect((await listTrash(lib, ava)).documents.map((one) => one.id)).toEqual([document.id]);
    await trashFolder(lib, ava, folder);
    const back = await restoreDocument(lib, ava, document.id);
    expect(back).toMatchObject({ folder: "Ava Bennett's documents", said: expect.stringContaining('not there any more') });
    expect(lib.index.live.get(document.ref)).toBe(true);
    expect(await restoreDocument(lib, ava, document.id)).not.toHaveProperty('said');
    await purgeDocument(lib, ava, document.id);
    await expect(restoreDocument(lib, ava, document.id)).rejects.toMatchObject({ code: 'not_found', message: NOT_FOUND_SENTENCE });
    expect(await lib.blobs.has(document.sha256)).toBe(false);
  });

  test('a replacement counts the generation up, cancels the old work and keeps old pages serving', async () => {
    const document = await lib.upload(ava, ava.rootId, 'a.txt', 'old');
    await lib.storage.pages.replace(document.ref, [page(1, 'old text')]);
    await lib.storage.documents.update(document.ref, { status: 'ready', pages: 1 });
    const after = await replaceDocument(lib, ava, document.id, { name: 'b.md', source: bytesOf('new') });
    expect(after).toMatchObject({ id: document.id, name: 'b.md', type: 'md', status: 'processing', pages: 1, bytes: 3 });
    expect((await readPage(lib, ava, document.id, 1)).text).toBe('old text');
    // The old pages are drawn from the old file until the new one is read.
    expect(await lib.blobs.has(document.sha256)).toBe(true);
    expect(await lib.storage.jobs.openOfDocument(document.ref)).toMatchObject([{ generation: 2, state: 'queued' }]);
  });
});

describe('processing', () => {
  test('reprocessing starts anew under the preset asked for; cancelling goes back to what there was', async () => {
    const document = await lib.upload(ava, ava.rootId, 'a.docx');
    expect(await cancelProcessing(lib, ava, document.id)).toMatchObject({ status: 'not_indexed', reason: expect.stringContaining('cancelled') });
    await lib.storage.pages.replace(document.ref, [page(1, 'text')]);
    await lib.storage.documents.update(document.ref, { status: 'ready', reason: null, pages: 1 });
    expect(await reprocessDocument(lib, ava, document.id, 'basic')).toMatchObject({ status: 'processing', pages: 1 });
    expect(await cancelProcessing(lib, ava, document.id)).toMatchObject({ status: 'ready' });
    expect(await cancelProcessing(lib, ava, document.id)).toMatchObject({ status: 'ready' });
    await lib.storage.pages.replace(document.ref, [page(1, '', true)]);
    await reprocessDocument(lib, ava, document.id, 'basic');
    expect(await cancelProcessing(lib, ava, document.id)).toMatchObject({ status: 'not_indexed', reason: expect.stringContaining('cancelled') });
    await expect(reprocessDocument(lib, ava, document.id, 'standard')).rejects.toMatchObject({ code: 'invalid', field: 'preset' });
  });

  test('a PDF copy is asked for once, and only where there can be one', async () => {
    const deck = await lib.upload(ava, ava.rootId, 'a.docx');
    expect(await makePdfCopy(lib, ava, deck.id)).toMatchObject({ pdfCopy: 'making' });
    await makePdfCopy(lib, ava, deck.id);
    expect((await lib.storage.jobs.openOfDocument(deck.ref)).map((job) => job.kind)).toEqual(['read', 'pdf-copy']);
    expect(await cancelProcessing(lib, ava, deck.id)).toMatchObject({ pdfCopy: 'none' });
    for (const name of ['a.pdf', 'a.zip']) {
      const other = await lib.upload(ava, ava.rootId, name);
      await expect(makePdfCopy(lib, ava, other.id)).rejects.toMatchObject({ code: 'invalid' });
    }
    const picture = await lib.upload(ava, ava.rootId, 'a.png');
    await expect(makePdfCopy(lib, ava, picture.id)).rejects.toMatchObject({ code: 'invalid', message: expect.stringContaining('made while it is read') });
    await lib.storage.documents.update(picture.ref, { pdfCopy: 'ready' });
    expect(await makePdfCopy(lib, ava, picture.id)).toMatchObject({ pdfCopy: 'ready' });
  });

  test('a copy that was being made when the document was read again is made after all when that is cancelled', async () => {
    const document = await lib.upload(ava, ava.rootId, 'a.docx');
    await lib.storage.pages.replace(document.ref, [page(1, 'text')]);
    await lib.storage.documents.update(document.ref, { status: 'ready', pages: 1, pdfCopy: 'making' });
    const openKinds = async () => (await lib.storage.jobs.openOfDocument(document.ref)).map((job) => job.kind);
    await reprocessDocument(lib, ava, document.id, 'basic');
    expect(await openKinds()).toEqual(['read']);
    expect(await cancelProcessing(lib, ava, document.id)).toMatchObject({ status: 'ready', pdfCopy: 'making' });
    expect(await openKinds()).toEqual(['pdf-copy']);
    // The copy itself can be cancelled as well.
    expect(await cancelProcessing(lib, ava, document.id)).toMatchObject({ status: 'ready', pdfCopy: 'none' });
    expect(await openKinds()).toEqual([]);
  });

  test('pages are read with their mark and fate, and each look is in the log', async () => {
    const document = await lib.upload(ava, ava.rootId, 'a.pdf');
    await expect(readPage(lib, ava, document.id, 1)).rejects.toMatchObject({ code: 'not_ready' });
    await lib.storage.pages.replace(document.ref, [page(1, 'one'), page(2, 'two', true), page(3, '', true)]);
    await lib.storage.documents.update(document.ref, { status: 'ready', pages: 3 });
    expect(await readPage(lib, ava, document.id, 1)).toEqual({ page: 1, text: 'one', mark: null, fate: 'text' });
    expect(await readPage(lib, ava, document.id, 2)).toMatchObject({ mark: 'view' });
    expect(await readPage(lib, ava, document.id, 3)).toMatchObject({ mark: 'image_only', fate: 'image_only' });
    await expect(readPage(lib, ava, document.id, 4)).rejects.toMatchObject({ code: 'not_found', message: 'This document has 3 pages' });
    expect(await openFile(lib, ava, document.id)).toEqual({ name: 'a.pdf', mime: 'application/pdf', bytes: 5, sha256: document.sha256 });
    await expect(openFile(lib, ava, document.id, 'pdf-copy')).rejects.toMatchObject({ code: 'not_found' });
    expect((await lib.audit.list({}, 4)).map((row) => `${row.action}: ${row.detail}`)).toEqual([
      'file downloaded: a.pdf, original, 5 bytes', 'text read: a.pdf, page 3', 'text read: a.pdf, page 2', 'text read: a.pdf, page 1',
    ]);
  });
});
