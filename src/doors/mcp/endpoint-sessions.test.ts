import { describe, expect, it } from 'vitest';
import { door, meta, modernHeaders, rpc, send, start } from '../../../test/support/mcp-endpoint.ts';
import type { McpSessions } from './types.ts';

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
