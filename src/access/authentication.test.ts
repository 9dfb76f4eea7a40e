import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { hourMs, openTestLibrary, type TestLibrary } from '../../test/support/library.ts';
import type { UserActor } from './actor.ts';
import { authenticateForAgentDoor, authenticateForApi, type Credentials } from './authentication.ts';
import { hashSecret, makeKeyText } from './key-text.ts';
import { createKey, revokeKey } from './keys.ts';
import { setPersonDisabled } from './people.ts';
import { signIn, signOut, startLogin } from './sessions.ts';

const facts = { requestId: 'r1' };
const words = {
  none: 'No credentials — send a login token or an sgk_ key in the Authorization header',
  malformed: "Malformed key — the prefix or checksum doesn't match, so check the value wasn't truncated when copied",
  login: 'MCP takes an agent key (sgk_s_…) in the Authorization header',
  personal: 'Personal keys work with the API only — make a key for an agent to use MCP',
  external: 'External keys work with /api/external only — make a key for an agent to use MCP',
  notValid: 'This key is not valid here — it may have been revoked or rolled; ask whoever manages Sergo for a new one',
};

let lib: TestLibrary;
let ava: UserActor & { rootId: string };
let admin: UserActor & { rootId: string };
let agentKey: string;
let personalKey: string;
let login: string;

beforeAll(async () => {
  lib = await openTestLibrary();
  ava = await lib.person('Ava Bennett');
  admin = await lib.person('Ann Admin', 'admin');
  agentKey = (await createKey(lib, ava, { kind: 'agent', name: 'energy', description: 'd', folderIds: [ava.rootId], documentIds: [] })).key;
  personalKey = (await createKey(lib, ava, { kind: 'personal', name: 'script' })).key;
  login = (await lib.storage.transaction((stores) => startLogin(lib, stores, ava.user.ref))).token;
});
afterAll(() => lib.close());

const atAgentDoor = (credentials: Credentials) => authenticateForAgentDoor(lib, credentials, facts);
const atApi = (credentials: Credentials) => authenticateForApi(lib, credentials, facts);

describe('the agent door', () => {
  test('takes an agent key in any form that HTTP allows', async () => {
    for (const authorization of [`Bearer ${agentKey}`, `bearer ${agentKey}`, `BEARER\t${agentKey} `, [`Bearer ${agentKey}`, `Bearer ${agentKey}`]]) {
      expect(await atAgentDoor({ authorization })).toMatchObject({ kind: 'agent_key', key: { name: 'energy' }, owner: { name: 'Ava Bennett' } });
    }
    expect(await atAgentDoor({ xApiKey: agentKey })).toMatchObject({ kind: 'agent_key' });
    expect(await atAgentDoor({ authorization: `Bearer ${agentKey}`, xApiKey: agentKey })).toMatchObject({ kind: 'agent_key' });
  });

  test('refuses everything else in the words of the contract', async () => {
    const external = makeKeyText('external', lib.random);
    const cases: [Credentials, string, string][] = [
      [{}, 'no_auth', words.none],
      [{ authorization: '' }, 'no_auth', words.none],
      [{ authorization: 'Bearer' }, 'no_auth', words.none],
      [{ authorization: 'Bearer   ' }, 'no_auth', words.none],
      [{ authorization: 'Basic YTpi' }, 'no_auth', words.none],
      [{ authorization: agentKey }, 'no_auth', words.none],
      [{ cookie: login }, 'no_auth', words.none],
      [{ authorization: 'Bearer nonsense' }, 'bad_key', words.malformed],
      [{ authorization: `Bearer ${agentKey} ${agentKey}` }, 'bad_key', words.malformed],
      [{ authorization: `Bearer ${agentKey.slice(0, -1)}` }, 'bad_key', words.malformed],
      [{ authorization: `Bearer ${login}` }, 'no_auth', words.login],
      [{ authorization: `Bearer ${personalKey}` }, 'personal_key', words.personal],
      [{ authorization: `Bearer ${external}` }, 'external_key', words.external],
      [{ authorization: `Bearer ${makeKeyText('agent', lib.random)}` }, 'bad_key', words.notValid],
      [{ authorization: `Bearer ${agentKey}`, xApiKey: personalKey }, 'bad_request', 'Two different credentials — send one, in the Authorization header'],
      [{ authorization: [`Bearer ${agentKey}`, `Bearer ${personalKey}`] }, 'bad_request', 'Two different credentials — send one, in the Authorization header'],
    ];
    for (const [credentials, code, message] of cases) {
      await expect(atAgentDoor(credentials), JSON.stringify(credentials)).rejects.toMatchObject({ code, message });
    }
  });
});

