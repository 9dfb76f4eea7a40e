import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Actor, AgentKeyActor, UserActor } from '../../src/access/actor.ts';
import { giveGrant, listGrants, removeGrant } from '../../src/access/grants.ts';
import { createKey, editKey, getKey, revokeKey, rollKey } from '../../src/access/keys.ts';
import { NOT_FOUND_SENTENCE } from '../../src/errors.ts';
import { changeDocument, findByName, getDocument, listDocuments, purgeDocument, restoreDocument, trashDocument } from '../../src/library/documents.ts';
import { changeFolder, createFolder, getFolder, purgeFolder, restoreFolder, trashFolder } from '../../src/library/folders.ts';
import { cancelProcessing, makePdfCopy, reprocessDocument } from '../../src/library/processing.ts';
import { openFile, readPage } from '../../src/library/reading.ts';
import { admitUpload, replaceDocument, uploadDocument } from '../../src/library/uploads.ts';
import type { Storage } from '../../src/storage/ports.ts';
import { bytesOf, openTestLibrary, type TestLibrary } from '../support/library.ts';

// P9, P14 and P36 below the doors: whatever is not an actor's is the same as what was never there, in words, in look-ups and in the log.

let lib: TestLibrary;
let ava: UserActor & { rootId: string };
let bo: UserActor & { rootId: string };
let admin: UserActor & { rootId: string };
let boKey: AgentKeyActor;
const ids = { document: '', folder: '', trashedDocument: '', trashedFolder: '', inTrash: '', purgedDocument: '', purgedFolder: '', shared: '', sharedDocument: '', key: '', grant: '' };

beforeAll(async () => {
  lib = await openTestLibrary();
  [ava, bo, admin] = [await lib.person('Ava Bennett'), await lib.person('Bo Larsen'), await lib.person('Ann Admin', 'admin')];
  ids.folder = await lib.folderIn(ava, ava.rootId, 'Private');
  ids.document = (await lib.upload(ava, ids.folder, 'private.docx')).id;
  ids.trashedFolder = await lib.folderIn(ava, ava.rootId, 'Thrown');
  ids.inTrash = (await lib.upload(ava, ids.trashedFolder)).id;
  await trashFolder(lib, ava, ids.trashedFolder);
  ids.trashedDocument = (await lib.upload(ava, ids.folder)).id;
  await trashDocument(lib, ava, ids.trashedDocument);
  ids.purgedDocument = (await lib.upload(ava, ids.folder)).id;
  await purgeDocument(lib, ava, ids.purgedDocument);
  ids.purgedFolder = await lib.folderIn(ava, ava.rootId, 'Purged');
  await purgeFolder(lib, ava, ids.purgedFolder);
  ids.shared = await lib.folderIn(ava, ava.rootId, 'Shared');
  ids.sharedDocument = (await lib.upload(ava, ids.shared, 'shared.docx')).id;
  await giveGrant(lib, ava, { folderId: ids.shared }, { email: bo.user.email, right: 'read' });
  ids.grant = (await giveGrant(lib, ava, { folderId: ids.folder }, { email: (await lib.person('Cy Moreau')).user.email, right: 'read' })).id;
  ids.key = (await createKey(lib, ava, { kind: 'agent', name: 'private', description: 'd', folderIds: [ids.folder], documentIds: [] })).id;
  const made = await createKey(lib, bo, { kind: 'agent', name: 'shared', description: 'd', folderIds: [ids.shared], documentIds: [] });
  const row = (await lib.storage.keys.byId(made.id))!;
  boKey = { kind: 'agent_key', key: { ref: row.ref, id: row.id, name: row.name, description: 'd', masked: row.masked }, owner: bo.user, requestId: 'r' };
});
afterAll(() => lib.close());

type Call = (deps: TestLibrary, actor: Actor, id: string) => Promise<unknown>;

