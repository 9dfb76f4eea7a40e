/** The agent door of a running Sergo: real keys, real files, real pages, the real audit log. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Client as ClientV2, StreamableHTTPClientTransport as TransportV2 } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeKeyText } from '../../src/access/key-text.ts';
import { firstAdmin, processed, type Admin } from '../support/api-client.ts';
import { makePdf } from '../support/pdf-fixture.ts';
import { startSergo, type RunningSergo } from '../support/running-sergo.ts';
import { hasShared, sharedPath } from '../support/shared.ts';
import { DESCRIPTION } from './sample-library.ts';

interface Answer {
  status: number;
  // oxlint-disable-next-line typescript/no-explicit-any -- whatever the door wrote
  body: any;
  headers: Headers;
}

let sergo: RunningSergo;
let admin: Admin;
let folderId: string;
let key: { id: string; key: string; masked: string };
const ids: Record<string, string> = {};

/** One JSON-RPC request, as curl would send it. */
async function send(method: string, params: unknown, headers: Record<string, string> = {}): Promise<Answer> {
  const answer = await fetch(`${sergo.url}/mcp`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key.key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  return { status: answer.status, body: await answer.json(), headers: answer.headers };
}

async function callTool(name: string, args: object, headers: Record<string, string> = {}) {
  return (await send('tools/call', { name, arguments: args }, headers)).body.result;
}

const sentence = async (name: string, args: object) => {
  const { content, isError } = await callTool(name, args);
  return [content[0].text, isError];
};

beforeAll(async () => {
  sergo = await startSergo();
  admin = await firstAdmin(sergo);
  const { api } = admin;
  folderId = (await api.post('/folders', { name: 'Energy outlooks', parentId: admin.folderId })).body.id;
  const basicId = (await api.post('/folders', { name: 'Basic', parentId: folderId })).body.id;
  const privateId = (await api.post('/folders', { name: 'Private', parentId: admin.folderId })).body.id;
  const filler =
    'Natural gas, coal and electricity are projected for every region of the world in this outlook. '.repeat(4);
  const places: [string, string, string | Uint8Array][] = [
    [
      basicId,
      'outlook.pdf',
      makePdf(['Electric vehicle sales in China grow. ' + filler, 'Coal capacity falls. ' + filler, { text: '' }]),
    ],
    [basicId, 'notes.txt', 'Electric vehicle sales in Norway lead the world.'],
    [folderId, 'long.txt', 'Wind turbines turn in the wind.\n\n'.repeat(2000)],
    [privateId, 'secret.txt', 'The canary of electric vehicles sings.'],
  ];
  for (const [place, name, content] of places) {
    const { status, body } = await api.upload(place, { [name]: content });
    if (status !== 202) throw new Error(JSON.stringify(body));
    ids[name] = body.documents[0].id;
  }
  for (const id of Object.values(ids)) await processed(api, id);
  key = (
    await api.post('/keys', {
      kind: 'agent',
      name: 'energy-outlooks',
      description: DESCRIPTION,
      folderIds: [folderId],
      documentIds: [],
    })
  ).body;
}, 180_000);

afterAll(async () => {
  await sergo?.stop();
});

describe('a running agent door', () => {
  it.skipIf(!hasShared('contract/tools-list.json', 'the contract at a running door'))(
    'equals the contract',
    async () => {
      const contract = (name: string) => JSON.parse(readFileSync(sharedPath(`contract/${name}.json`), 'utf8'));
      expect(JSON.stringify((await send('tools/list', {})).body.result)).toBe(JSON.stringify(contract('tools-list')));
      const opened = (
        await send('initialize', {
          protocolVersion: '2025-06-18',
          capabilities: {},
          clientInfo: { name: 'x', version: '1' },
        })
      ).body.result;
      const expected = contract('initialize').result;
      expect({ ...opened, serverInfo: { ...opened.serverInfo, version: expected.serverInfo.version } }).toEqual(
        expected,
      );
      expect(await callTool('summarize', {})).toEqual(contract('unknown-tool').result);
    },
  );

  it('finds, lists, reads and shows what the key reads', async () => {
    const found = await callTool('search', { query: 'electric vehicle sales in China' });
    const documents = JSON.parse(found.content[0].text);
    expect(documents[0]).toMatchObject({
      document_id: ids['outlook.pdf'],
      document: 'outlook.pdf',
      folder: "Ava Bennett's documents/Energy outlooks/Basic",
    });
    expect(documents[0].hits[0]).toMatchObject({
      page: 1,
      excerpt: expect.stringContaining('Electric vehicle sales in China'),
    });
    expect(JSON.stringify(documents)).not.toContain('canary');

    const listed = JSON.parse((await callTool('list_documents', {})).content[0].text);
    expect(listed.total).toBe(3);
    expect(listed.items.map((item: { document: string }) => item.document).sort()).toEqual([
      'long.txt',
      'notes.txt',
      'outlook.pdf',
    ]);

    const read = JSON.parse(
      (await callTool('read_document', { document_id: ids['outlook.pdf'], page: 2 })).content[0].text,
    );
    expect(read).toMatchObject({
      document: 'outlook.pdf',
      page: 2,
      pages: 3,
      text: expect.stringContaining('Coal capacity falls.'),
    });
    const range = JSON.parse(
      (await callTool('read_document', { document_id: ids['outlook.pdf'], page: 1, to_page: 9 })).content[0].text,
    );
    expect(range).toMatchObject({ pages_read: '1-3', text: expect.stringMatching(/^--- page 1/) });
    const long = JSON.parse((await callTool('read_document', { document_id: ids['long.txt'] })).content[0].text);
    expect(long.text.length).toBeLessThanOrEqual(24_000);
    expect(long.more).toMatch(/^Pages \d+-\d+ not included — ask for a page to read on$/);

    const seen = await callTool('view_page', { document_id: ids['outlook.pdf'], page: 1 });
    expect(seen.content[0]).toEqual({ type: 'text', text: 'outlook.pdf — page 1 of 3' });
    expect(Buffer.from(seen.content[1].data, 'base64').subarray(1, 4).toString()).toBe('PNG');
    const pdf = await callTool('view_page', { document_id: ids['outlook.pdf'], page: 2, format: 'pdf' });
    expect(pdf.content[1].resource.uri).toBe(`sergo://documents/${ids['outlook.pdf']}/pages/2.pdf`);
    expect(Buffer.from(pdf.content[1].resource.blob, 'base64').subarray(0, 5).toString()).toBe('%PDF-');
  });

  it('says every other sentence of the reference', async () => {
    const notFound = ['Not found, or not yours to see — the two are deliberately indistinguishable', true];
    const cases: [string, object, [string, boolean]][] = [
      ['search', { query: 'zzzunheardof' }, ['Nothing matched.', false]],
      ['search', { query: 'canary' }, ['Nothing matched.', false]],
      ['search', { query: 'outlook', offset: 80 }, ['Nothing past this point.', false]],
      ['search', { query: ' ' }, ['Give a query to search for.', true]],
      [
        'search',
        { query: 'x', folders: ['IEO2023'] },
        ["No folder named 'IEO2023' here. Use one of: Energy outlooks — or a folder inside them: Basic", true],
      ],
      [
        'search',
        { query: 'x', folders: ['Private'] },
        ["No folder named 'Private' here. Use one of: Energy outlooks — or a folder inside them: Basic", true],
      ],
      ['list_documents', { offset: 3 }, ['Nothing past this point.', false]],
      ['read_document', { document_id: ids['outlook.pdf'], page: 4 }, ['This document has 3 pages', true]],
      ['view_page', { document_id: ids['outlook.pdf'], page: 4 }, ['This document has 3 pages', true]],
      [
        'view_page',
        { document_id: ids['notes.txt'], page: 1 },
        [
          'No page view for this file — it was read without a PDF copy. A person can make one in the console (Make a PDF copy).',
          true,
        ],
      ],
    ];
    for (const [tool, args, expected] of cases)
      expect([tool, args, await sentence(tool, args)]).toEqual([tool, args, expected]);
    for (const id of [ids['secret.txt'], 'zzzzzzzz', 'x', '']) {
      expect(await sentence('read_document', { document_id: id })).toEqual(notFound);
      expect(await sentence('view_page', { document_id: id, page: 1 })).toEqual(notFound);
    }
    const empty = JSON.parse(
      (await callTool('read_document', { document_id: ids['outlook.pdf'], page: 3 })).content[0].text,
    );
    expect(empty.text).toBe('(nothing on this page)');
  });

  it('reads single files when a key has no folders', async () => {
    const single = (
      await admin.api.post('/keys', {
        kind: 'agent',
        name: 'single',
        description: 'One file',
        folderIds: [],
        documentIds: [ids['notes.txt']],
      })
    ).body.key;
    const headers = { authorization: `Bearer ${single}` };
    const { tools } = (await send('tools/list', {}, headers)).body.result;
    expect(tools[0].inputSchema.properties.folders.description).toBe(
      'This key reads single files, not folders — leave this out.',
    );
    const refused = await callTool('search', { query: 'x', folders: ['IEO2023'] }, headers);
    expect(refused.content[0].text).toBe(
      "No folder named 'IEO2023' here — this key reads single files, not folders. Leave folders out.",
    );
    expect(JSON.parse((await callTool('list_documents', {}, headers)).content[0].text).total).toBe(1);
  });

  it('answers wrong credentials before MCP starts', async () => {
    const personal = (await admin.api.post('/keys', { kind: 'personal', name: 'script' })).body.key;
    const malformed =
      "Malformed key — the prefix or checksum doesn't match, so check the value wasn't truncated when copied";
    const cases: [string | null, number, string, string][] = [
      [null, 401, 'no_auth', 'No credentials — send a login token or an sgk_ key in the Authorization header'],
      [`Bearer ${key.key.slice(0, -1)}`, 401, 'bad_key', malformed],
      [`Bearer ${key.key.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a'))}`, 401, 'bad_key', malformed],
      [`Bearer ${admin.api.token}`, 401, 'no_auth', 'MCP takes an agent key (sgk_s_…) in the Authorization header'],
      [
        `Bearer ${personal}`,
        403,
        'personal_key',
        'Personal keys work with the API only — make a key for an agent to use MCP',
      ],
      [
        `Bearer ${makeKeyText('external', randomBytes)}`,
        403,
        'external_key',
        'External keys work with /api/external only — make a key for an agent to use MCP',
      ],
      [
        `Bearer ${makeKeyText('agent', randomBytes)}`,
        401,
        'bad_key',
        'This key is not valid here — it may have been revoked or rolled; ask whoever manages Sergo for a new one',
      ],
    ];
    for (const [authorization, status, code, message] of cases) {
      const answer = await fetch(`${sergo.url}/mcp`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...(authorization !== null && { authorization }) },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
      });
      expect([answer.status, await answer.json()]).toEqual([status, { code, message }]);
      expect(answer.headers.get('www-authenticate')).toBe(status === 401 ? 'Bearer realm="sergo"' : null);
    }
  });

  it('writes every call into the audit log in the reference’s wording', async () => {
    const headers = { 'x-sergo-end-user': 'zoe' };
    await callTool('search', { query: 'coal capacity', limit: 4, offset: 0 }, headers);
    await callTool('list_documents', { folders: ['Basic'] }, headers);
    await callTool('read_document', { document_id: ids['outlook.pdf'] }, headers);
    await callTool('view_page', { document_id: ids['outlook.pdf'], page: 1 }, headers);
    await callTool('read_document', { document_id: ids['secret.txt'] }, headers);
    const { entries } = (await admin.api.get('/audit?limit=5')).body;
    const rows = entries.reverse() as {
      action: string;
      detail: string;
      outcome: string;
      masked: string;
      endUser: string;
      actor: string;
    }[];
    expect(rows.map(({ action, detail, outcome }) => [action, detail, outcome])).toEqual([
      ['mcp search', expect.stringMatching(/^coal capacity — \d results?, from 0$/), 'ok'],
      ['mcp listing', 'Basic — 2 documents', 'ok'],
      ['mcp text read', 'outlook.pdf, all pages', 'ok'],
      ['mcp page viewed', 'outlook.pdf, page 1, image', 'ok'],
      ['mcp refused', 'read_document — no such document', 'denied'],
    ]);
    for (const row of rows) expect(row).toMatchObject({ masked: key.masked, endUser: 'zoe', actor: 'energy-outlooks' });
  });

  it('serves the official client in its newest era, and nobody once the key is revoked', async () => {
    const client = new ClientV2({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } });
    await client.connect(
      new TransportV2(new URL(`${sergo.url}/mcp`), {
        requestInit: { headers: { Authorization: `Bearer ${key.key}` } },
      }),
    );
    expect(client.getNegotiatedProtocolVersion()).toBe('2026-07-28');
    expect((await client.listTools()).tools).toHaveLength(4);
    await admin.api.delete(`/keys/${key.id}`);
    await expect(client.callTool({ name: 'list_documents', arguments: {} })).rejects.toThrow(/bad_key|401|nauthorized/);
    expect((await send('tools/list', {})).status).toBe(401);
  });

  it('answers a plain 404 where clients look for OAuth', async () => {
    for (const path of [
      '/.well-known/oauth-protected-resource/mcp',
      '/.well-known/oauth-authorization-server',
      '/mcp/.well-known/openid-configuration',
    ]) {
      const answer = await fetch(`${sergo.url}${path}`);
      expect([path, answer.status, await answer.text()]).toEqual([path, 404, 'Not found']);
    }
  });
});
