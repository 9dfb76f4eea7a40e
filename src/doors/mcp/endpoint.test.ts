import Fastify, { type FastifyInstance } from 'fastify';
import { afterEach, describe, expect, it } from 'vitest';
import { AppError } from '../../errors.ts';
import { createHostRules } from '../http-hosts.ts';
import { registerMcpEndpoint, type McpEndpointOptions } from './endpoint.ts';
import { OUT_OF_SCOPE } from './protocol.ts';
import { RpcError } from './rpc-error.ts';
import type { McpDoor, McpSessions } from './types.ts';
import { registerWellKnown } from './well-known.ts';

const KEY = 'Bearer good';
const MODERN = '2026-07-28';
const apps: FastifyInstance[] = [];

afterEach(async () => {
  await Promise.all(apps.splice(0).map((app) => app.close()));
});

const door: McpDoor = {
  serverInfo: { name: 'shelf', title: 'shelf', version: '1.2.3', description: 'A shelf' },
  capabilities: { tools: { listChanged: false } },
  instructions: 'Look here',
  listTools: async () => [{ name: 'echo', description: 'Echo', inputSchema: { type: 'object' } }],
  callTool: async (name, args, context) => {
    if (name === 'broken') throw new Error('SELECT secret FROM /etc/passwd');
    if (name === 'scoped') throw new RpcError(OUT_OF_SCOPE, 'Missing scope: write');
    if (name === 'slow')
      await new Promise((_resolve, reject) =>
        context.signal().addEventListener('abort', () => reject(new Error('aborted'))),
      );
    return { content: [{ type: 'text', text: JSON.stringify({ name, args }) }], isError: false };
  },
};

async function start(more: Partial<McpEndpointOptions> = {}): Promise<FastifyInstance> {
  const app = Fastify();
  apps.push(app);
  registerWellKnown(app, ['/mcp']);
  await registerMcpEndpoint(app, {
    path: '/mcp',
    hosts: createHostRules({
      publicUrl: 'https://sergo.example.com',
      host: '127.0.0.1',
      allowedOrigins: ['https://console.example.com'],
    }),
    openDoor: async (request) => {
      const authorization = request.header('authorization');
      if (authorization === 'Bearer busy') throw new AppError('rate_limited', 'Slow down', { retryAfterSeconds: 7 });
      if (authorization !== KEY) throw new AppError('no_auth', 'Who is there?');
      return door;
    },
    ...more,
  });
  return app;
}

interface Sent {
  method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS' | 'TRACE';
  url?: string;
  headers?: Record<string, string | string[] | undefined>;
  body?: unknown;
}

async function send(app: FastifyInstance, { method = 'POST', url = '/mcp', headers = {}, body }: Sent) {
  const all: Record<string, string | string[] | undefined> = {
    host: 'localhost',
    authorization: KEY,
    'content-type': 'application/json',
    ...headers,
  };
  for (const name of Object.keys(all)) if (all[name] === undefined) delete all[name];
  const payload =
    body === undefined ? undefined : typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  return app.inject({ method: method as 'POST', url, headers: all as Record<string, string>, payload });
}

const rpc = (method: string, params?: unknown, id: unknown = 1) => ({
  jsonrpc: '2.0',
  id,
  method,
  ...(params !== undefined && { params }),
});

const meta = (more: Record<string, unknown> = {}) => ({
  _meta: {
    'io.modelcontextprotocol/protocolVersion': MODERN,
    'io.modelcontextprotocol/clientCapabilities': {},
    ...more,
  },
});

const modernHeaders = (method: string, name?: string) => ({
  'mcp-protocol-version': MODERN,
  'mcp-method': method,
  ...(name !== undefined && { 'mcp-name': name }),
});

