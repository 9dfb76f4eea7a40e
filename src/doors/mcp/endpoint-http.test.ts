import { describe, expect, it } from 'vitest';
import { KEY, rpc, send, start } from '../../../test/support/mcp-endpoint.ts';

describe('HTTP around it', () => {
  it('answers under both spellings of the address and never redirects', async () => {
    const app = await start();
    for (const url of ['/mcp', '/mcp/', '/mcp?key=x'])
      expect((await send(app, { url, body: rpc('ping') })).statusCode).toBe(200);
  });

  it('answers every method but POST with 405 and what is allowed', async () => {
    const app = await start();
    for (const method of ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'TRACE'] as const) {
      const answer = await send(app, { method });
      expect([method, answer.statusCode, answer.headers.allow]).toEqual([method, 405, 'POST, OPTIONS']);
    }
  });

  it('says who may come in before anything else, with WWW-Authenticate', async () => {
    const app = await start();
    for (const sent of [{ body: rpc('ping') }, { method: 'GET' as const }, { body: 'junk' }]) {
      const answer = await send(app, { ...sent, headers: { authorization: 'Bearer bad' } });
      expect([answer.statusCode, answer.headers['www-authenticate'], answer.json()]).toEqual([
        401,
        'Bearer realm="sergo"',
        { code: 'no_auth', message: 'Who is there?' },
      ]);
    }
    const busy = await send(app, { body: rpc('ping'), headers: { authorization: 'Bearer busy' } });
    expect([busy.statusCode, busy.headers['retry-after']]).toEqual([429, '7']);
  });

  it('answers 500 without a word of the cause when the key cannot be checked', async () => {
    const app = await start({ openDoor: async () => Promise.reject(new Error('disk I/O error at /var/lib')) });
    const answer = await send(app, { body: rpc('ping') });
    expect([answer.statusCode, answer.json().code]).toEqual([500, 'internal']);
    expect(answer.body).not.toContain('/var');
  });

  it('refuses a deciding header that comes twice, and two credentials', async () => {
    const app = await start();
    expect((await send(app, { body: rpc('ping'), headers: { authorization: [KEY, KEY] } })).statusCode).toBe(400);
    expect(
      (await send(app, { body: rpc('ping'), headers: { 'mcp-protocol-version': ['2025-06-18', '2025-11-25'] } }))
        .statusCode,
    ).toBe(400);
    expect((await send(app, { body: rpc('ping'), headers: { 'x-api-key': 'good' } })).statusCode).toBe(400);
  });

  it('serves only its own host names and listed or own origins', async () => {
    const app = await start();
    for (const host of ['localhost', 'LOCALHOST:8080', '127.0.0.1:1', 'sergo.example.com']) {
      expect((await send(app, { body: rpc('ping'), headers: { host } })).statusCode).toBe(200);
    }
    for (const host of ['evil.example', 'localhost.evil.example', 'user@localhost'])
      expect((await send(app, { body: rpc('ping'), headers: { host } })).statusCode).toBeGreaterThanOrEqual(400);
    expect((await send(app, { body: rpc('ping'), headers: { host: 'evil.example' } })).statusCode).toBe(403);
    for (const origin of ['null', 'https://evil.example', 'http://localhost.evil.example', 'http://localhost:9']) {
      const answer = await send(app, { body: rpc('ping'), headers: { origin } });
      expect([origin, answer.statusCode, answer.headers['access-control-allow-origin']]).toEqual([
        origin,
        403,
        undefined,
      ]);
    }
    for (const origin of ['https://console.example.com', 'http://localhost']) {
      const answer = await send(app, { body: rpc('ping'), headers: { origin } });
      expect([answer.statusCode, answer.headers['access-control-allow-origin'], answer.headers.vary]).toEqual([
        200,
        origin,
        'Origin',
      ]);
    }
  });

  it('answers a preflight without a key, and lets allowed pages read errors too', async () => {
    const app = await start();
    const origin = 'https://console.example.com';
    const preflight = await send(app, { method: 'OPTIONS', headers: { authorization: undefined, origin } });
    expect(preflight.statusCode).toBe(204);
    expect(preflight.headers['access-control-allow-methods']).toBe('POST, OPTIONS');
    expect(preflight.headers['access-control-allow-headers']).toContain('Mcp-Protocol-Version');
    for (const sent of [
      { headers: { authorization: 'x', origin } },
      { method: 'GET' as const, headers: { origin } },
      { body: 'junk', headers: { origin } },
      { body: rpc('ping', { t: 'x'.repeat(1_100_000) }), headers: { origin } },
    ]) {
      const answer = await send(app, sent);
      expect(answer.statusCode).toBeGreaterThanOrEqual(400);
      expect(answer.headers['access-control-allow-origin']).toBe(origin);
    }
    expect((await send(app, { method: 'OPTIONS', headers: { origin: 'https://evil.example' } })).statusCode).toBe(403);
  });

  it('answers a plain 404 where clients look for OAuth', async () => {
    const app = await start();
    for (const url of [
      '/.well-known/oauth-protected-resource',
      '/.well-known/oauth-protected-resource/mcp',
      '/.well-known/openid-configuration',
      '/mcp/.well-known/oauth-authorization-server',
    ]) {
      const answer = await send(app, { method: 'GET', url });
      expect([answer.statusCode, answer.headers['content-type']]).toEqual([404, 'text/plain']);
    }
  });
});
