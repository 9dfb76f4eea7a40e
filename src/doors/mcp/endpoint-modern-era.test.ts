import { describe, expect, it } from 'vitest';
import { door, meta, MODERN, modernHeaders, rpc, send, start } from '../../../test/support/mcp-endpoint.ts';

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
