/** A search of the log asked again: who may, what they get, and what nobody learns by it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { giveGrant, removeGrant } from '../../src/access/grants.ts';
import { createKey, revokeKey, rollKey } from '../../src/access/keys.ts';
import { changeDocument, trashDocument } from '../../src/library/documents.ts';
import { changeFolder } from '../../src/library/folders.ts';
import type { Person } from '../api/harness.ts';
import type { Json } from '../support/api-client.ts';
import { openDoors, type Doors } from './doors.ts';
import { visible } from './matrix.ts';

let doors: Doors;
let ava: Person;
let bo: Person;
let ada: Person;
let key: { id: string; key: string };
const ids: Record<string, string> = {};

beforeAll(async () => {
  doors = await openDoors();
  ava = await doors.person('Ava');
  bo = await doors.person('Bo');
  ada = await doors.person('Ada', 'admin');
  ids.outlooks = await doors.folderIn(ava, ava.rootId, 'Energy outlooks');
  ids.basic = await doors.folderIn(ava, ids.outlooks, 'Basic');
  ids.harbour = (await doors.upload(ava, ids.outlooks, 'harbour.pdf', 'The harbour was closed in winter')).id;
  ids.inBasic = (await doors.upload(ava, ids.basic, 'basic.pdf', 'The harbour master opened the lock')).id;
  key = await createKey(doors.library, ava, { kind: 'agent', name: 'outlooks', description: 'Outlooks', folderIds: [ids.outlooks], documentIds: [] });
});
afterAll(() => doors?.close());

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

async function askAsAgent(args: object, text = key.key): Promise<Json> {
  const answer = await doors.app.inject({
    method: 'POST',
    url: '/mcp',
    headers: { host: '127.0.0.1:8080', 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...bearer(text) },
    payload: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'search', arguments: args } },
  });
  return answer.json().result;
}

const call = async (who: { token: string }, method: 'GET' | 'POST', path: string) =>
  doors.app.inject({ method, url: `/api/v1${path}`, headers: { host: '127.0.0.1:8080', 'x-request-id': 'a', ...bearer(who.token) } });

/** The newest entry of an action that Ada sees. */
async function newest(action: string, filter = ''): Promise<Json> {
  return (await call(ada, 'GET', `/audit?limit=1&action=${encodeURIComponent(action)}${filter}`)).json().entries[0];
}

const replay = async (who: { token: string }, seq: number | string) => call(who, 'POST', `/audit/${seq}/replay`);

