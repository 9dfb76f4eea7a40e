import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestLibrary, type TestLibrary } from '../../test/support/library.ts';
import { changeDocument, purgeDocument, restoreDocument, trashDocument } from '../library/documents.ts';
import { changeFolder, restoreFolder, trashFolder } from '../library/folders.ts';
import type { Actor, AgentKeyActor, UserActor } from './actor.ts';
import { giveGrant, listGrants, removeGrant } from './grants.ts';
import { createKey } from './keys.ts';
import { can, requireDocument, requireFolder, type PolicyObject, type Verb } from './policy.ts';
import { scopeOf, scopeOfOwnKey } from './scope.ts';

let lib: TestLibrary;
beforeAll(async () => {
  lib = await openTestLibrary();
});
afterAll(() => lib.close());

const folder = async (id: string): Promise<PolicyObject> => ({ kind: 'folder', row: (await lib.storage.folders.byId(id))! });
const document = async (id: string): Promise<PolicyObject> => ({ kind: 'document', row: (await lib.storage.documents.byId(id))! });

async function rights(actor: Actor, object: PolicyObject): Promise<string> {
  const allowed: Verb[] = [];
  for (const verb of ['read', 'edit', 'own'] as const) if (await can(lib.storage, actor, verb, object)) allowed.push(verb);
  return allowed.join('+') || 'none';
}

async function agentKey(owner: UserActor, name: string, folderIds: string[], documentIds: string[] = []): Promise<AgentKeyActor> {
  const { id } = await createKey(lib, owner, { kind: 'agent', name, description: 'd', folderIds, documentIds });
  const key = (await lib.storage.keys.byId(id))!;
  return { kind: 'agent_key', key: { ref: key.ref, id, name, description: 'd', masked: key.masked }, owner: owner.user, requestId: 'r' };
}

test('an unknown id is nothing, also where the row read in its place is one\'s own', async () => {
  const first = await lib.person('Ida First');
  const upload = await lib.upload(first, first.rootId, 'first.txt');
  expect(await lib.storage.documents.byIdOrAny('nobody00')).toEqual(await lib.storage.documents.byId(upload.id));
  expect((await lib.storage.folders.byIdOrAny('nobody00'))?.id).toBe(first.rootId);
  for (const id of ['nobody00', '', `${upload.id}\0`, upload.id.toUpperCase() + 'x']) {
    await expect(requireDocument(lib.storage, first, 'read', id)).rejects.toMatchObject({ code: 'not_found' });
    await expect(requireFolder(lib.storage, first, 'read', id)).rejects.toMatchObject({ code: 'not_found' });
  }
  expect((await requireDocument(lib.storage, first, 'read', upload.id)).id).toBe(upload.id);
});

