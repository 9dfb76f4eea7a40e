import { once } from 'node:events';
import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import pino from 'pino';
import { afterEach, expect, test } from 'vitest';
import { AppError } from '../errors.ts';
import { createHttpMetrics } from './http-metrics.ts';
import { createHttpServer, drainServer, type HttpConfig } from './http-server.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((app) => app.close()));
});

/** A server with one door past fastify, which answers what its visit says, and one call of fastify's. */
async function start(change: Partial<HttpConfig> = {}, level = 'info') {
  const lines: string[] = [];
  const metrics = createHttpMetrics();
  const app = createHttpServer({
    config: { publicUrl: 'https://sergo.example.com', host: '127.0.0.1', ...change },
    log: pino({ level }, { write: (line: string) => void lines.push(line) }),
    metrics,
    readiness: async () => ({ ready: true, checks: {} }),
  });
  open.push(app);
  app.get('/other', () => ({ by: 'fastify' }));
  app.directDoors.add('/door', ({ request: asked, response, remoteAddress, headers }, check) => {
    let status = asked.headers.authorization === undefined ? 401 : 200;
    try {
      check();
    } catch (error) {
      status = error instanceof AppError && error.code === 'forbidden' ? 403 : 400;
    }
    response.writeHead(status, headers).end(JSON.stringify({ remoteAddress }));
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const ask = async (path: string, headers: Record<string, string> = {}) => {
    const sent = request({ port, path, headers: { authorization: 'x', ...headers }, agent: false }).end();
    const [answer] = await once(sent, 'response');
    let body = '';
    for await (const part of answer) body += part;
    return { status: answer.statusCode as number, headers: answer.headers as Record<string, string>, body: JSON.parse(body) };
  };
  return { app, ask, lines, metrics };
}

test('a door past fastify gets the same headers, request ids and checks', async () => {
  const { ask } = await start();
  const byFastify = await ask('/other', { 'x-request-id': 'abc-1' });
  const direct = await ask('/door', { 'x-request-id': 'abc-1' });
  const common = ({ headers }: { headers: Record<string, string> }) =>
    Object.fromEntries(Object.entries(headers).filter(([name]) => !['date', 'content-length', 'content-type', 'connection', 'keep-alive', 'transfer-encoding'].includes(name)));
  expect(common(direct)).toEqual(common(byFastify));
  expect(direct.headers['x-request-id']).toBe('abc-1');
  expect((await ask('/door', { 'x-request-id': 'a b' })).headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  expect((await ask('/door', { host: 'evil.example.com' })).status).toBe(403);
  expect((await ask('/door?a=b')).status, 'other spellings stay with fastify').toBe(404);
  expect((await ask('/other')).body).toEqual({ by: 'fastify' });
});

test('X-Forwarded-For is believed of trusted proxies only', async () => {
  const forwarded = { 'x-forwarded-for': '203.0.113.9, 10.0.0.7' };
  expect((await (await start()).ask('/door', forwarded)).body.remoteAddress).toBe('127.0.0.1');
  const { ask } = await start({ trustProxy: ['127.0.0.1', '10.0.0.0/8'] });
  expect((await ask('/door', forwarded)).body.remoteAddress).toBe('203.0.113.9');
});

test('its requests are counted, those that failed are logged with their id, and a draining server closes', async () => {
  const { app, ask, lines, metrics } = await start();
  await ask('/door');
  await ask('/door', { authorization: '' }).catch(() => undefined);
  app.drainState.draining = true;
  expect((await ask('/door')).headers.connection).toBe('close');
  app.drainState.draining = false;
  const text = await metrics.text();
  expect(text).toMatch(/sergo_http_request_seconds_count\{method="GET",route="\/door",status="200"\} [23]/);
  expect(lines.filter((line) => line.includes('"route":"/door"') && line.includes('"status":200'))).toEqual([]);
  expect((await ask('/door', { host: 'evil.example.com', 'x-request-id': 'bad-1' })).status).toBe(403);
  await expect.poll(() => lines.some((line) => line.includes('"requestId":"bad-1"') && line.includes('"status":403'))).toBe(true);
  await drainServer(app, 100);
});
