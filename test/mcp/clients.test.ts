import { Client as ClientV2, StreamableHTTPClientTransport as TransportV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AUTHORIZATION, startListeningDoor, type ListeningDoor } from './listening-door.ts';

const info = { name: 'sergo-test', version: '1.0.0' };
const headers = { requestInit: { headers: { Authorization: AUTHORIZATION } } };

let server: ListeningDoor;

beforeAll(async () => {
  server = await startListeningDoor();
});

afterAll(() => server.app.close());

/** What every client must be able to do, whatever it calls its methods. */
interface Session {
  version: string | undefined;
  serverName: string | undefined;
  instructions: string | undefined;
  listTools(): Promise<{ tools: { name: string }[] }>;
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
  close(): Promise<void>;
}

async function connectV1(): Promise<Session> {
  const client = new ClientV1(info);
  const transport = new TransportV1(new URL(server.url), headers);
  await client.connect(transport);
  return {
    version: transport.protocolVersion,
    serverName: client.getServerVersion()?.name,
    instructions: client.getInstructions(),
    listTools: () => client.listTools(),
    callTool: (call) => client.callTool(call),
    close: () => client.close(),
  };
}

async function connectV2(mode?: 'auto'): Promise<Session> {
  const client = new ClientV2(info, mode === undefined ? {} : { versionNegotiation: { mode } });
  await client.connect(new TransportV2(new URL(server.url), headers));
  return {
    version: client.getNegotiatedProtocolVersion(),
    serverName: client.getServerVersion()?.name,
    instructions: client.getInstructions(),
    listTools: () => client.listTools(),
    callTool: (call) => client.callTool(call),
    close: () => client.close(),
  };
}

describe.each([
  ['v1', connectV1, '2025-11-25'],
  ['v2 by default', () => connectV2(), '2025-11-25'],
  ['v2 in auto mode', () => connectV2('auto'), '2026-07-28'],
])('the official client %s', (_name, connect, version) => {
  it('connects, lists, calls, and gets the isError answer', async () => {
    const session = await connect();
    expect(session.version).toBe(version);
    expect(session.serverName).toBe('energy-outlooks');
    expect(session.instructions).toContain('a document store you can search');
    expect((await session.listTools()).tools.map((tool) => tool.name)).toEqual([
      'search',
      'list_documents',
      'read_document',
      'view_page',
    ]);

    const found = await session.callTool({ name: 'search', arguments: { query: 'electric vehicle', limit: 2 } });
    expect(found).toMatchObject({
      isError: false,
      content: [
        { type: 'text', text: expect.stringContaining('"document_id":"xM5gW8NZ"') },
        { text: expect.stringContaining('offset 1') },
      ],
    });
    const seen = await session.callTool({
      name: 'view_page',
      arguments: { document_id: 'xM5gW8NZ', page: 1, format: 'pdf' },
    });
    expect(seen).toMatchObject({
      isError: false,
      content: [{ type: 'text' }, { type: 'resource', resource: { mimeType: 'application/pdf' } }],
    });

    const past = await session.callTool({ name: 'read_document', arguments: { document_id: 'xM5gW8NZ', page: 28 } });
    expect(past).toMatchObject({ isError: true, content: [{ type: 'text', text: 'This document has 27 pages' }] });
    const unknown = await session.callTool({ name: 'summarize', arguments: {} });
    expect(unknown).toMatchObject({ isError: true, content: [{ type: 'text', text: "No tool named 'summarize'." }] });
    await session.close();
  });
});

it('tells a client with a wrong key what is wrong', async () => {
  const client = new ClientV1(info);
  const transport = new TransportV1(new URL(server.url), {
    requestInit: { headers: { Authorization: 'Bearer sgk_s_wrong' } },
  });
  await expect(client.connect(transport)).rejects.toThrow(/bad_key/);
});
