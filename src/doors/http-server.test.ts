import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import pino from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { AppError } from '../errors.ts';
import { sendDownload } from './http-downloads.ts';
import { createHttpMetrics } from './http-metrics.ts';
import { createHttpServer, drainServer, type HttpConfig } from './http-server.ts';

const lines: string[] = [];
const config: HttpConfig = { publicUrl: 'https://sergo.example.com', host: '127.0.0.1' };
const open: { close(): Promise<void> }[] = [];

function makeServer(change: Partial<HttpConfig> = {}, readiness = async () => ({ ready: true, checks: {} })) {
  lines.length = 0;
  const app = createHttpServer({
    config: { ...config, ...change },
    log: pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) }),
    metrics: createHttpMetrics([{ name: 'sergo_queue_open', help: 'Open jobs', read: async () => 7 }]),
    readiness,
  });
  app.post(
    '/echo',
    { schema: { body: z.object({ limit: z.number().int().min(1).max(20), name: z.string().min(1) }) } },
    (request) => request.body,
  );
  app.get('/things/:id', (request) => ({ id: (request.params as { id: string }).id }));
  app.get('/broken', () => {
    throw new Error('select * from secrets at /srv/app.ts');
  });
  app.get('/busy', () => {
    throw new AppError('busy', 'Too much to do just now — try again in a moment', { retryAfterSeconds: 5 });
  });
  app.get('/slow', async () => {
    await new Promise((resolve) => setTimeout(resolve, 300));
    return { done: true };
  });
  const bytes = Buffer.from('0123456789');
  app.get('/file', (request, reply) =>
    sendDownload(request, reply, {
      name: 'Übersicht "1".pdf',
      mime: 'application/pdf',
      bytes: bytes.length,
      sha256: 'abc',
      open: (range) => Readable.from([range ? bytes.subarray(range.start, range.end + 1) : bytes]),
    }),
  );
  open.push(app);
  return app;
}

async function listen(app: ReturnType<typeof makeServer>): Promise<number> {
  await app.listen({ host: '127.0.0.1', port: 0 });
  return (app.server.address() as AddressInfo).port;
}

/** One request as bytes on a socket; answers all that came back. */
async function raw(port: number, text: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(text);
  let answer = '';
  for await (const chunk of socket) answer += String(chunk);
  return answer;
}

const own = { host: 'sergo.example.com' };

afterEach(async () => {
  await Promise.all(open.splice(0).map((app) => app.close()));
});