describe('a search asked again', () => {
  it('answers its owner what the key gets now, with why, and is itself in the log', async () => {
    const then = await askAsAgent({ query: 'harbour\nwinter', limit: 3, offset: 0, folders: ['Energy outlooks'] });
    const entry = await newest('mcp search');
    const { statusCode, ...answer } = await replay(ava, entry.seq);
    expect(statusCode).toBe(200);
    const said = answer.json();
    expect(said).toMatchObject({
      entry: { seq: entry.seq, query: 'harbour\nwinter', folders: ['Energy outlooks'], limit: 3, offset: 0, asKey: null, found: 2, endUser: null },
      key: { id: key.id, name: 'outlooks' },
      found: 2,
      nextOffset: null,
      notice: null,
    });
    expect(JSON.stringify(said.results)).toBe(then.content[0].text);
    expect(said.explained.candidates.map((one: Json) => one.document_id)).toEqual([ids.harbour, ids.inBasic]);
    expect(said.explained.candidates[0].why.words.map((one: Json) => one.word).sort()).toEqual(['harbour', 'winter']);
    expect(await newest('search replayed')).toMatchObject({
      actor: 'Ava', outcome: 'ok', object: { kind: 'key', id: key.id }, detail: `entry ${entry.seq}: harbour\\nwinter — 2 then, 2 now`,
    });
    // The reference's wording of the log is as it was.
    expect(entry.detail).toBe('harbour\\nwinter — 2 results, from 0');
  });

  it('is asked with the rights and the library of now', async () => {
    await askAsAgent({ query: 'harbour' });
    const { seq } = await newest('mcp search');
    await trashDocument(doors.library, ava, ids.harbour!);
    expect((await replay(ava, seq)).json()).toMatchObject({ entry: { found: 2 }, found: 1, results: [{ document_id: ids.inBasic }] });
    const elsewhere = await doors.folderIn(ava, ava.rootId, 'Elsewhere');
    await changeDocument(doors.library, ava, ids.inBasic!, { folderId: elsewhere });
    expect((await replay(ava, seq)).json()).toMatchObject({ found: 0, results: [], explained: { inScope: 0, candidates: [] } });
    await changeDocument(doors.library, ava, ids.inBasic!, { folderId: ids.basic! });
  });

  it('a shared document is in it for as long as it is shared', async () => {
    const folder = await doors.folderIn(bo, bo.rootId, 'Shared');
    await doors.upload(bo, folder, 'bo.pdf', 'A zeppelin over the harbour');
    const grant = await giveGrant(doors.library, bo, { folderId: folder }, { email: 'ava@example.com', right: 'read' });
    const shared = await createKey(doors.library, ava, { kind: 'agent', name: 'shared', description: 'd', folderIds: [folder], documentIds: [] });
    await askAsAgent({ query: 'zeppelin' }, shared.key);
    const { seq } = await newest('mcp search');
    expect((await replay(ava, seq)).json().found).toBe(1);
    // The owner of what was found does not own the search.
    expect((await replay(bo, seq)).statusCode).toBe(404);
    await removeGrant(doors.library, bo, grant.id);
    const after = await replay(ava, seq);
    expect(after.json()).toMatchObject({ found: 0, results: [] });
    expect(after.body).not.toMatch(/bo\.pdf|over the harbour/);
  });

  it('a folder that is gone is answered as the key would be', async () => {
    await askAsAgent({ query: 'harbour', folders: ['Basic'] });
    const { seq } = await newest('mcp search');
    await changeFolder(doors.library, ava, ids.basic!, { name: 'Advanced' });
    const gone = await replay(ava, seq);
    expect([gone.statusCode, gone.json().message]).toEqual([
      400,
      "No folder named 'Basic' here. Use one of: Energy outlooks — or a folder inside them: Advanced",
    ]);
  });

  it('a rolled key is still the key, and that is said; a revoked one gets nothing', async () => {
    const other = await createKey(doors.library, ava, { kind: 'agent', name: 'other', description: 'd', folderIds: [ids.outlooks!], documentIds: [] });
    await askAsAgent({ query: 'lock' }, other.key);
    const { seq } = await newest('mcp search');
    await rollKey(doors.library, ava, other.id, 'now');
    expect((await replay(ava, seq)).json()).toMatchObject({ found: 1, notice: expect.stringContaining('rolled since') });
    await revokeKey(doors.library, ava, other.id);
    const revoked = await replay(ava, seq);
    expect(revoked.statusCode).toBe(409);
    expect(revoked.json().message).toMatch(/^The key 'other' was revoked on \d{4}-\d\d-\d\d and gets nothing now — search as yourself or as another key$/);
    expect(revoked.body).not.toContain('excerpt');
  });

  it('searches of people are asked again as themselves, or as the key they searched as', async () => {
    await call(ava, 'GET', '/search?q=lock&limit=5');
    const own = await newest('search');
    expect((await replay(ava, own.seq)).json()).toMatchObject({ key: null, found: 1, entry: { limit: 5, asKey: null } });
    await call(ava, 'GET', `/search?q=lock&asKey=${key.id}&explain=1`);
    const asKey = await newest('search');
    expect((await replay(ava, asKey.seq)).json()).toMatchObject({ key: { id: key.id }, entry: { asKey: key.id, found: null }, found: 1 });
    expect((await replay(bo, own.seq)).statusCode).toBe(404);
  });

  it('a page below the depth of a search is named with why, and what is outside the scope is neither named nor counted', async () => {
    const cy = await doors.person('Cy');
    const folder = await doors.folderIn(cy, cy.rootId, 'Weirs');
    for (let i = 0; i < 62; i++) await doors.upload(cy, folder, `weir-${i}.pdf`, `The weir ${'upstream '.repeat(i)}is new`);
    await doors.upload(cy, cy.rootId, 'elsewhere.pdf', 'The weir weir weir');
    const answer = await call(cy, 'GET', '/search?q=weir&folders=Weirs&explain=1&limit=20');
    expect(answer.statusCode).toBe(200);
    const explained = answer.json();
    expect(explained).toMatchObject({ inScope: 62, matched: 62, droppedByDepth: 2 });
    expect(explained.candidates).toHaveLength(62);
    expect(explained.candidates[0]).toMatchObject({ place: 0, dropped: null, why: { lexicalRank: 1, fusedRank: 1, rerankRank: null } });
    expect(explained.candidates.slice(60)).toEqual(
      [61, 62].map((rank) => ({
        document_id: expect.any(String), document: expect.stringMatching(/^weir-/), page: 1, score: expect.any(Number), place: null, dropped: 'depth',
        why: {
          words: [{ word: 'weir', added: expect.any(Number) }],
          lexicalRank: rank, lexicalScore: expect.any(Number), vectorRank: null, vectorScore: null, fusedRank: rank, rerankRank: null,
        },
      })),
    );
    expect(answer.body).not.toContain('elsewhere');
    const { seq } = (await call(cy, 'GET', '/audit?limit=1&action=search')).json().entries[0];
    expect((await replay(cy, seq)).json().explained).toEqual(explained);
  });

  it('an admin sees the entry and nothing of what it found', async () => {
    await askAsAgent({ query: 'lock' });
    const { seq } = await newest('mcp search');
    const refused = await replay(ada, seq);
    expect([refused.statusCode, refused.json().code]).toEqual([403, 'forbidden']);
    expect(refused.body).not.toMatch(/basic\.pdf|harbour master/);
    expect(await newest('search replayed')).toMatchObject({ actor: 'Ada', outcome: 'denied', detail: `entry ${seq}` });
  });

  it('what is no entry, no search, or somebody else’s is one answer, byte for byte', async () => {
    await askAsAgent({ query: 'lock' });
    const { seq } = await newest('mcp search');
    const unknown = await replay(bo, 987_654_321);
    expect(unknown.statusCode).toBe(404);
    for (const id of [seq, 1, 0, -1, '1e3', '00001', '9'.repeat(16), '9'.repeat(17), 'abc', '1.5', '%00', 'a'.repeat(5_000)]) {
      expect([id, visible(await replay(bo, id))]).toEqual([id, visible(unknown)]);
    }
    // One's own entry that is no search may be told apart: its owner sees it in the log.
    await call(ava, 'POST', `/audit/${seq}/replay`);
    const replayed = await newest('search replayed');
    expect((await replay(ava, replayed.seq)).json()).toMatchObject({ code: 'invalid', message: expect.stringContaining('no search') });
  });
});
