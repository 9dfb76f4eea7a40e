import { describe, expect, it } from 'vitest';
import { MODERN, rpc, send, start } from '../../../test/support/mcp-endpoint.ts';

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