describe('requests that no route should see', () => {
  it.each([
    ['a foreign host', 'evil.example', 403],
    ['a host that starts like ours', 'sergo.example.com.evil.example', 403],
    ['the public host', 'sergo.example.com', 200],
    ['the public host with a port', 'sergo.example.com:443', 200],
    ['loopback by name', 'localhost:8080', 200],
    ['loopback by address', '127.0.0.1:1', 200],
    ['loopback in IPv6', '[::1]:8080', 200],
    ['user info before the host', 'a@sergo.example.com', 403],
  ])('%s', async (_name, host, status) => {
    const answer = await makeServer().inject({ url: '/healthz', headers: { host } });
    expect(answer.statusCode).toBe(status);
  });

  it('two Host headers, a whole URL in the request line, TRACE, and no HTTP at all', async () => {
    const port = await listen(makeServer());
    expect(
      await raw(port, 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\nConnection: close\r\n\r\n'),
    ).toMatch(/^HTTP\/1.1 400[^]*exactly one Host/);
    expect(
      await raw(port, 'GET http://localhost/healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'),
    ).toMatch(/^HTTP\/1.1 400[^]*path alone/);
    expect(await raw(port, 'TRACE /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')).toMatch(
      /^HTTP\/1.1 405/,
    );
    expect(await raw(port, 'hello\r\n\r\n')).toMatch(/^HTTP\/1.1 400[^]*"code":"bad_request"/);
    expect(
      await raw(port, `GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`),
    ).toMatch(/^HTTP\/1.1 431/);
    expect(await raw(port, 'GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n')).toMatch(
      /^HTTP\/1.1 200/,
    );
  });

  it('a body with Content-Encoding, of another type, too long, or not JSON', async () => {
    const app = makeServer();
    const post = (headers: Record<string, string>, payload: string) =>
      app.inject({ method: 'POST', url: '/echo', headers: { ...own, ...headers }, payload });
    expect((await post({ 'content-type': 'application/json', 'content-encoding': 'gzip' }, '{}')).statusCode).toBe(415);
    expect((await post({ 'content-type': 'text/plain' }, '{"limit":1,"name":"a"}')).json()).toMatchObject({
      code: 'wrong_type',
    });
    expect((await post({ 'content-type': 'application/json' }, 'x'.repeat(1024 * 1024 + 1))).statusCode).toBe(413);
    expect((await post({ 'content-type': 'application/json' }, '{"limit":')).json()).toMatchObject({
      code: 'bad_request',
      message: 'The body is not valid JSON',
    });
    expect((await post({ 'content-type': 'application/json' }, '{"__proto__":{"x":1}}')).statusCode).toBe(400);
  });
});

describe('errors', () => {
  it('name the field and what would be right', async () => {
    const app = makeServer();
    const message = async (payload: object) =>
      (await app.inject({ method: 'POST', url: '/echo', headers: own, payload })).json();
    expect(await message({ limit: 21, name: 'a' })).toEqual({
      code: 'invalid',
      message: '`limit` must be at most 20',
      field: 'limit',
      requestId: expect.any(String),
    });
    expect(await message({ limit: 1 })).toMatchObject({ message: '`name` is missing: it must be text' });
    expect(await message({ limit: 1.5, name: 'a' })).toMatchObject({ message: '`limit` must be a whole number' });
    expect(await message({ limit: 1, name: '' })).toMatchObject({ message: '`name` must not be empty' });
    const none = await app.inject({ method: 'POST', url: '/echo', headers: own });
    expect(none.json()).toMatchObject({ code: 'invalid', field: 'limit' });
  });

  it('hide what is ours to know, and log it with the request id', async () => {
    const answer = await makeServer().inject({ url: '/broken', headers: { ...own, 'x-request-id': 'abc-1' } });
    expect(answer.statusCode).toBe(500);
    expect(answer.body).not.toMatch(/select|srv|secrets/);
    expect(answer.json()).toMatchObject({ code: 'internal', requestId: 'abc-1' });
    expect(lines.map((line) => JSON.parse(line))).toContainEqual(
      expect.objectContaining({ requestId: 'abc-1', msg: 'request failed', level: 50 }),
    );
  });

  it('say when to come back', async () => {
    const answer = await makeServer().inject({ url: '/busy', headers: own });
    expect([answer.statusCode, answer.headers['retry-after']]).toEqual([503, '5']);
  });

  it('have one shape for addresses and methods that are not there', async () => {
    const app = makeServer();
    expect((await app.inject({ url: '/nowhere', headers: own })).json()).toMatchObject({ code: 'not_found' });
    expect((await app.inject({ url: '/.well-known/anything', headers: own })).statusCode).toBe(404);
    const wrong = await app.inject({ method: 'PUT', url: '/things/1', headers: own });
    expect([wrong.statusCode, wrong.headers.allow, wrong.json().code]).toEqual([
      405,
      'GET, HEAD',
      'method_not_allowed',
    ]);
    expect((await app.inject({ url: '/things/%E0%A4%A', headers: own })).json()).toMatchObject({ code: 'bad_request' });
    expect((await app.inject({ url: `/things/${'a'.repeat(5000)}`, headers: own })).statusCode).toBe(200);
  });
});

describe('what every answer and line carries', () => {
  it('security headers and a request id of ours unless the caller sent a plain one', async () => {
    const app = makeServer();
    const answer = await app.inject({ url: '/healthz', headers: { ...own, 'x-request-id': 'bad id\u0001' } });
    expect(answer.headers['content-security-policy']).toContain("default-src 'none'");
    expect(answer.headers['x-content-type-options']).toBe('nosniff');
    expect(answer.headers['strict-transport-security']).toBeDefined();
    expect(answer.headers['access-control-allow-origin']).toBeUndefined();
    expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    expect((await app.inject({ url: '/nowhere', headers: own })).headers['x-content-type-options']).toBe('nosniff');
  });

  it('one line of JSON a request, with the template and without the query', async () => {
    await makeServer().inject({
      url: '/things/secretId?q=secretQuery',
      headers: { ...own, authorization: 'Bearer sgk_s_secretKey', 'user-agent': 'a\r\nb' },
    });
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      method: 'GET',
      route: '/things/:id',
      status: 200,
      requestId: expect.any(String),
    });
    expect(lines[0]).not.toMatch(/secret/);
  });
});