test('the policy table: who may do what to which, in every state', async () => {
  const [ava, bo, cy, admin] = [await lib.person('Ava Table'), await lib.person('Bo Table'), await lib.person('Cy Table'), await lib.person('Ann Table', 'admin')];
  const shared = await lib.folderIn(ava, ava.rootId, 'Shared');
  const inner = await lib.folderIn(ava, shared, 'Inner');
  const edited = await lib.folderIn(ava, ava.rootId, 'Edited');
  const own = await lib.upload(ava, ava.rootId, 'private.txt');
  const deep = await lib.upload(ava, inner, 'deep.txt');
  const editable = await lib.upload(ava, edited, 'editable.txt');
  const single = await lib.upload(ava, ava.rootId, 'single.txt');
  await giveGrant(lib, ava, { folderId: shared }, { email: bo.user.email, right: 'read' });
  await giveGrant(lib, ava, { folderId: edited }, { email: bo.user.email, right: 'edit' });
  await giveGrant(lib, ava, { documentId: single.id }, { email: bo.user.email, right: 'read' });
  const avaKey = await agentKey(ava, 'ava-shared', [shared], [own.id]);
  const boKey = await agentKey(bo, 'bo-all', [shared, edited], [single.id]);
  const boRoot = await agentKey(bo, 'bo-root', [bo.rootId]);
  const nobody: Actor = { kind: 'anonymous', requestId: 'r' };
  const machine: Actor = { kind: 'system', name: 'worker', requestId: 'r' };
  const ghost: Actor = { kind: 'user', user: { ...cy.user, ref: 987_654 }, via: 'session', fromCookie: false, requestId: 'r' };
  const actors = { ava, bo, cy, admin, avaKey, boKey, boRoot, nobody, machine, ghost };
  const all = 'read+edit+own';
  const table: [string, PolicyObject, Partial<Record<keyof typeof actors, string>>][] = [
    ['own root', await folder(ava.rootId), { ava: all }],
    ['private document', await document(own.id), { ava: all, avaKey: 'read' }],
    ['shared folder', await folder(shared), { ava: all, bo: 'read', avaKey: 'read', boKey: 'read' }],
    ['folder inside it', await folder(inner), { ava: all, bo: 'read', avaKey: 'read', boKey: 'read' }],
    ['document deep inside', await document(deep.id), { ava: all, bo: 'read', avaKey: 'read', boKey: 'read' }],
    ['folder shared to edit', await folder(edited), { ava: all, bo: 'read+edit', boKey: 'read' }],
    ['document shared to edit', await document(editable.id), { ava: all, bo: 'read+edit', boKey: 'read' }],
    ['single document', await document(single.id), { ava: all, bo: 'read', boKey: 'read' }],
  ];
  for (const [what, object, expected] of table) {
    for (const [who, actor] of Object.entries(actors)) {
      expect(await rights(actor, object), `${who} at ${what}`).toBe(expected[who as keyof typeof actors] ?? 'none');
    }
  }
  const names = async (actor: Actor): Promise<string[]> => {
    const scope = await scopeOf(lib.storage, actor);
    return (await lib.storage.documents.list(scope, 100, 0)).map((row) => row.name).toSorted();
  };
  expect(await names(bo)).toEqual(['deep.txt', 'editable.txt', 'single.txt']);
  expect(await names(boKey)).toEqual(['deep.txt', 'editable.txt', 'single.txt']);
  for (const actor of [cy, admin, nobody, machine, ghost, boRoot]) expect(await names(actor)).toEqual([]);
  expect((await scopeOf(lib.storage, boKey)).roots.map((one) => one.name)).toEqual(['Edited', 'Shared']);

  // Moved out, trashed, in a trashed folder, restored, purged: each acts on the next question.
  await changeDocument(lib, ava, deep.id, { folderId: ava.rootId });
  expect(await names(boKey)).toEqual(['editable.txt', 'single.txt']);
  await changeDocument(lib, ava, deep.id, { folderId: inner });
  await trashFolder(lib, ava, shared);
  expect(await rights(ava, await document(deep.id))).toBe('none');
  expect(await names(avaKey)).toEqual(['private.txt']);
  expect((await scopeOf(lib.storage, avaKey)).roots).toEqual([]);
  await restoreFolder(lib, ava, shared);
  await trashDocument(lib, ava, deep.id);
  expect(await names(bo)).toEqual(['editable.txt', 'single.txt']);
  await restoreDocument(lib, ava, deep.id);
  expect(await names(bo)).toEqual(['deep.txt', 'editable.txt', 'single.txt']);
  await changeFolder(lib, ava, inner, { parentId: ava.rootId });
  expect(await names(bo)).toEqual(['editable.txt', 'single.txt']);
  await purgeDocument(lib, ava, single.id);
  expect(await names(boKey)).toEqual(['editable.txt']);
  for (const grant of await listGrants(lib, ava, { folderId: edited })) await removeGrant(lib, ava, grant.id);
  expect(await names(bo)).toEqual([]);
  expect(await scopeOf(lib.storage, boKey)).toMatchObject({ folders: expect.any(Array), documents: [] });
});

describe('a single document inside a folder', () => {
  test('that goes to the trash is out of the key’s scope, though its own row says nothing', async () => {
    const ava = await lib.person('Ava Single');
    const there = await lib.folderIn(ava, ava.rootId, 'There');
    const one = await lib.upload(ava, there, 'one.txt');
    const key = await agentKey(ava, 'single', [], [one.id]);
    expect((await scopeOf(lib.storage, key)).documents).toEqual([one.ref]);
    expect((await scopeOf(lib.storage, key)).roots).toEqual([]);
    await trashFolder(lib, ava, there);
    expect((await scopeOf(lib.storage, key)).documents).toEqual([]);
  });
});

test('a key is searched "as" by its owner alone, and not once revoked', async () => {
  const [ava, admin] = [await lib.person('Ava As'), await lib.person('Ann As', 'admin')];
  const key = await agentKey(ava, 'as', [ava.rootId]);
  expect((await scopeOfOwnKey(lib.storage, ava, key.key.id)).folders).toEqual([ava.user.rootFolder]);
  for (const actor of [admin, key]) await expect(scopeOfOwnKey(lib.storage, actor, key.key.id)).rejects.toMatchObject({ code: 'not_found' });
});

test('500 folders cost a fixed number of queries', async () => {
  const ava = await lib.person('Ava Wide');
  const ids: string[] = [];
  await lib.storage.transaction(async (stores) => {
    for (let count = 0; count < 500; count += 1) {
      const id = `wide${count}`;
      ids.push(id);
      await stores.folders.insert({ id, parent: ava.user.rootFolder, owner: ava.user.ref, name: id, nameKey: id, createdAt: 1 });
    }
  });
  const key = await agentKey(ava, 'wide', ids);
  let asked = 0;
  const counted = new Proxy(lib.storage, {
    get: (storage, name: keyof typeof lib.storage) =>
      new Proxy(storage[name] as object, {
        get: (store, method) => {
          asked += 1;
          return (store as Record<string | symbol, unknown>)[method];
        },
      }),
  });
  expect((await scopeOf(counted, key)).folders.length).toBe(500);
  expect(asked).toBeLessThanOrEqual(2);
});

