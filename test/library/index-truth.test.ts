import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Actor, AgentKeyActor, UserActor } from '../../src/access/actor.ts';
import { giveGrant, listGrants, removeGrant } from '../../src/access/grants.ts';
import { createKey, editKey } from '../../src/access/keys.ts';
import { scopeOf } from '../../src/access/scope.ts';
import { changeDocument, purgeDocument, restoreDocument, trashDocument } from '../../src/library/documents.ts';
import { changeFolder, purgeFolder, restoreFolder, trashFolder } from '../../src/library/folders.ts';
import { isDocumentLive } from '../../src/library/liveness.ts';
import { reprocessDocument } from '../../src/library/processing.ts';
import { replaceDocument } from '../../src/library/uploads.ts';
import type { DocumentView } from '../../src/library/views.ts';
import { analyseDocument } from '../../src/search/analysis/document.ts';
import { createSearchIndex } from '../../src/search/pool.ts';
import type { SearchIndex } from '../../src/search/types.ts';
import { bytesOf, openTestLibrary, type TestLibrary } from '../support/library.ts';

// field.md "Index truth": whatever happens to a document, the very next search is right.

let lib: TestLibrary;
let index: SearchIndex;
let ava: UserActor & { rootId: string };
beforeAll(async () => {
  lib = await openTestLibrary({ realIndex: true });
  index = createSearchIndex({ databasePath: join(lib.folder, 'sergo.db'), threads: 1 });
  ava = await lib.person('Ava Bennett');
});
afterAll(async () => {
  await index.close();
  await lib.close();
});

/** What processing does at its end, for one page of text. */
async function commitReading(document: DocumentView, text: string): Promise<void> {
  const chunks = [{ position: 0, page: 1, section: null, text }];
  const analysed = analyseDocument({ title: document.name, name: document.name, language: 'en' }, chunks);
  await lib.storage.transaction(async (stores) => {
    const row = (await stores.documents.byRef(document.ref))!;
    const live = await isDocumentLive(stores, row);
    await stores.index.replace({ document: row.ref, documentId: row.id, folder: row.folder, live, title: row.name, chunks, analysed });
    await stores.documents.update(row.ref, { status: 'ready', pages: 1 });
  });
}

async function read(folderId: string, name: string, text: string): Promise<DocumentView> {
  const document = await lib.upload(ava, folderId, name, text);
  await commitReading(document, text);
  return document;
}

async function found(actor: Actor, query: string): Promise<string[]> {
  const ranked = await index.rank({ query, scope: await scopeOf(lib.storage, actor), depth: 60 });
  return [...new Set(ranked.map((excerpt) => excerpt.documentId))].toSorted();
}

async function keyOver(folderIds: string[], documentIds: string[] = []): Promise<AgentKeyActor> {
  const made = await createKey(lib, ava, { kind: 'agent', name: `key${folderIds.join('').toLowerCase().replace(/[^a-z0-9]/g, '').slice(0, 20)}`, description: 'd', folderIds, documentIds });
  const key = (await lib.storage.keys.byId(made.id))!;
  return { kind: 'agent_key', key: { ref: key.ref, id: key.id, name: key.name, description: 'd', masked: key.masked }, owner: ava.user, requestId: 'r' };
}

test('trash, restore, move, rename, replace, reprocess and purge of a document', async () => {
  const inside = await lib.folderIn(ava, ava.rootId, 'Inside');
  const outside = await lib.folderIn(ava, ava.rootId, 'Outside');
  const key = await keyOver([inside]);
  const document = await read(inside, 'alpha.txt', 'The zephyrine turbine hums.');
  const here = [document.id];
  expect(await found(key, 'zephyrine')).toEqual(here);

  await trashDocument(lib, ava, document.id);
  for (const actor of [key, ava]) expect(await found(actor, 'zephyrine')).toEqual([]);
  await restoreDocument(lib, ava, document.id);
  expect(await found(key, 'zephyrine')).toEqual(here);

  await changeDocument(lib, ava, document.id, { folderId: outside });
  expect(await found(key, 'zephyrine')).toEqual([]);
  expect(await found(ava, 'zephyrine')).toEqual(here);
  await changeDocument(lib, ava, document.id, { folderId: inside, name: 'quokkaville.txt' });
  expect(await found(key, 'quokkaville')).toEqual(here);
  expect(await found(key, 'alpha')).toEqual([]);

  // The old pages serve until the new ones commit, also while both are under way.
  await replaceDocument(lib, ava, document.id, { source: bytesOf('The marmoset sleeps.') });
  expect(await found(key, 'zephyrine')).toEqual(here);
  await commitReading(document, 'The marmoset sleeps.');
  expect([await found(key, 'zephyrine'), await found(key, 'marmoset')]).toEqual([[], here]);
  await reprocessDocument(lib, ava, document.id, 'basic');
  expect(await found(key, 'marmoset')).toEqual(here);

  // Read to its end while it lay in the trash: it must not come up from there.
  await trashDocument(lib, ava, document.id);
  await commitReading(document, 'The marmoset wakes.');
  expect(await found(ava, 'marmoset')).toEqual([]);
  await restoreDocument(lib, ava, document.id);
  expect(await found(key, 'wakes')).toEqual(here);

  const twin = await read(inside, 'twin.txt', 'The marmoset wakes.');
  await purgeDocument(lib, ava, document.id);
  expect(await found(ava, 'marmoset')).toEqual([twin.id]);
  expect(await found(ava, 'quokkaville')).toEqual([]);
});