describe('the API', () => {
  test('takes login tokens and personal keys, and refuses the others with a sentence', async () => {
    expect(await atApi({ authorization: `Bearer ${login}` })).toMatchObject({ via: 'session', fromCookie: false, user: { name: 'Ava Bennett' } });
    expect(await atApi({ cookie: login })).toMatchObject({ via: 'session', fromCookie: true });
    expect(await atApi({ authorization: `Bearer ${personalKey}`, cookie: login })).toMatchObject({ via: 'personal_key', masked: `sgk_p_…${personalKey.slice(-4)}` });
    await expect(atApi({ authorization: `Bearer ${agentKey}` })).rejects.toMatchObject({ code: 'agent_key' });
    await expect(atApi({ xApiKey: makeKeyText('external', lib.random) })).rejects.toMatchObject({ code: 'external_key' });
    await expect(atApi({ cookie: personalKey })).rejects.toMatchObject({ code: 'no_auth', message: words.none });
    await expect(atApi({ authorization: 'Bearer sgl_nonsense' })).rejects.toMatchObject({ code: 'bad_key', message: words.malformed });
  });

  test('a login ends a day after the last call, and a month after the password in any case', async () => {
    const { token } = await lib.storage.transaction((stores) => startLogin(lib, stores, ava.user.ref));
    const ask = () => atApi({ authorization: `Bearer ${token}` });
    for (let day = 0; day < 31; day += 1) {
      await expect(ask()).resolves.toMatchObject({ via: 'session' });
      lib.clock.advance(23 * hourMs);
    }
    lib.clock.advance(8 * hourMs);
    await expect(ask()).rejects.toMatchObject({ code: 'no_auth', message: 'This sign-in has ended — sign in again' });

    const idle = await lib.storage.transaction((stores) => startLogin(lib, stores, ava.user.ref));
    lib.clock.advance(24 * hourMs);
    await expect(atApi({ authorization: `Bearer ${idle.token}` })).rejects.toMatchObject({ code: 'no_auth' });
  });

  test('signing out ends that login only', async () => {
    const [one, other] = await lib.storage.transaction(async (stores) => [await startLogin(lib, stores, ava.user.ref), await startLogin(lib, stores, ava.user.ref)]);
    await signOut(lib, admin, one!.token);
    const actor = await atApi({ authorization: `Bearer ${one!.token}` });
    await signOut(lib, actor, one!.token);
    await expect(atApi({ authorization: `Bearer ${one!.token}` })).rejects.toMatchObject({ code: 'no_auth' });
    await expect(atApi({ authorization: `Bearer ${other!.token}` })).resolves.toMatchObject({ via: 'session' });
  });
});