describe('downloads', () => {
  const get = (headers: Record<string, string>) =>
    makeServer().inject({ url: '/file', headers: { ...own, ...headers } });

  it('are attachments that cannot run', async () => {
    const answer = await get({});
    expect(answer.body).toBe('0123456789');
    expect(answer.headers['content-disposition']).toBe(
      `attachment; filename="_bersicht _1_.pdf"; filename*=UTF-8''%C3%9Cbersicht%20%221%22.pdf`,
    );
    expect(answer.headers['content-security-policy']).toBe("default-src 'none'; sandbox");
    expect(answer.headers['content-length']).toBe('10');
  });

  it.each([
    ['bytes=0-3', 206, '0123'],
    ['bytes=7-', 206, '789'],
    ['bytes=-2', 206, '89'],
    ['bytes=5-500', 206, '56789'],
  ])('in part: %s', async (range, status, body) => {
    const answer = await get({ range });
    expect([answer.statusCode, answer.body]).toEqual([status, body]);
  });

  it.each(['bytes=10-', 'bytes=5-2', 'bytes=-0', 'bytes=0-,0-', 'bytes=-', 'lines=1-2'])('not: %s', async (range) => {
    const answer = await get({ range });
    expect(answer.statusCode).toBe(416);
    expect(answer.headers['content-range']).toBe('bytes */10');
    expect(answer.json()).toMatchObject({ code: 'bad_request' });
  });

  it('know a copy that is current, and a range of an older one', async () => {
    expect((await get({ 'if-none-match': '"abc"' })).statusCode).toBe(304);
    expect((await get({ range: 'bytes=0-1', 'if-range': '"older"' })).statusCode).toBe(200);
  });
});

describe('health', () => {
  it('is alive without asking, ready when the checks say so', async () => {
    const app = makeServer({}, async () => ({ ready: false, checks: { database: { ok: false, detail: 'no space' } } }));
    expect((await app.inject({ url: '/healthz', headers: own })).json()).toEqual({ status: 'ok' });
    const ready = await app.inject({ url: '/readyz', headers: own });
    expect([ready.statusCode, ready.json().checks.database.detail]).toEqual([503, 'no space']);
  });

  it('shows figures to this machine or to a token', async () => {
    const app = makeServer({ metricsToken: 'collector' });
    const get = (headers: Record<string, string>, remoteAddress = '127.0.0.1') =>
      app.inject({ url: '/metrics', headers: { ...own, ...headers }, remoteAddress });
    await app.inject({ url: '/things/abc', headers: own });
    const local = await get({});
    expect(local.body).toContain('sergo_queue_open 7');
    expect(local.body).toContain('route="/things/:id"');
    expect(local.body).not.toContain('abc');
    expect((await get({}, '10.0.0.9')).statusCode).toBe(404);
    expect((await get({ 'x-forwarded-for': '10.0.0.9' })).statusCode).toBe(404);
    expect((await get({ authorization: 'Bearer collector' }, '10.0.0.9')).statusCode).toBe(200);
    expect((await get({ authorization: 'Bearer collectoR' }, '10.0.0.9')).statusCode).toBe(404);
  });
});

describe('stopping', () => {
  it('lets running requests end and takes no new ones', async () => {
    const app = makeServer();
    const port = await listen(app);
    const running = fetch(`http://127.0.0.1:${port}/slow`);
    await new Promise((resolve) => setTimeout(resolve, 50));
    const stopped = drainServer(app, 5_000);
    expect(await (await running).json()).toEqual({ done: true });
    await stopped;
    await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow();
  });
});