test('can(read) and the scope always agree, whatever is moved, shared, trashed, restored or taken back', async () => {
  const [ava, bo] = [await lib.person('Ava Random'), await lib.person('Bo Random')];
  const folders = [ava.rootId];
  for (let count = 0; count < 7; count += 1) folders.push(await lib.folderIn(ava, folders[count % 3]!, `f${count}`));
  const bosOwn = await lib.folderIn(bo, bo.rootId, 'own');
  const documents: string[] = [];
  for (let count = 0; count < 8; count += 1) documents.push((await lib.upload(ava, folders[count]!, `d${count}.txt`)).id);
  documents.push((await lib.upload(bo, bosOwn, 'bo.txt')).id);
  for (const id of folders) await giveGrant(lib, ava, { folderId: id }, { email: bo.user.email, right: 'read' });
  for (const id of documents.slice(0, 8)) await giveGrant(lib, ava, { documentId: id }, { email: bo.user.email, right: 'read' });
  const keys = [
    await agentKey(bo, 'k1', [folders[1]!, folders[4]!, bosOwn], [documents[0]!, documents[7]!]),
    await agentKey(bo, 'k2', [folders[0]!], []),
    await agentKey(bo, 'k3', [], documents),
    await agentKey(ava, 'k4', [folders[2]!, folders[5]!], [documents[6]!]),
  ];
  const actors: Actor[] = [ava, bo, ...keys];
  const stillGranted = async (): Promise<string[]> => (await lib.storage.grants.ofUser(bo.user.ref)).map((grant) => grant.id);

  const step = fc.oneof(
    fc.record({ kind: fc.constantFrom('moveFolder', 'trashFolder', 'restoreFolder', 'share', 'unshare'), a: fc.nat(7), b: fc.nat(7) }),
    fc.record({ kind: fc.constantFrom('moveDocument', 'trashDocument', 'restoreDocument', 'shareDocument', 'unshare'), a: fc.nat(7), b: fc.nat(7) }),
  );
  const run = async ({ kind, a, b }: { kind: string; a: number; b: number }): Promise<unknown> => {
    if (kind === 'moveFolder') return changeFolder(lib, ava, folders[a]!, { parentId: folders[b]! });
    if (kind === 'trashFolder') return trashFolder(lib, ava, folders[a]!);
    if (kind === 'restoreFolder') return restoreFolder(lib, ava, folders[a]!);
    if (kind === 'moveDocument') return changeDocument(lib, ava, documents[a]!, { folderId: folders[b]! });
    if (kind === 'trashDocument') return trashDocument(lib, ava, documents[a]!);
    if (kind === 'restoreDocument') return restoreDocument(lib, ava, documents[a]!);
    if (kind === 'share') return giveGrant(lib, ava, { folderId: folders[a]! }, { email: bo.user.email, right: 'edit' });
    if (kind === 'shareDocument') return giveGrant(lib, ava, { documentId: documents[a]! }, { email: bo.user.email, right: 'read' });
    const grants = await stillGranted();
    return grants.length === 0 ? null : removeGrant(lib, bo, grants[a % grants.length]!);
  };
  let visible = 0;
  let hidden = 0;
  for (const steps of fc.sample(fc.array(step, { minLength: 3, maxLength: 3 }), { numRuns: 40, seed: 20261024 })) {
    for (const one of steps) await run(one).catch(() => undefined);
    for (const actor of actors) {
      const scope = await scopeOf(lib.storage, actor);
      for (const id of documents) {
        const inScope = (await lib.storage.documents.inScope(id, scope)) !== null;
        expect(inScope).toBe(await can(lib.storage, actor, 'read', await document(id)));
        if (inScope) visible += 1;
        else hidden += 1;
      }
      for (const id of folders) {
        const object = await folder(id);
        expect(scope.folders.includes(object.row.ref)).toBe(await can(lib.storage, actor, 'read', object));
      }
    }
    // What search is told agrees with what is live.
    for (const id of documents) {
      const row = (await lib.storage.documents.byId(id))!;
      const path = await lib.storage.folders.ancestors(row.folder);
      const live = row.trashedAt === null && path.every((one) => one.trashedAt === null);
      expect(lib.index.live.get(row.ref) ?? true, row.name).toBe(live);
    }
  }
  // The walk must have met both, or it proves nothing.
  expect(Math.min(visible, hidden)).toBeGreaterThan(100);
}, 120_000);
