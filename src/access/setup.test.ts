import { afterEach, beforeEach, expect, test } from 'vitest';
import { hourMs, openTestLibrary, type TestLibrary } from '../../test/support/library.ts';
import { authenticateForAgentDoor, authenticateForApi } from './authentication.ts';
import { createKey } from './keys.ts';
import { getMe } from './people.ts';
import { scopeOf } from './scope.ts';
import { ensureSetupToken, needsSetup, setUpLocally, setUpWithToken } from './setup.ts';
import { signIn } from './sessions.ts';

let lib: TestLibrary;
beforeEach(async () => {
  lib = await openTestLibrary();
});
afterEach(() => lib.close());

const facts = { requestId: 'r1' };
const first = { name: 'Ava Bennett', email: 'Ava@example.com', password: 'correct horse battery' };

test('from set-up to a key that authenticates', async () => {
  const token = (await ensureSetupToken(lib))!;
  const made = await setUpWithToken(lib, { ...first, token }, facts);
  const login = await signIn(lib, { email: 'ava@EXAMPLE.com', password: 'correct horse battery' }, facts);
  const ava = await authenticateForApi(lib, { authorization: `Bearer ${login.token}` }, facts);
  expect(await getMe(lib, ava)).toEqual({ userId: made.userId, name: 'Ava Bennett', email: 'ava@example.com', role: 'admin', rootFolderId: made.folderId });
  const key = await createKey(lib, ava, { kind: 'agent', name: 'energy-outlooks', description: 'd', folderIds: [made.folderId], documentIds: [] });
  const actor = await authenticateForAgentDoor(lib, { authorization: `bearer ${key.key}` }, { requestId: 'r4', endUser: 'Bo' });
  expect((await scopeOf(lib.storage, actor)).folders).toEqual([ava.user.rootFolder]);
  expect((await lib.audit.verify()).ok).toBe(true);
  expect((await lib.audit.list({}, 10)).map((row) => row.action)).toEqual(['key created', 'sign-in', 'set-up']);
});

test('a fresh install lets nobody in; the token is 128 bits, stored as a hash, good for an hour, replaced at the next start (P20)', async () => {
  expect(await needsSetup(lib)).toBe(true);
  await expect(setUpWithToken(lib, { ...first, token: '' }, facts)).rejects.toMatchObject({ code: 'forbidden', field: 'token' });
  const [earlier, token] = [(await ensureSetupToken(lib))!, (await ensureSetupToken(lib))!];
  expect(token).toMatch(/^[0-9A-Za-z]{22}$/);
  expect(JSON.stringify(await lib.storage.settings.get('setup.token'))).not.toContain(token);
  await expect(setUpWithToken(lib, { ...first, token: earlier }, facts)).rejects.toMatchObject({ code: 'forbidden' });
  await expect(setUpWithToken(lib, { ...first, password: 'password', token }, facts)).rejects.toMatchObject({ code: 'invalid', field: 'password' });
  await expect(setUpWithToken(lib, { ...first, email: 'ava', token }, facts)).rejects.toMatchObject({ code: 'invalid', field: 'email' });
  await expect(setUpWithToken(lib, { ...first, name: 'AC/DC', token }, facts)).rejects.toMatchObject({ code: 'invalid', field: 'name' });
  lib.clock.advance(hourMs);
  await expect(setUpWithToken(lib, { ...first, token }, facts)).rejects.toMatchObject({ code: 'forbidden' });
  expect(await lib.storage.users.list()).toEqual([]);
});

test('fifty at once make exactly one admin, and then there is no set-up any more (P20)', async () => {
  const token = (await ensureSetupToken(lib))!;
  const tries = Array.from({ length: 50 }, (_, at) => setUpWithToken(lib, { ...first, email: `ava${at}@example.com`, token }, facts));
  const outcomes = await Promise.allSettled([...tries, setUpLocally(lib, { ...first, email: 'local@example.com' }, facts)]);
  expect(outcomes.filter((one) => one.status === 'fulfilled').length).toBe(1);
  for (const one of outcomes) if (one.status === 'rejected') expect(['not_found', 'conflict']).toContain((one.reason as { code: string }).code);
  expect((await lib.storage.users.list()).map((user) => user.role)).toEqual(['admin']);
  expect(await ensureSetupToken(lib)).toBeNull();
  expect(await lib.storage.settings.get('setup.token')).toBeNull();
  await expect(setUpWithToken(lib, { ...first, token }, facts)).rejects.toMatchObject({ code: 'not_found' });
}, 60_000);
