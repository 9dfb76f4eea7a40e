import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openTestLibrary } from '../../test/support/library.ts';
import { AppError } from '../errors.ts';
import { authenticateForAgentDoor, authenticateForApi } from './authentication.ts';
import { createKey, rollKey } from './keys.ts';
import { changeOwnPassword, createPerson } from './people.ts';
import { ensureSetupToken, setUpWithToken } from './setup.ts';
import { signIn } from './sessions.ts';

test('no key, password, login or set-up token is anywhere in the data folder after it was used (P17)', async () => {
  const lib = await openTestLibrary();
  const facts = { requestId: 'r' };
  const passwords = ['correct horse battery', 'second unlikely phrase', 'third unlikely phrase'] as const;
  const setupToken = (await ensureSetupToken(lib))!;
  const made = await setUpWithToken(lib, { name: 'Ava', email: 'ava@example.com', password: passwords[0], token: setupToken }, facts);
  const admin = await authenticateForApi(lib, { cookie: made.token }, facts);
  await createPerson(lib, admin, { name: 'Bo', email: 'bo@example.com', password: passwords[1], role: 'member' });
  await signIn(lib, { email: 'bo@example.com', password: 'wrong unlikely phrase' }, facts).catch(() => undefined);
  const login = await signIn(lib, { email: 'bo@example.com', password: passwords[1] }, facts);
  await changeOwnPassword(lib, await authenticateForApi(lib, { cookie: login.token }, facts), passwords[1], passwords[2]);
  const secrets: string[] = [...passwords, 'wrong unlikely phrase', setupToken, made.token, login.token];
  for (let count = 0; count < 20; count += 1) {
    const key = await createKey(lib, admin, { kind: 'personal', name: `key ${count}` });
    const rolled = await rollKey(lib, admin, key.id, '1h');
    await authenticateForApi(lib, { authorization: `Bearer ${rolled.key}` }, facts);
    secrets.push(key.key, rolled.key);
  }
  let searched = 0;
  for (const entry of await readdir(lib.folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const bytes = await readFile(join(entry.parentPath, entry.name));
    searched += bytes.length;
    for (const secret of secrets) {
      expect(bytes.includes(secret), `${entry.name} has ${secret.slice(0, 8)}…`).toBe(false);
      // A part of a key would do for guessing the rest.
      if (secret.startsWith('sg')) expect(bytes.includes(secret.slice(6, 24))).toBe(false);
    }
    // The control: masks are there, so the search looks at the right place.
    if (entry.name === 'sergo.db-wal') expect(bytes.includes(`…${secrets.at(-1)!.slice(-4)}`)).toBe(true);
  }
  expect(searched).toBeGreaterThan(100_000);
  await lib.close();
});

test('whatever stands in a header is answered by one of the known refusals', async () => {
  const lib = await openTestLibrary();
  const codes = new Set(['no_auth', 'bad_key', 'bad_request', 'personal_key', 'external_key', 'agent_key']);
  const header = fc.option(fc.oneof(
    fc.string({ maxLength: 80 }), fc.string({ unit: 'binary', maxLength: 80 }),
    fc.string({ maxLength: 40 }).map((text) => `Bearer ${text}`), fc.string({ minLength: 38, maxLength: 38 }).map((text) => `bearer sgk_s_${text}`),
    fc.array(fc.string({ maxLength: 20 }), { maxLength: 3 }),
  ), { nil: undefined });
  await fc.assert(
    fc.asyncProperty(header, header, fc.option(fc.string(), { nil: undefined }), fc.string({ unit: 'binary' }), async (authorization, xApiKey, cookie, endUser) => {
      for (const door of [authenticateForAgentDoor, authenticateForApi]) {
        const error: unknown = await door(lib, { authorization, xApiKey, cookie }, { requestId: 'r', endUser }).then(() => null, (reason: unknown) => reason);
        expect(error).toBeInstanceOf(AppError);
        expect(codes).toContain((error as AppError).code);
      }
    }),
    { numRuns: 2_000 },
  );
  await lib.close();
});