test('trash, restore, move, rename and purge of a folder with all inside', async () => {
  const outer = await lib.folderIn(ava, ava.rootId, 'Outer');
  const inner = await lib.folderIn(ava, outer, 'Inner');
  const elsewhere = await lib.folderIn(ava, ava.rootId, 'Elsewhere');
  const [key, single] = [await keyOver([outer]), await keyOver([elsewhere])];
  const one = await read(inner, 'one.txt', 'A plesiosaur swims.');
  const thrown = await read(inner, 'two.txt', 'A plesiosaur dives.');
  await editKey(lib, ava, single.key.id, { documentIds: [one.id] });
  await trashDocument(lib, ava, thrown.id);
  for (const actor of [key, single, ava]) expect(await found(actor, 'plesiosaur')).toEqual([one.id]);

  await trashFolder(lib, ava, outer);
  for (const actor of [key, single, ava]) expect(await found(actor, 'plesiosaur')).toEqual([]);
  await commitReading(one, 'A plesiosaur swims on.');
  for (const actor of [key, single, ava]) expect(await found(actor, 'plesiosaur')).toEqual([]);
  await restoreFolder(lib, ava, outer);
  for (const actor of [key, single, ava]) expect(await found(actor, 'plesiosaur')).toEqual([one.id]);

  await changeFolder(lib, ava, inner, { parentId: elsewhere });
  expect(await found(key, 'plesiosaur')).toEqual([]);
  expect(await found(single, 'plesiosaur')).toEqual([one.id]);
  await trashFolder(lib, ava, elsewhere);
  await purgeFolder(lib, ava, elsewhere);
  for (const actor of [key, single, ava]) expect(await found(actor, 'plesiosaur')).toEqual([]);
});

test('sharing and taking back, and names of folders', async () => {
  const bo = await lib.person('Bo Larsen');
  const folder = await lib.folderIn(ava, ava.rootId, 'Gyroscopes');
  const document = await read(folder, 'plain.txt', 'The axolotl rests.');
  expect(await found(bo, 'axolotl')).toEqual([]);
  await giveGrant(lib, ava, { folderId: folder }, { email: bo.user.email, right: 'read' });
  expect(await found(bo, 'axolotl')).toEqual([document.id]);
  expect(await found(bo, 'axolotl gyroscopes')).toEqual([document.id]);
  const [grant] = await listGrants(lib, ava, { folderId: folder });
  await removeGrant(lib, ava, grant!.id);
  expect(await found(bo, 'axolotl')).toEqual([]);
});

test('a folder of hundreds goes to the trash, comes back and is purged in parts; each next search is right, and nothing is left of it', async () => {
  const hundredsId = await lib.folderIn(ava, ava.rootId, 'Hundreds');
  const insideId = await lib.folderIn(ava, hundredsId, 'Inside');
  const apart = await read(ava.rootId, 'apart.txt', 'hundredword stays');
  const inside: DocumentView[] = [];
  for (let i = 0; i < 430; i++) inside.push(await read(i % 2 === 0 ? hundredsId : insideId, `many${i}.txt`, `hundredword ${i}`));
  const single = await keyOver([], [inside[7]!.id, apart.id]);
  expect((await found(ava, 'hundredword')).length).toBe(60);
  await trashFolder(lib, ava, hundredsId);
  expect(await found(ava, 'hundredword')).toEqual([apart.id]);
  expect(await found(single, 'hundredword')).toEqual([apart.id]);
  await restoreFolder(lib, ava, hundredsId);
  expect(await found(single, 'hundredword')).toEqual([inside[7]!.id, apart.id].toSorted());
  await purgeFolder(lib, ava, hundredsId);
  expect(await found(ava, 'hundredword')).toEqual([apart.id]);
  const left = await lib.storage.documents.byRefs(inside.map((document) => document.ref));
  expect(left).toEqual([]);
  expect(await lib.storage.chunks.ofDocument(inside[0]!.ref)).toEqual([]);
  expect(await lib.blobs.has(inside[0]!.sha256)).toBe(false);
  const rows = await lib.storage.audit.list({}, 10);
  const details = rows.filter((row) => row.action === 'folder purged').map((row) => row.detail);
  expect(details).toEqual([
    "Ava Bennett's documents/Hundreds with 1 folders and 430 documents",
    "Ava Bennett's documents/Hundreds: 400 documents so far",
    "Ava Bennett's documents/Hundreds: 300 documents so far",
    "Ava Bennett's documents/Hundreds: 200 documents so far",
    "Ava Bennett's documents/Hundreds: 100 documents so far",
  ]);
}, 120_000);