describe('the legacy era', () => {
  it.each([
    ['2025-06-18', '2025-06-18'],
    ['2025-11-25', '2025-11-25'],
    ['2025-03-26', '2025-11-25'],
    ['2024-11-05', '2025-11-25'],
    ['2099-01-01', '2025-11-25'],
  ])('answers initialize for %s with %s', async (asked, answered) => {
    const answer = await send(await start(), {
      body: rpc('initialize', { protocolVersion: asked, capabilities: {}, clientInfo: { name: 'x', version: '1' } }),
    });
    expect(answer.statusCode).toBe(200);
    expect(answer.headers['content-type']).toBe('application/json');
    expect(answer.headers['mcp-session-id']).toBeUndefined();
    expect(answer.json()).toEqual({
      jsonrpc: '2.0',
      id: 1,
      result: {
        capabilities: door.capabilities,
        instructions: door.instructions,
        protocolVersion: answered,
        serverInfo: door.serverInfo,
      },
    });
  });

  it('answers ping, tools/list and tools/call without any handshake', async () => {
    const app = await start();
    expect((await send(app, { body: rpc('ping') })).json().result).toEqual({});
    expect((await send(app, { body: rpc('tools/list') })).json().result).toEqual({ tools: await door.listTools() });
    const called = await send(app, { body: rpc('tools/call', { name: 'echo', arguments: { a: 1 } }, 'seven') });
    expect(called.json()).toEqual({
      jsonrpc: '2.0',
      id: 'seven',
      result: { content: [{ type: 'text', text: '{"name":"echo","args":{"a":1}}' }], isError: false },
    });
  });

  it('never answers 406, whatever is accepted', async () => {
    const app = await start();
    for (const accept of ['text/html', 'application/json', 'text/event-stream', '', undefined]) {
      expect((await send(app, { body: rpc('ping'), headers: { accept } })).statusCode).toBe(200);
    }
  });

  it('refuses a version header it does not speak, and takes those it does', async () => {
    const app = await start();
    for (const version of ['1999-01-01', '2024-11-05', '', 'x']) {
      const answer = await send(app, { body: rpc('ping'), headers: { 'mcp-protocol-version': version } });
      expect(answer.statusCode).toBe(400);
      expect(answer.json().error).toMatchObject({ code: -32000, data: { requested: version } });
    }
    for (const version of ['2025-03-26', '2025-06-18', '2025-11-25']) {
      expect((await send(app, { body: rpc('ping'), headers: { 'mcp-protocol-version': version } })).statusCode).toBe(
        200,
      );
    }
  });

  it('answers unknown methods, wrong parameters and cursors it never gave as errors under the same id', async () => {
    const app = await start();
    for (const method of [
      'resources/list',
      'prompts/list',
      'logging/setLevel',
      'server/discover',
      '__proto__',
      'constructor',
    ]) {
      const answer = await send(app, { body: rpc(method, {}, 5) });
      expect([answer.statusCode, answer.json()]).toEqual([
        200,
        { jsonrpc: '2.0', id: 5, error: { code: -32601, message: 'Method not found' } },
      ]);
    }
    for (const body of [
      rpc('tools/call', {}),
      rpc('tools/call', { name: 5 }),
      rpc('tools/list', { cursor: 'x' }),
      rpc('initialize', {}),
    ]) {
      expect((await send(app, { body })).json().error.code).toBe(-32602);
    }
  });

  it('hides what went wrong inside a tool behind the one sentence', async () => {
    const answer = await send(await start(), { body: rpc('tools/call', { name: 'broken' }) });
    expect(answer.statusCode).toBe(200);
    expect(answer.json().result).toEqual({
      content: [{ type: 'text', text: 'An internal error occurred while executing this tool' }],
      isError: true,
    });
  });

  it('stops a tool that takes too long and says so', async () => {
    const answer = await send(await start({ callLimitMs: 50 }), { body: rpc('tools/call', { name: 'slow' }) });
    expect(answer.json().result.isError).toBe(true);
    expect(answer.json().result.content[0].text).toContain('took longer than');
  });
});