const onDocument: Record<string, Call> = {
  get: (deps, actor, id) => getDocument(deps, actor, id),
  rename: (deps, actor, id) => changeDocument(deps, actor, id, { name: 'mine.txt' }),
  move: (deps, actor, id) => changeDocument(deps, actor, id, { folderId: bo.rootId }),
  trash: (deps, actor, id) => trashDocument(deps, actor, id),
  restore: (deps, actor, id) => restoreDocument(deps, actor, id),
  purge: (deps, actor, id) => purgeDocument(deps, actor, id),
  replace: (deps, actor, id) => replaceDocument(deps, actor, id, { source: bytesOf('x') }),
  reprocess: (deps, actor, id) => reprocessDocument(deps, actor, id, 'basic'),
  copy: (deps, actor, id) => makePdfCopy(deps, actor, id),
  cancel: (deps, actor, id) => cancelProcessing(deps, actor, id),
  page: (deps, actor, id) => readPage(deps, actor, id, 1),
  file: (deps, actor, id) => openFile(deps, actor, id),
  share: (deps, actor, id) => giveGrant(deps, actor, { documentId: id }, { email: admin.user.email, right: 'read' }),
  grants: (deps, actor, id) => listGrants(deps, actor, { documentId: id }),
  'key over it': (deps, actor, id) => createKey(deps, actor, { kind: 'agent', name: 'grab', description: 'd', folderIds: [], documentIds: [id] }),
};
const onFolder: Record<string, Call> = {
  get: (deps, actor, id) => getFolder(deps, actor, id),
  list: (deps, actor, id) => listDocuments(deps, actor, { limit: 10, offset: 0, folderId: id }),
  'find in': (deps, actor, id) => findByName(deps, actor, id, 'private.docx'),
  'create in': (deps, actor, id) => createFolder(deps, actor, { name: 'mine', parentId: id }),
  rename: (deps, actor, id) => changeFolder(deps, actor, id, { name: 'mine' }),
  move: (deps, actor, id) => changeFolder(deps, actor, id, { parentId: bo.rootId }),
  trash: (deps, actor, id) => trashFolder(deps, actor, id),
  restore: (deps, actor, id) => restoreFolder(deps, actor, id),
  purge: (deps, actor, id) => purgeFolder(deps, actor, id),
  admit: (deps, actor, id) => admitUpload(deps, actor, { folderId: id }),
  upload: (deps, actor, id) => uploadDocument(deps, actor, { folderId: id }, { name: 'a.txt', source: bytesOf('x') }),
  share: (deps, actor, id) => giveGrant(deps, actor, { folderId: id }, { email: admin.user.email, right: 'read' }),
  grants: (deps, actor, id) => listGrants(deps, actor, { folderId: id }),
  'key over it': (deps, actor, id) => createKey(deps, actor, { kind: 'agent', name: 'grab', description: 'd', folderIds: [id], documentIds: [] }),
};
const onKey: Record<string, Call> = {
  get: (deps, actor, id) => getKey(deps, actor, id),
  edit: (deps, actor, id) => editKey(deps, actor, id, { name: 'mine' }),
  roll: (deps, actor, id) => rollKey(deps, actor, id, 'now'),
  revoke: (deps, actor, id) => revokeKey(deps, actor, id),
};
const unknown = ['aaaaaaaa', '', '../..', "' or 1=1 --", '\0', 'x'.repeat(10_000), '😀', '1', 'null'];
/** Sharing and keys are a person's: an agent key hears `forbidden` whatever the id. */
const peopleOnly = new Set(['share', 'grants', 'key over it', 'edit', 'roll', 'revoke']);

/** The error as a door would send it, and the storage calls made on the way. */
async function outcome(call: Call, actor: Actor, id: string): Promise<{ answer: string; asked: string }> {
  const asked: string[] = [];
  const watch = <T extends object>(target: T, path: string): T =>
    new Proxy(target, {
      get(object, name) {
        const value = (object as Record<string | symbol, unknown>)[name];
        if (typeof value !== 'function') return typeof value === 'object' && value !== null ? watch(value, `${path}${String(name)}.`) : value;
        return (...args: unknown[]) => {
          asked.push(path + String(name));
          if (name === 'transaction') return (value as Storage['transaction'])((stores) => (args[0] as (stores: unknown) => Promise<unknown>)(watch(stores, '')));
          return (value as (...all: unknown[]) => unknown).apply(object, args);
        };
      },
    });
  try {
    await call({ ...lib, storage: watch(lib.storage, '') }, actor, id);
    return { answer: 'allowed', asked: '' };
  } catch (error) {
    return { answer: JSON.stringify({ ...(error as object), message: (error as Error).message, kind: (error as Error).constructor.name }), asked: asked.join(' ') };
  }
}

