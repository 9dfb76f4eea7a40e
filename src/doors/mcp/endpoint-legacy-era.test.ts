import { describe, expect, it } from 'vitest';
import { door, rpc, send, start } from '../../../test/support/mcp-endpoint.ts';

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