describe('the modern era', () => {
  it('answers server/discover, tools/list and tools/call on their own', async () => {
    const app = await start();
    const discovered = (
      await send(app, { body: rpc('server/discover', meta()), headers: modernHeaders('server/discover') })
    ).json().result;
    expect(discovered).toMatchObject({
      resultType: 'complete',
      supportedVersions: [MODERN, '2025-11-25', '2025-06-18'],
      capabilities: door.capabilities,
      ttlMs: 0,
      cacheScope: 'private',
    });
    expect(discovered._meta).toEqual({ 'io.modelcontextprotocol/serverInfo': door.serverInfo });
    const listed = (await send(app, { body: rpc('tools/list', meta()), headers: modernHeaders('tools/list') })).json()
      .result;
    expect(listed).toMatchObject({
      resultType: 'complete',
      tools: await door.listTools(),
      ttlMs: 0,
      cacheScope: 'private',
    });
    const called = await send(app, {
      body: rpc('tools/call', { name: 'echo', ...meta() }),
      headers: modernHeaders('tools/call', 'echo'),
    });
    expect(called.json().result).toMatchObject({ resultType: 'complete', isError: false });
  });

  it('wants its metadata, and headers that agree with the body', async () => {
    const app = await start();
    const cases: [Record<string, unknown>, Record<string, string | undefined>, number][] = [
      [{}, modernHeaders('tools/list'), -32602],
      [{ _meta: { 'io.modelcontextprotocol/protocolVersion': MODERN } }, modernHeaders('tools/list'), -32602],
      [meta(), { ...modernHeaders('tools/list'), 'mcp-protocol-version': undefined }, -32020],
      [meta(), { ...modernHeaders('tools/list'), 'mcp-protocol-version': '2025-11-25' }, -32020],
      [meta(), { ...modernHeaders('tools/list'), 'mcp-method': undefined }, -32020],
      [meta(), modernHeaders('TOOLS/LIST'), -32020],
      [meta({ 'io.modelcontextprotocol/protocolVersion': 'v9' }), modernHeaders('tools/list'), -32020],
      [
        meta({ 'io.modelcontextprotocol/protocolVersion': 'v9' }),
        { ...modernHeaders('tools/list'), 'mcp-protocol-version': 'v9' },
        -32022,
      ],
    ];
    for (const [params, headers, code] of cases) {
      const answer = await send(app, { body: rpc('tools/list', params, 9), headers });
      expect([answer.statusCode, answer.json().id, answer.json().error.code]).toEqual([400, 9, code]);
    }
  });

  it('reads Mcp-Name as it is or in base64', async () => {
    const app = await start();
    const call = (name: string, header: string | undefined) =>
      send(app, {
        body: rpc('tools/call', { name, ...meta() }),
        headers: { ...modernHeaders('tools/call'), 'mcp-name': header },
      });
    expect((await call('echo', 'echo')).statusCode).toBe(200);
    expect((await call('écho', `=?base64?${Buffer.from('écho').toString('base64')}?=`)).statusCode).toBe(200);
    for (const header of ['other', undefined, '=?base64?!!!?=', '=?base64?ZWNobw?='])
      expect((await call('echo', header)).statusCode).toBe(400);
  });

  it('knows only its own methods: 404 for the rest', async () => {
    const app = await start();
    for (const method of ['initialize', 'ping', 'logging/setLevel', 'unknown/method']) {
      const answer = await send(app, { body: rpc(method, meta(), 3), headers: modernHeaders(method) });
      expect([answer.statusCode, answer.json()]).toEqual([
        404,
        { jsonrpc: '2.0', id: 3, error: { code: -32601, message: 'Method not found' } },
      ]);
    }
  });

  it('gives a missing scope its own code, since -32002 must not appear there', async () => {
    const app = await start();
    const modern = await send(app, {
      body: rpc('tools/call', { name: 'scoped', ...meta() }),
      headers: modernHeaders('tools/call', 'scoped'),
    });
    expect([modern.statusCode, modern.json().error.code]).toEqual([200, 40301]);
    expect((await send(app, { body: rpc('tools/call', { name: 'scoped' }) })).json().error.code).toBe(-32002);
  });
});

