/** P20: a fresh install has no account; its one-time token makes exactly one admin, whoever races for it. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { adminCredentials, api, firstAdmin, logIn } from '../support/api-client.ts';
import { cleanEnvironment, startSergo, type RunningSergo } from '../support/running-sergo.ts';

vi.setConfig({ testTimeout: 120_000 });

const scratch = mkdtempSync(join(tmpdir(), 'sergo-bootstrap-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const running: RunningSergo[] = [];
afterEach(async () => {
  for (const sergo of running.splice(0)) await sergo.stop();
});
async function start(options: Parameters<typeof startSergo>[0] = {}): Promise<RunningSergo> {
  const sergo = await startSergo(options);
  running.push(sergo);
  return sergo;
}

/** The library that shifts a whole program's clock (Debian's faketime). */
const fakeTime = (() => {
  const path = '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1';
  if (existsSync(path)) return path;
  console.warn("SKIPPED: whether the set-up token ends after an hour. Debian's faketime is not installed.");
  return null;
})();

const tokenLine = /"token": "([^"]+)"/;

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

test('a fresh start has no account, and its token is in a file for its owner alone', async () => {
  const sergo = await start();
  const token = sergo.setupToken;
  expect(token).toMatch(/^\S{22,}$/);
  for (const [email, password] of [
    ['admin@example.com', 'admin'],
    ['admin', 'admin'],
    [adminCredentials.email, adminCredentials.password],
  ]) {
    expect((await api(sergo.url).post('/login', { email, password })).status).toBeGreaterThanOrEqual(400);
  }
  const holders = filesBelow(sergo.dataFolder).filter((file) => readFileSync(file).includes(token!));
  expect(holders).toHaveLength(1);
  expect(statSync(holders[0]!).mode & 0o777).toBe(0o600);
  expect(sergo.stdout()).toContain(holders[0]!);
});

test('fifty set-ups at once make exactly one admin, and set-up is gone afterwards', async () => {
  const sergo = await start({ env: { SERGO_RATE_BAD_CREDENTIALS: '100000' } });
  const token = sergo.setupToken;
  const attempts = await Promise.all(
    Array.from({ length: 50 }, (_, number) =>
      api(sergo.url).post('/setup', {
        token,
        name: `Admin ${number}`,
        email: `admin${number}@example.com`,
        password: adminCredentials.password,
      }),
    ),
  );
  const made = attempts.filter((attempt) => attempt.status === 201);
  expect(made).toHaveLength(1);
  expect(attempts.filter((attempt) => attempt.status >= 500)).toEqual([]);
  const admin = api(sergo.url, made[0]!.body.token);
  expect((await admin.get('/me')).body).toMatchObject({ role: 'admin', rootFolderId: made[0]!.body.folderId });

  const again = { token, name: 'Late', email: 'late@example.com', password: adminCredentials.password };
  expect((await api(sergo.url).post('/setup', again)).status).toBe(404);
  expect((await api(sergo.url).post('/setup', { ...again, token: 'x' })).status).toBe(404);
  expect(
    (await api(sergo.url).post('/login', { email: 'late@example.com', password: adminCredentials.password })).status,
  ).toBe(401);
  expect(filesBelow(sergo.dataFolder).filter((file) => readFileSync(file).includes(token!))).toEqual([]);
});

test('a wrong token is refused, and a new start prints a new one that replaces the old', async () => {
  const first = await start();
  const { dataFolder, setupToken: oldToken } = first;
  const input = { ...adminCredentials, token: `${oldToken!.slice(0, -1)}${oldToken!.endsWith('a') ? 'b' : 'a'}` };
  expect((await api(first.url).post('/setup', input)).status).toBe(403);
  await first.kill9();
  const second = await start({ dataFolder });
  expect(second.setupToken).not.toBe(oldToken);
  expect((await api(second.url).post('/setup', { ...adminCredentials, token: oldToken })).status).toBe(403);
  expect((await firstAdmin(second)).userId).toBeTruthy();
  await second.stop();
  const third = await start({ dataFolder });
  expect(third.setupToken).toBeNull();
  expect(third.stdout()).toBe(`Sergo is ready at ${third.url}\n`);
  await expect.poll(() => third.log()).toContain(`There is no console in this copy: people use ${third.url}/api/v1 and bin/sergo, agents ${third.url}/mcp.`);
  expect(third.stdout()).not.toMatch(tokenLine);
  await logIn(third.url);
  rmSync(dataFolder, { recursive: true, force: true });
});

test.skipIf(fakeTime === null)('the token is worth nothing after an hour', async () => {
  const clock = join(scratch, 'clock');
  writeFileSync(clock, '+0');
  const sergo = await start({ env: { LD_PRELOAD: fakeTime!, FAKETIME_TIMESTAMP_FILE: clock, FAKETIME_NO_CACHE: '1' } });
  const input = { ...adminCredentials, token: sergo.setupToken };
  writeFileSync(clock, '+3601s');
  const late = await api(sergo.url).post('/setup', input);
  expect([late.status, late.body.code]).toEqual([403, 'forbidden']);
  writeFileSync(clock, '+3500s');
  expect((await api(sergo.url).post('/setup', input)).status).toBe(201);
});

test('sergo setup works beside the server and without it, and only once', async () => {
  const passwordFile = join(scratch, 'password');
  writeFileSync(passwordFile, `${adminCredentials.password}\n`);
  const setup = (dataFolder: string, email: string, password: string, input?: string): ReturnType<typeof spawnSync> =>
    spawnSync('bin/sergo', ['setup', '--name', adminCredentials.name, '--email', email, '--password-file', password], {
      env: cleanEnvironment({ SERGO_DATA: dataFolder }) as NodeJS.ProcessEnv,
      encoding: 'utf8',
      ...(input === undefined ? {} : { input }),
    });

  const sergo = await start();
  const beside = setup(sergo.dataFolder, adminCredentials.email, passwordFile);
  expect(beside.status, String(beside.stderr)).toBe(0);
  const { userId, folderId } = JSON.parse(String(beside.stdout));
  const client = await logIn(sergo.url);
  expect((await client.get('/me')).body).toMatchObject({
    userId,
    rootFolderId: folderId,
    name: adminCredentials.name,
    role: 'admin',
  });
  const second = setup(sergo.dataFolder, 'other@example.com', passwordFile);
  expect(second.status).toBe(1);
  expect(String(second.stderr)).toMatch(/^sergo: /);

  const alone = setup(join(scratch, 'data'), adminCredentials.email, '-', adminCredentials.password);
  expect(alone.status, String(alone.stderr)).toBe(0);
  const later = await start({ dataFolder: join(scratch, 'data') });
  expect(later.setupToken).toBeNull();
  await logIn(later.url);
});

test('a second server on the same data folder is refused, naming the first', async () => {
  const sergo = await start();
  await expect(startSergo({ dataFolder: sergo.dataFolder })).rejects.toThrow(
    `already in use by the Sergo with process id ${sergo.pid}`,
  );
});
