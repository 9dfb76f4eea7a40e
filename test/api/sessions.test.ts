import { afterEach, describe, expect, it } from 'vitest';
import { ensureSetupToken } from '../../src/access/setup.ts';
import { openConsole, type Console, type ConsoleOptions } from './harness.ts';

const open: Console[] = [];
const make = async (options?: ConsoleOptions): Promise<Console> => {
  const sergo = await openConsole(options);
  open.push(sergo);
  return sergo;
};
afterEach(async () => {
  for (const sergo of open.splice(0)) await sergo.close();
});

const admin = { name: 'Ava Bennett', email: 'ava@example.com', password: 'a long enough passphrase 7' };

describe('set-up', () => {
  it('makes exactly one admin with the token, however many try at once, and is then gone', async () => {
    const sergo = await make();
    const token = await ensureSetupToken(sergo.library);
    expect((await sergo.call(null, 'GET', '/setup')).json()).toEqual({ needed: true });
    expect((await sergo.call(null, 'POST', '/setup', { body: { ...admin, token: 'wrong' } })).statusCode).toBe(403);
    const all = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        sergo.call(null, 'POST', '/setup', { body: { ...admin, email: `ava${n}@example.com`, token } }),
      ),
    );
    const made = all.filter((answer) => answer.statusCode === 201);
    expect(made).toHaveLength(1);
    expect(made[0]?.json()).toEqual({
      token: expect.any(String),
      expiresAt: expect.any(String),
      userId: expect.any(String),
      folderId: expect.any(String),
    });
    expect(all.filter((answer) => answer.statusCode === 404)).toHaveLength(19);
    const gone = await sergo.call(null, 'GET', '/setup');
    expect(gone.statusCode).toBe(404);
    const json = { 'content-type': 'application/json' };
    const bodies = [{ body: {} }, { body: { token: 'x' } }, { body: '{"token":', headers: json }, { body: 'x', headers: { 'content-type': 'text/plain' } }, {}, { body: { ...admin, token, role: 'admin' } }];
    for (const more of bodies) {
      const { statusCode, body } = await sergo.call(null, 'POST', '/setup', more);
      expect([statusCode, body.replace(/"requestId":"[^"]*"/, '')], JSON.stringify(more)).toEqual([404, gone.body.replace(/"requestId":"[^"]*"/, '')]);
    }
    const me = await sergo.call(made[0]?.json().token, 'GET', '/me');
    expect(me.json()).toMatchObject({
      name: 'Ava Bennett',
      role: 'admin',
      userId: made[0]?.json().userId,
      rootFolderId: made[0]?.json().folderId,
    });
  });
});