const fingerprint = async (): Promise<string> =>
  JSON.stringify([
    await lib.storage.folders.everythingBelow(ava.user.rootFolder), await lib.storage.documents.allInFolders((await lib.storage.folders.everythingBelow(ava.user.rootFolder)).map((one) => one.ref)),
    await lib.storage.keys.list(), await lib.storage.jobs.countOpen(), await lib.storage.grants.ofUser(bo.user.ref), await lib.storage.grants.ofUser(admin.user.ref),
  ]);

test('every call × every actor × every state of an id that is not theirs: one answer, the same look-ups, one row, nothing changed', async () => {
  const before = await fingerprint();
  const table: [string, Record<string, Call>, string[]][] = [
    ['document', onDocument, [ids.document, ids.trashedDocument, ids.inTrash, ids.purgedDocument, ids.folder]],
    ['folder', onFolder, [ids.folder, ids.trashedFolder, ids.purgedFolder, ids.document, ava.rootId]],
    ['key', onKey, [ids.key, ids.document]],
  ];
  let combinations = 0;
  for (const [kind, calls, foreign] of table) {
    for (const [name, call] of Object.entries(calls)) {
      for (const [who, actor] of Object.entries({ bo, admin, boKey })) {
        if (kind === 'key' && who !== 'bo') continue;
        const known = await outcome(call, actor, 'unknown1');
        const parsed = JSON.parse(known.answer) as { code: string; message: string };
        if (who === 'boKey' && peopleOnly.has(name)) expect(parsed.code, `${kind} ${name}`).toBe('forbidden');
        else expect(parsed, `${kind} ${name}`).toMatchObject({ code: 'not_found', message: NOT_FOUND_SENTENCE });
        for (const id of [...foreign, ...unknown]) {
          const rowsBefore = (await lib.audit.head())?.seq ?? 0;
          const { answer, asked } = await outcome(call, actor, id);
          expect(answer, `${who}: ${kind} ${name} ${id.slice(0, 20)}`).toBe(known.answer);
          expect(asked, `${who}: ${kind} ${name} ${id.slice(0, 20)}`).toBe(known.asked);
          const rows = await lib.storage.audit.after(rowsBefore, 10);
          expect(rows.map((row) => row.outcome), `${who}: ${kind} ${name} ${id.slice(0, 20)}`).toEqual(['denied']);
          combinations += 1;
        }
      }
    }
  }
  expect(await fingerprint()).toBe(before);
  expect(combinations).toBeGreaterThan(1_200);
}, 240_000);

test('a reader is no editor: what may be seen may still not be changed, shared or purged', async () => {
  const before = await fingerprint();
  const reading = new Set(['get', 'list', 'page', 'file', 'key over it']);
  for (const [calls, id] of [[onDocument, ids.sharedDocument], [onFolder, ids.shared]] as const) {
    for (const [name, call] of Object.entries(calls)) {
      if (reading.has(name)) continue;
      const { answer } = await outcome(call, bo, id);
      expect(JSON.parse(answer), name).toMatchObject({ code: 'not_found', message: NOT_FOUND_SENTENCE });
    }
  }
  expect(await getDocument(lib, boKey, ids.sharedDocument)).toMatchObject({ name: 'shared.docx' });
  await expect(getDocument(lib, boKey, ids.document)).rejects.toMatchObject({ code: 'not_found' });
  await expect(removeGrant(lib, bo, ids.grant)).rejects.toMatchObject({ code: 'not_found' });
  expect(await fingerprint()).toBe(before);
});
