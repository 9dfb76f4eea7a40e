/** P19: a flood of guessed keys costs the server nothing to speak of, and keeps nobody out who has a good one. */
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { authenticateForAgentDoor } from '../../src/access/authentication.ts';
import { createKey, revokeKey } from '../../src/access/keys.ts';
import { makeKeyText } from '../../src/access/key-text.ts';
import { makeLoginToken } from '../../src/access/login-token.ts';
import { AppError } from '../../src/errors.ts';
import { openConsole, type Console, type Person } from './harness.ts';

const LIMIT = 10;
const GUESSES = 500;

let sergo: Console;
let ava: Person;
let lookUps: number;
beforeEach(async () => {
  sergo = await openConsole({ rates: { badCredentialsPerMinute: LIMIT } });
  ava = await sergo.person('Ava Bennett');
  lookUps = 0;
  const { keys, sessions } = sergo.library.storage;
  const [byValueHash, byHash] = [keys.byValueHash.bind(keys), sessions.byHash.bind(sessions)];
  keys.byValueHash = (hash) => (lookUps++, byValueHash(hash));
  sessions.byHash = (hash) => (lookUps++, byHash(hash));
});
afterEach(() => sergo.close());

const personalKey = async (name: string): Promise<{ id: string; key: string }> => createKey(sergo.library, ava, { kind: 'personal', name });
const me = async (credential: string): Promise<number> => (await sergo.call(credential, 'GET', '/me')).statusCode;
const refusals = async (): Promise<number> => (await sergo.library.storage.audit.list({}, 1_000)).filter((row) => row.action === 'request refused').length;

describe.each([
  ['keys', () => makeKeyText('personal', randomBytes)],
  ['login tokens', () => makeLoginToken(randomBytes)],
])('guessed %s', (_what, guess) => {
  it('beyond the limit of an address are answered without a look-up or an audit row each', async () => {
    const statuses: number[] = [];
    for (let count = 0; count < GUESSES; count++) statuses.push(await me(guess()));
    expect(statuses.slice(0, LIMIT)).toEqual(Array.from({ length: LIMIT }, () => 401));
    expect(new Set(statuses.slice(LIMIT))).toEqual(new Set([429]));
    expect(lookUps).toBe(LIMIT);
    expect(await refusals()).toBeLessThanOrEqual(LIMIT);
    const held = await sergo.call(guess(), 'GET', '/me');
    expect(held.headers['retry-after']).toBe('6');
    expect(held.json()).toMatchObject({ code: 'rate_limited' });
  });

  it('do not keep out who has a good one, old or made meanwhile, from the same address', async () => {
    const { key } = await personalKey('old');
    for (let count = 0; count < LIMIT + 5; count++) await me(guess());
    expect(await me(key)).toBe(200);
    expect(await me(ava.token)).toBe(200);
    sergo.library.clock.advance(1_000);
    const made = await personalKey('new');
    for (let count = 0; count < 5; count++) await me(guess());
    sergo.library.clock.advance(5_000);
    for (let count = 0; count < 5; count++) await me(guess());
    expect(await me(made.key)).toBe(200);
    expect(await me(guess())).toBe(429);
  });
});

it('a revoked key is looked up once more in a flood, then it is one of the guesses', async () => {
  const { id, key } = await personalKey('mine');
  sergo.library.clock.advance(120_000);
  await revokeKey(sergo.library, ava, id);
  for (let count = 0; count < LIMIT + 5; count++) await me(makeKeyText('personal', randomBytes));
  const before = lookUps;
  const statuses = [await me(key), await me(key), await me(key)];
  expect(statuses).toEqual([429, 429, 429]);
  expect(lookUps).toBe(before + 1);
});

it("the agent door's keys are held up by its own count, before any look-up", async () => {
  const { key } = await createKey(sergo.library, ava, { kind: 'agent', name: 'reader', description: 'Reads', folderIds: [ava.rootId], documentIds: [] });
  const refusal = new AppError('rate_limited', 'Wait', { retryAfterSeconds: 6 });
  const enter = (text: string, heldUp: AppError | null) =>
    authenticateForAgentDoor(sergo.library, { xApiKey: text }, { requestId: 'r', heldUp: () => heldUp });
  await expect(enter(makeKeyText('agent', randomBytes), refusal)).rejects.toBe(refusal);
  expect(lookUps).toBe(0);
  expect(await refusals()).toBe(0);
  await expect(enter(key, refusal)).resolves.toMatchObject({ kind: 'agent_key' });
  await expect(enter(makeKeyText('agent', randomBytes), null)).rejects.toMatchObject({ code: 'bad_key' });
});
