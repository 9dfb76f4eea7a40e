import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestLibrary, type TestLibrary } from '../../test/support/library.ts';
import { getFolder } from '../library/folders.ts';
import type { UserActor } from './actor.ts';
import { authenticateForApi } from './authentication.ts';
import { giveGrant, listGrants, removeGrant } from './grants.ts';
import { changeOwnPassword, createPerson, editPerson, listPeople, resetPassword, setPersonDisabled } from './people.ts';
import { signIn } from './sessions.ts';

let lib: TestLibrary;
let admin: UserActor & { rootId: string };
let ava: UserActor & { rootId: string };
beforeAll(async () => {
  lib = await openTestLibrary();
  admin = await lib.person('Ann Admin', 'admin');
  ava = await lib.person('Ava Bennett');
});
afterAll(() => lib.close());

const facts = { requestId: 'r' };
const newcomer = { name: 'Cy Moreau', email: 'cy@example.com', password: 'four random words here', role: 'member' as const };

test('people are managed by admins, each with a root folder of their own', async () => {
  const cy = await createPerson(lib, admin, newcomer);
  const login = await signIn(lib, newcomer, facts);
  const actor = await authenticateForApi(lib, { cookie: login.token }, facts);
  expect(await getFolder(lib, actor, cy.rootFolderId)).toMatchObject({ name: "Cy Moreau's documents", parentId: null });
  await expect(getFolder(lib, admin, cy.rootFolderId)).rejects.toMatchObject({ code: 'not_found' });
  await expect(createPerson(lib, admin, { ...newcomer, email: ' CY@example.com' })).rejects.toMatchObject({ code: 'conflict', field: 'email' });
  for (const work of [createPerson(lib, ava, newcomer), listPeople(lib, ava), editPerson(lib, ava, cy.userId, { role: 'admin' }),
    setPersonDisabled(lib, ava, cy.userId, true), resetPassword(lib, ava, cy.userId, 'another four words')]) {
    await expect(work).rejects.toMatchObject({ code: 'forbidden' });
  }
  const denied = await lib.audit.list({ outcome: 'denied', actorId: ava.user.id }, 5);
  expect(denied.map((row) => row.action).toSorted()).toEqual(['password reset', 'user created', 'user disabled', 'user edited', 'user read']);
});

test('a new password and disabling end every login of that user', async () => {
  const login = await signIn(lib, newcomer, facts);
  const cy = await authenticateForApi(lib, { cookie: login.token }, facts);
  await expect(changeOwnPassword(lib, cy, 'not the old one', 'a brand new secret')).rejects.toMatchObject({ code: 'invalid', field: 'oldPassword' });
  await changeOwnPassword(lib, cy, newcomer.password, 'a brand new secret');
  await expect(authenticateForApi(lib, { cookie: login.token }, facts)).rejects.toMatchObject({ code: 'no_auth' });
  const again = await signIn(lib, { ...newcomer, password: 'a brand new secret' }, facts);
  await resetPassword(lib, admin, cy.user.id, 'set by the admin');
  await expect(authenticateForApi(lib, { cookie: again.token }, facts)).rejects.toMatchObject({ code: 'no_auth' });
  const third = await signIn(lib, { ...newcomer, password: 'set by the admin' }, facts);
  await setPersonDisabled(lib, admin, cy.user.id, true);
  await expect(authenticateForApi(lib, { cookie: third.token }, facts)).rejects.toMatchObject({ code: 'no_auth' });
  await expect(signIn(lib, { ...newcomer, password: 'set by the admin' }, facts)).rejects.toMatchObject({ code: 'bad_login' });
});

test('the last admin stays one', async () => {
  await expect(setPersonDisabled(lib, admin, admin.user.id, true)).rejects.toMatchObject({ code: 'conflict' });
  await expect(editPerson(lib, admin, admin.user.id, { role: 'member' })).rejects.toMatchObject({ code: 'conflict' });
  const second = await createPerson(lib, admin, { ...newcomer, email: 'second@example.com', role: 'admin' });
  await editPerson(lib, admin, second.userId, { role: 'member', name: 'Cy Renamed' });
  expect((await listPeople(lib, admin)).find((one) => one.userId === second.userId)).toMatchObject({ role: 'member', name: 'Cy Renamed' });
});

test('grants: given by the owner alone, all listed on the object, and their removal is total', async () => {
  const [bo, dee] = [await lib.person('Bo Larsen'), await lib.person('Dee Okafor')];
  const folder = await lib.folderIn(ava, ava.rootId, 'Shared');
  const document = await lib.upload(ava, folder, 'a.txt');
  await giveGrant(lib, ava, { folderId: folder }, { email: 'BO.larsen@example.com', right: 'read' });
  await giveGrant(lib, ava, { folderId: folder }, { email: bo.user.email, right: 'edit' });
  await giveGrant(lib, ava, { documentId: document.id }, { email: dee.user.email, right: 'read' });
  const listed = await listGrants(lib, ava, { documentId: document.id });
  expect(listed.map((grant) => [grant.user.name, grant.right, grant.on.kind])).toEqual([['Dee Okafor', 'read', 'document'], ['Bo Larsen', 'edit', 'folder']]);

  // No grant exceeds the granter: whoever edits does not share, nor does an admin.
  for (const actor of [bo, dee, admin]) {
    await expect(giveGrant(lib, actor, { folderId: folder }, { email: dee.user.email, right: 'edit' })).rejects.toMatchObject({ code: 'not_found' });
    await expect(listGrants(lib, actor, { folderId: folder })).rejects.toMatchObject({ code: 'not_found' });
  }
  await expect(giveGrant(lib, ava, { folderId: folder }, { email: 'nobody@example.com', right: 'read' })).rejects.toMatchObject({ code: 'invalid' });
  await expect(giveGrant(lib, ava, { folderId: folder }, { email: ava.user.email, right: 'read' })).rejects.toMatchObject({ code: 'invalid' });

  expect((await getFolder(lib, bo, folder)).parentId).toBeNull();
  await expect(removeGrant(lib, dee, listed[1]!.id)).rejects.toMatchObject({ code: 'not_found' });
  await removeGrant(lib, dee, listed[0]!.id);
  await removeGrant(lib, ava, listed[1]!.id);
  expect(await listGrants(lib, ava, { documentId: document.id })).toEqual([]);
  await expect(getFolder(lib, bo, folder)).rejects.toMatchObject({ code: 'not_found' });
  const rows = await lib.audit.list({ action: 'grant given', outcome: 'ok' }, 1);
  expect(rows[0]).toMatchObject({ objectId: document.id, detail: 'a.txt: Dee Okafor may read' });
});