test('unknown, revoked and disabled owners’ keys get one answer; the log alone says which', async () => {
  const bo = await lib.person('Bo Larsen');
  const make = async (name: string) => createKey(lib, bo, { kind: 'agent', name, description: 'd', folderIds: [bo.rootId], documentIds: [] });
  const [revoked, kept] = [await make('revoked'), await make('kept')];
  await revokeKey(lib, bo, revoked.id);
  await setPersonDisabled(lib, admin, bo.user.id, true);
  const answers = [];
  for (const key of [revoked.key, kept.key, makeKeyText('agent', lib.random)]) {
    answers.push(await atAgentDoor({ authorization: `Bearer ${key}` }).catch((error: unknown) => ({ ...(error as object), message: (error as Error).message })));
  }
  expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
  expect(answers[0]).toMatchObject({ code: 'bad_key', message: words.notValid });
  const rows = await lib.audit.list({ action: 'request refused' }, 3);
  expect(rows.map((row) => row.detail)).toEqual(['unknown key', 'key of a disabled user', 'revoked key']);
  expect(rows.map((row) => row.masked?.slice(0, 7))).toEqual(['sgk_s_…', 'sgk_s_…', 'sgk_s_…']);
  await setPersonDisabled(lib, admin, bo.user.id, false);
  expect(await atAgentDoor({ authorization: `Bearer ${kept.key}` })).toMatchObject({ kind: 'agent_key' });
});

test('a call costs two look-ups, none while nothing changed, and "last used" is written at most once a minute', async () => {
  const key = await createKey(lib, ava, { kind: 'agent', name: 'counted', description: 'd', folderIds: [ava.rootId], documentIds: [] });
  const byValueHash = vi.spyOn(lib.storage.keys, 'byValueHash');
  const byRef = vi.spyOn(lib.storage.users, 'byRef');
  const touch = vi.spyOn(lib.storage.keys, 'touch');
  const transaction = vi.spyOn(lib.storage, 'transaction');
  await atAgentDoor({ authorization: `Bearer ${key.key}` });
  expect([byValueHash.mock.calls.length, byRef.mock.calls.length, transaction.mock.calls.length]).toEqual([1, 1, 0]);
  await Promise.all(touch.mock.results.map((result) => result.value as Promise<void>));
  for (let call = 0; call < 50; call += 1) await atAgentDoor({ authorization: `Bearer ${key.key}` });
  // Once more after the commit that wrote "last used", then from memory.
  expect([byValueHash.mock.calls.length, byRef.mock.calls.length, transaction.mock.calls.length]).toEqual([2, 2, 0]);
  expect(byValueHash.mock.calls[0]).toEqual([hashSecret(key.key)]);
  expect(touch).toHaveBeenCalledTimes(1);
  lib.clock.advance(60_000);
  await atAgentDoor({ authorization: `Bearer ${key.key}` });
  expect(touch).toHaveBeenCalledTimes(2);
  await Promise.all(touch.mock.results.map((result) => result.value as Promise<void>));
  expect((await lib.storage.keys.byId(key.id))?.lastUsedAt).toBe(lib.clock.now());
  vi.restoreAllMocks();
});

test('the end user is cut at 256 characters and changes nothing else', async () => {
  const plain = await atAgentDoor({ authorization: `Bearer ${agentKey}` });
  for (const endUser of ['admin', '  Bo  ', '😀'.repeat(300), 'x'.repeat(10_000), 'a\r\nb\u001b[31m']) {
    const { endUser: kept, ...rest } = await authenticateForAgentDoor(lib, { authorization: `Bearer ${agentKey}` }, { ...facts, endUser });
    expect(rest).toEqual(plain);
    expect(Array.from(kept ?? '').length).toBeLessThanOrEqual(256);
  }
});

test('sign-in gives one sentence for every cause and never logs what may be a password', async () => {
  const failed = { code: 'bad_login', message: 'E-mail and password do not match — check both, or ask an admin for a new password' };
  await expect(signIn(lib, { email: 'ava.bennett@example.com', password: 'wrong one here' }, facts)).rejects.toMatchObject(failed);
  await expect(signIn(lib, { email: 'nobody@example.com', password: 'wrong one here' }, facts)).rejects.toMatchObject(failed);
  await expect(signIn(lib, { email: 'my secret password', password: '' }, facts)).rejects.toMatchObject(failed);
  const rows = await lib.audit.list({ action: 'sign-in' }, 3);
  expect(rows.map((row) => [row.detail, row.outcome])).toEqual([
    ['not an e-mail address', 'denied'], ['nobody@example.com', 'denied'], ['ava.bennett@example.com', 'denied'],
  ]);
});