describe('signing in', () => {
  const signedUp = async (options?: ConsoleOptions): Promise<Console> => {
    const sergo = await make(options);
    await sergo.call(null, 'POST', '/setup', { body: { ...admin, token: await ensureSetupToken(sergo.library) } });
    return sergo;
  };
  const { email, password } = admin;

  it('answers a token, and one sentence for everything that is wrong', async () => {
    const sergo = await signedUp();
    const good = await sergo.call(null, 'POST', '/login', { body: { email, password } });
    expect(good.json()).toEqual({ token: expect.any(String), expiresAt: expect.stringMatching(/^\d{4}-.*Z$/) });
    expect(good.headers['set-cookie']).toBeUndefined();
    const wrong = await sergo.call(null, 'POST', '/login', { body: { email, password: 'wrong' } });
    const nobody = await sergo.call(null, 'POST', '/login', { body: { email: 'x@example.com', password } });
    expect([wrong.statusCode, wrong.json().message]).toEqual([401, nobody.json().message]);
    const { token } = good.json();
    expect((await sergo.call(token, 'POST', '/logout')).statusCode).toBe(204);
    expect((await sergo.call(token, 'GET', '/me')).statusCode).toBe(401);
  });

  it('slows guesses down: the eleventh is told to wait', async () => {
    const sergo = await signedUp({ rates: { badCredentialsPerMinute: 10 } });
    for (let n = 0; n < 10; n++) expect((await sergo.call('sgk_p_wrong', 'GET', '/me')).statusCode).toBe(401);
    const eleventh = await sergo.call('sgk_p_wrong', 'GET', '/me');
    expect([eleventh.statusCode, eleventh.json().code, eleventh.headers['retry-after']]).toEqual([
      429,
      'rate_limited',
      '6',
    ]);
    expect((await sergo.call(null, 'POST', '/login', { body: { email, password } })).statusCode).toBe(429);
    sergo.library.clock.advance(60_000);
    const { token } = (await sergo.call(null, 'POST', '/login', { body: { email, password } })).json();
    for (let n = 0; n < 12; n++) await sergo.call('sgk_p_wrong', 'GET', '/me');
    expect((await sergo.call(token, 'GET', '/me')).statusCode).toBe(200);
  });

  it('limits the calls of one user and says when to come back', async () => {
    const sergo = await signedUp({ rates: { callsPerMinute: 30 } });
    const { token } = (await sergo.call(null, 'POST', '/login', { body: { email, password } })).json();
    const answers = [];
    for (let n = 0; n < 31; n++) answers.push((await sergo.call(token, 'GET', '/me')).statusCode);
    expect(answers.filter((status) => status === 200)).toHaveLength(30);
    expect(answers.at(-1)).toBe(429);
  });

  it.each([
    ['https://sergo.example.com', '__Host-sergo', true],
    ['http://127.0.0.1:8080', 'sergo', false],
  ])('with a cookie at %s', async (publicUrl, name, secure) => {
    const sergo = await signedUp({ publicUrl });
    const answer = await sergo.call(null, 'POST', '/login', {
      body: { email, password, cookie: true },
      headers: { origin: publicUrl },
    });
    expect(answer.json()).toEqual({ expiresAt: expect.any(String) });
    const header = String(answer.headers['set-cookie']);
    expect(header).toMatch(
      new RegExp(`^${name}=[^;]+; Path=/; HttpOnly; SameSite=Lax; Max-Age=\\d+${secure ? '; Secure' : ''}$`),
    );
    const cookie = header.split(';')[0] ?? '';
    expect((await sergo.call(null, 'GET', '/me', { headers: { cookie } })).statusCode).toBe(200);

    const post = (headers: Record<string, string>, body?: unknown) =>
      sergo.call(null, 'POST', '/keys', { headers: { cookie, ...headers }, ...(body === undefined ? {} : { body }) });
    const key = { kind: 'personal', name: 'script' };
    expect((await post({}, key)).json()).toMatchObject({ code: 'forbidden' });
    expect((await post({ origin: 'https://evil.example' }, key)).statusCode).toBe(403);
    expect((await post({ origin: 'null' }, key)).statusCode).toBe(403);
    expect((await post({ origin: publicUrl, 'sec-fetch-site': 'cross-site' }, key)).statusCode).toBe(403);
    expect((await post({ origin: publicUrl, 'content-type': 'text/plain' }, '{}')).statusCode).toBe(403);
    expect((await post({ origin: publicUrl }, key)).statusCode).toBe(201);
    expect((await post({ 'sec-fetch-site': 'same-origin' }, { ...key, name: 'other' })).statusCode).toBe(201);

    const out = await sergo.call(null, 'POST', '/logout', {
      headers: { cookie, origin: publicUrl, 'x-sergo-request': '1' },
    });
    expect(out.statusCode).toBe(204);
    expect(String(out.headers['set-cookie'])).toContain('Max-Age=0');
    expect((await sergo.call(null, 'GET', '/me', { headers: { cookie } })).statusCode).toBe(401);
  });

  it('refuses two credentials, and takes no key from the address', async () => {
    const sergo = await signedUp();
    const { token } = (await sergo.call(null, 'POST', '/login', { body: { email, password } })).json();
    expect((await sergo.call(token, 'GET', '/me', { headers: { 'x-api-key': 'sgk_p_other' } })).json()).toMatchObject({
      code: 'bad_request',
    });
    expect((await sergo.call(token, 'GET', '/me', { headers: { 'x-api-key': token } })).statusCode).toBe(200);
    expect((await sergo.call(null, 'GET', `/me?access_token=${token}`)).json()).toMatchObject({ code: 'no_auth' });
    expect(sergo.lines.join('')).not.toContain(token);
  });

  it('changes the own password, and the old one has to be right', async () => {
    const sergo = await signedUp({ rates: { badCredentialsPerMinute: 2 } });
    const { token } = (await sergo.call(null, 'POST', '/login', { body: { email, password } })).json();
    const change = (oldPassword: string) =>
      sergo.call(token, 'POST', '/me/password', { body: { oldPassword, password: 'an even longer passphrase 8' } });
    expect((await change('not it')).json()).toMatchObject({ code: 'invalid', field: 'oldPassword' });
    expect((await change('not it')).statusCode).toBe(400);
    expect((await change('not it')).statusCode).toBe(429);
    sergo.library.clock.advance(60_000);
    expect((await change(password)).statusCode).toBe(204);
    expect((await sergo.call(token, 'GET', '/me')).statusCode).toBe(401);
    expect(
      (await sergo.call(null, 'POST', '/login', { body: { email, password: 'an even longer passphrase 8' } }))
        .statusCode,
    ).toBe(200);
  });
});

describe('other sites', () => {
  it('may call when the operator listed them, with a key of their own', async () => {
    const origin = 'https://chat.example.com';
    const sergo = await make({ allowedOrigins: [origin] });
    const ava = await sergo.person('Ava Bennett');
    const ask = (from: string, method: string, headers = {}) =>
      sergo.call(method === 'OPTIONS' ? null : ava, method, '/me', { headers: { origin: from, ...headers } });
    const preflight = await ask(origin, 'OPTIONS', {
      'access-control-request-method': 'GET',
      'access-control-request-headers': 'authorization',
    });
    expect([preflight.statusCode, preflight.headers['access-control-allow-origin']]).toEqual([204, origin]);
    expect(preflight.headers['access-control-allow-credentials']).toBeUndefined();
    expect((await ask(origin, 'GET')).headers['access-control-allow-origin']).toBe(origin);
    const other = await ask('https://evil.example', 'OPTIONS', { 'access-control-request-method': 'GET' });
    expect([other.statusCode, other.headers['access-control-allow-origin']]).toEqual([405, undefined]);
    expect((await ask('https://evil.example', 'GET')).headers['access-control-allow-origin']).toBeUndefined();
  });
});