describe('the envelope', () => {
  const deep = (levels: number) =>
    `{"jsonrpc":"2.0","id":1,"method":"ping","params":${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}}`;

  it.each([
    ['nothing', '', -32700],
    ['not JSON', '{"jsonrpc":', -32700],
    ['a byte order mark', '\uFEFF{"jsonrpc":"2.0","id":1,"method":"ping"}', -32700],
    ['UTF-16', Buffer.from('{"jsonrpc":"2.0","id":1,"method":"ping"}', 'utf16le'), -32700],
    ['bytes that are not UTF-8', Buffer.from([0x7b, 0xff, 0xfe, 0x7d]), -32700],
    ['a batch', '[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600],
    ['an empty batch', '[]', -32600],
    ['a string', '"ping"', -32600],
    ['null', 'null', -32600],
    ['JSON-RPC 1.0', '{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600],
    ['no method', '{"jsonrpc":"2.0","id":1}', -32600],
    ['a null id', '{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600],
    ['an object as id', '{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600],
    ['an infinite id', '{"jsonrpc":"2.0","id":1e400,"method":"ping"}', -32600],
    ['an id that cannot be echoed', '{"jsonrpc":"2.0","id":12345678901234567890,"method":"ping"}', -32600],
    ['params in an array', '{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', -32600],
    ['a key that comes twice', '{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}', -32600],
    ['a key twice, once escaped', '{"jsonrpc":"2.0","id":1,"method":"ping","\\u0069d":2}', -32600],
    ['65 levels', deep(64), -32600],
    ['10,000 levels', deep(10_000), -32600],
    ['10,000 brackets', '['.repeat(10_000), -32600],
  ])('refuses %s', async (_what, body, code) => {
    const answer = await send(await start(), { body });
    expect(answer.statusCode).toBe(400);
    expect(answer.headers['content-type']).toBe('application/json');
    expect(answer.json()).toMatchObject({ jsonrpc: '2.0', error: { code } });
  });

  it('takes 64 levels, and strings full of brackets and escaped quotes', async () => {
    const app = await start();
    expect((await send(app, { body: deep(63) })).statusCode).toBe(200);
    const name = `${'[{'.repeat(200)}"\\"${'\\'.repeat(5)}: "`;
    expect(
      (await send(app, { body: rpc('tools/call', { name, arguments: { text: name } }) })).json().result.isError,
    ).toBe(false);
  });

  it('echoes the id exactly as it came', async () => {
    const app = await start();
    for (const id of ['1', 1, 0, -1, 1.5, '', '😀', Number.MAX_SAFE_INTEGER])
      expect((await send(app, { body: rpc('ping', {}, id) })).json().id).toBe(id);
  });

  it('answers notifications and responses with 202 and no body, whatever is inside', async () => {
    const app = await start();
    for (const body of [
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { jsonrpc: '2.0', method: 'no/such', params: [1] },
      { jsonrpc: '2.0', method: 'tools/call', params: { name: 'broken' } },
      { jsonrpc: '2.0', id: 1, result: {} },
    ]) {
      const answer = await send(app, { body });
      expect([answer.statusCode, answer.body]).toEqual([202, '']);
    }
    const modern = await send(app, {
      body: { jsonrpc: '2.0', method: 'notifications/cancelled' },
      headers: { 'mcp-protocol-version': MODERN },
    });
    expect(modern.statusCode).toBe(202);
    const response = await send(app, {
      body: { jsonrpc: '2.0', id: 1, result: {} },
      headers: { 'mcp-protocol-version': MODERN },
    });
    expect(response.statusCode).toBe(400);
  });

  it('refuses a body over the limit', async () => {
    const answer = await send(await start(), { body: rpc('ping', { text: 'x'.repeat(1024 * 1024) }) });
    expect([answer.statusCode, answer.json().code]).toEqual([413, 'too_large']);
    expect(
      (
        await send(await start({ maxBodyBytes: 2 * 1024 * 1024 }), {
          body: rpc('ping', { text: 'x'.repeat(1024 * 1024) }),
        })
      ).statusCode,
    ).toBe(200);
  });

  it('wants application/json, unpacked', async () => {
    const app = await start();
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'application/json; charset=utf-16',
      'application/jsonx',
      undefined,
    ]) {
      expect((await send(app, { body: rpc('ping'), headers: { 'content-type': type } })).statusCode).toBe(415);
    }
    for (const type of ['application/json;charset=UTF-8', 'Application/JSON; charset="utf-8"', 'application/json;']) {
      expect((await send(app, { body: rpc('ping'), headers: { 'content-type': type } })).statusCode).toBe(200);
    }
    expect((await send(app, { body: rpc('ping'), headers: { 'content-encoding': 'gzip' } })).statusCode).toBe(415);
  });
});

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

describe('a door with sessions', () => {
  async function startWithSessions() {
    const open = new Set<string>();
    const sessions: McpSessions = {
      open: async () => `session-${open.add(`session-${open.size + 1}`).size}`,
      use: async (id) => open.has(id),
      close: async (id) => open.delete(id),
    };
    return start({ sessions: true, openDoor: async () => ({ ...door, sessions }) });
  }

  it('hands one out with initialize, wants it afterwards, and forgets it on DELETE', async () => {
    const app = await startWithSessions();
    const opening = rpc('initialize', { protocolVersion: '2025-06-18' });
    const id = (await send(app, { body: opening })).headers['mcp-session-id'] as string;
    expect(id).toBe('session-1');
    const inside = { headers: { 'mcp-session-id': id } };
    expect((await send(app, { body: rpc('tools/list'), ...inside })).statusCode).toBe(200);
    expect(
      (await send(app, { body: { jsonrpc: '2.0', method: 'notifications/initialized' }, ...inside })).statusCode,
    ).toBe(202);
    const none = await send(app, { body: rpc('tools/list') });
    expect([none.statusCode, none.json().error.code]).toEqual([400, -32001]);
    expect((await send(app, { method: 'DELETE', ...inside })).statusCode).toBe(204);
    expect((await send(app, { method: 'DELETE', ...inside })).statusCode).toBe(404);
    const gone = await send(app, { body: rpc('tools/list'), ...inside });
    expect([gone.statusCode, gone.json().error.code]).toEqual([404, -32001]);
    expect((await send(app, { body: opening, ...inside })).headers['mcp-session-id']).toBe('session-1');
    expect((await send(app, { method: 'GET' })).headers.allow).toBe('POST, DELETE, OPTIONS');
  });

  it('needs none in the modern era', async () => {
    const app = await startWithSessions();
    expect(
      (await send(app, { body: rpc('tools/list', meta()), headers: modernHeaders('tools/list') })).statusCode,
    ).toBe(200);
  });
});
