import { expect, test } from 'vitest';
import { openTestLibrary } from '../../test/support/library.ts';
import { authenticateForAgentDoor, authenticateForApi } from './authentication.ts';
import { createKey } from './keys.ts';
import { scopeOf } from './scope.ts';
import { ensureSetupToken, setUpWithToken } from './setup.ts';
import { signIn } from './sessions.ts';

test('from set-up to a key that authenticates', async () => {
  const lib = await openTestLibrary();
  const token = await ensureSetupToken(lib);
  const made = await setUpWithToken(lib, { name: 'Ava Bennett', email: 'Ava@example.com', password: 'correct horse battery', token: token! }, { requestId: 'r1' });
  const login = await signIn(lib, { email: 'ava@EXAMPLE.com', password: 'correct horse battery' }, { requestId: 'r2' });
  const ava = await authenticateForApi(lib, { authorization: `Bearer ${login.token}` }, { requestId: 'r3' });
  const key = await createKey(lib, ava, { kind: 'agent', name: 'energy-outlooks', description: 'd', folderIds: [made.folderId], documentIds: [] });
  const actor = await authenticateForAgentDoor(lib, { authorization: `bearer ${key.key}` }, { requestId: 'r4', endUser: 'Bo' });
  expect((await scopeOf(lib.storage, actor)).folders).toEqual([ava.user.rootFolder]);
  expect((await lib.audit.verify()).ok).toBe(true);
  expect((await lib.audit.list({}, 10)).map((row) => row.action)).toEqual(['key created', 'sign-in', 'set-up']);
  await lib.close();
});
