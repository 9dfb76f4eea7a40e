import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openConsole, type Console, type Json, type Person } from './harness.ts';

let sergo: Console;
let ada: Person;
let ava: Person;
let bo: Person;

beforeAll(async () => {
  sergo = await openConsole();
  ada = await sergo.person('Ada King', 'admin');
  ava = await sergo.person('Ava Bennett');
  bo = await sergo.person('Bo Larsen');
});
afterAll(() => sergo.close());

const post = (who: Person | string | null, path: string, body?: Json) =>
  sergo.call(who, 'POST', path, body === undefined ? {} : { body });

describe('keys', () => {
  it('are made, shown once, edited, rolled, tested and revoked', async () => {
    const folder = (await post(ava, '/folders', { name: 'Energy outlooks', parentId: ava.rootId })).json();
    const { id: documentId } = (await sergo.upload(ava, folder.id, [['a.txt', 'a']])).json().documents[0];
    const made = await post(ava, '/keys', {
      kind: 'agent',
      name: 'energy-outlooks',
      description: 'Decks',
      folderIds: [folder.id],
      documentIds: [],
    });
    expect(made.statusCode).toBe(201);
    const { id, key, masked } = made.json();
    expect(key).toMatch(/^sgk_s_[0-9A-Za-z]{38}$/);
    expect(made.json()).toMatchObject({
      kind: 'agent',
      folders: [{ id: folder.id, name: 'Energy outlooks' }],
      revoked: null,
      lastUsed: null,
    });
    expect(masked).not.toBe(key);
    const shown = (await sergo.call(ava, 'GET', `/keys/${id}`)).json();
    expect(shown).toMatchObject({ id, masked, name: 'energy-outlooks' });
    expect(JSON.stringify(shown)).not.toContain(key);
    expect((await post(ava, `/keys/${id}/test`)).json()).toEqual({
      ok: true,
      url: 'http://127.0.0.1:8080/mcp',
      folders: 1,
      documents: 1,
      lastUsed: null,
    });

    const edited = await sergo.call(ava, 'PATCH', `/keys/${id}`, {
      body: { description: 'Other decks', folderIds: [], documentIds: [documentId] },
    });
    expect(edited.json()).toMatchObject({ description: 'Other decks', folders: [], documents: [{ id: documentId }] });
    const rolled = (await post(ava, `/keys/${id}/roll`, { grace: '24h' })).json();
    expect(rolled).toEqual({
      key: expect.stringMatching(/^sgk_s_/),
      masked: expect.any(String),
      oldValidUntil: new Date(sergo.library.clock.now() + 86_400_000).toISOString(),
    });
    expect((await post(ava, `/keys/${id}/roll`, { grace: '2h' })).json()).toMatchObject({
      code: 'invalid',
      field: 'grace',
      message: expect.stringContaining('now, 1h, 24h, 7d'),
    });
    expect((await sergo.call(ada, 'GET', '/keys?all=true')).json().keys).toMatchObject([
      { id, owner: { userId: ava.user.id } },
    ]);
    expect((await sergo.call(ava, 'GET', '/keys?all=true')).statusCode).toBe(403);
    expect((await sergo.call(bo, 'DELETE', `/keys/${id}`)).statusCode).toBe(404);
    expect((await sergo.call(ada, 'DELETE', `/keys/${id}`)).statusCode).toBe(204);
    expect((await sergo.call(ava, 'GET', `/keys/${id}`)).json().revoked).not.toBeNull();
    expect((await post(ava, `/keys/${id}/test`)).json().ok).toBe(false);
  });

  it('say what is wrong with what was sent', async () => {
    const wrong = async (body: Json) => (await post(ava, '/keys', body)).json();
    expect(await wrong({ kind: 'external', name: 'x' })).toMatchObject({ code: 'invalid', field: 'kind' });
    expect(await wrong({ kind: 'agent', name: 'No Spaces', description: 'x' })).toMatchObject({
      code: 'invalid',
      field: 'name',
    });
    expect(await wrong({ kind: 'agent', name: 'x-1' })).toMatchObject({ code: 'invalid', field: 'description' });
    expect(await wrong({ kind: 'agent', name: 'x-1', description: 'x', folderIds: [bo.rootId] })).toMatchObject({
      code: 'not_found',
    });
    expect(await wrong({ kind: 'agent', name: 'x-1', description: 'x', scopes: ['read'] })).toMatchObject({
      code: 'invalid',
      field: 'scopes',
    });
  });

  it('of people work on this API in every header form; those of agents do not', async () => {
    const { key } = (await post(ava, '/keys', { kind: 'personal', name: 'script' })).json();
    expect((await sergo.call(key, 'GET', '/me')).json()).toMatchObject({ userId: ava.user.id });
    expect((await sergo.call(null, 'GET', '/me', { headers: { authorization: `bearer   ${key} ` } })).statusCode).toBe(
      200,
    );
    expect((await sergo.call(null, 'GET', '/me', { headers: { 'x-api-key': key } })).statusCode).toBe(200);
    const agent = (
      await post(ava, '/keys', { kind: 'agent', name: 'reader', description: 'x', folderIds: [ava.rootId] })
    ).json().key;
    for (const [name, value] of [
      ['authorization', `Bearer ${agent}`],
      ['x-api-key', agent],
    ] as const) {
      const headers = { [name]: value as string };
      expect((await sergo.call(null, 'GET', '/me', { headers })).json()).toMatchObject({ code: 'agent_key' });
    }
  });
});

describe('sharing', () => {
  it('is listed on what is shared, and its removal is total', async () => {
    const folder = (await post(ava, '/folders', { name: 'Shared', parentId: ava.rootId })).json();
    const { id: documentId } = (await sergo.upload(ava, folder.id, [['b.txt', 'b']])).json().documents[0];
    expect((await sergo.call(bo, 'GET', `/documents/${documentId}`)).statusCode).toBe(404);
    const grant = (
      await post(ava, `/folders/${folder.id}/grants`, { email: 'bo.larsen@example.com', right: 'read' })
    ).json();
    expect(grant).toMatchObject({
      user: { userId: bo.user.id },
      right: 'read',
      grantedBy: { userId: ava.user.id },
      on: { kind: 'folder', id: folder.id },
    });
    expect((await sergo.call(bo, 'GET', `/documents/${documentId}`)).statusCode).toBe(200);
    expect((await sergo.call(bo, 'PATCH', `/documents/${documentId}`, { body: { name: 'c.txt' } })).statusCode).toBe(
      404,
    );
    expect((await sergo.call(bo, 'GET', '/folders')).json().folders.map((one: Json) => one.id)).toEqual([
      bo.rootId,
      folder.id,
    ]);
    expect((await sergo.call(ava, 'GET', `/documents/${documentId}/grants`)).json().grants).toMatchObject([
      { id: grant.id, on: { kind: 'folder' } },
    ]);
    expect((await sergo.call(bo, 'GET', `/folders/${folder.id}/grants`)).statusCode).toBe(404);
    expect((await sergo.call(ava, 'DELETE', `/grants/${grant.id}`)).statusCode).toBe(204);
    expect((await sergo.call(bo, 'GET', `/documents/${documentId}`)).statusCode).toBe(404);
    expect((await sergo.call(ava, 'GET', `/folders/${folder.id}/grants`)).json().grants).toEqual([]);
  });
});

describe('people', () => {
  it('are made, changed and disabled by admins alone', async () => {
    const input = { name: 'Cy Dahl', email: 'cy@example.com', password: 'a long enough passphrase 7' };
    expect((await post(ava, '/people', input)).json()).toMatchObject({ code: 'forbidden' });
    const cy = (await post(ada, '/people', input)).json();
    expect(cy).toMatchObject({ name: 'Cy Dahl', role: 'member', disabled: false, rootFolderId: expect.any(String) });
    expect((await sergo.call(ada, 'GET', '/people')).json().people.map((one: Json) => one.name)).toContain('Cy Dahl');
    const { token } = (await post(null, '/login', { email: input.email, password: input.password })).json();
    expect(
      (await sergo.call(ada, 'PATCH', `/people/${cy.userId}`, { body: { name: 'Cyrus Dahl', disabled: true } })).json(),
    ).toMatchObject({ name: 'Cyrus Dahl', disabled: true });
    expect((await sergo.call(token, 'GET', '/me')).statusCode).toBe(401);
    expect(
      (await sergo.call(ada, 'PATCH', `/people/${cy.userId}`, { body: { disabled: false } })).json(),
    ).toMatchObject({ disabled: false });
    expect(
      (await post(ada, `/people/${cy.userId}/password`, { password: 'yet another passphrase 9' })).statusCode,
    ).toBe(204);
    expect((await post(null, '/login', { email: input.email, password: 'yet another passphrase 9' })).statusCode).toBe(
      200,
    );
    expect(
      (await sergo.call(ada, 'PATCH', `/people/${ada.user.id}`, { body: { role: 'member' } })).json(),
    ).toMatchObject({ code: 'conflict' });
  });
});

describe('the audit log', () => {
  it('shows members what they did, admins everything, in pages', async () => {
    const mine = (await sergo.call(bo, 'GET', '/audit?limit=1000')).json().entries;
    expect(mine.length).toBeGreaterThan(0);
    expect(new Set(mine.map((one: Json) => one.actorId))).toEqual(new Set([bo.user.id]));
    expect((await sergo.call(bo, 'GET', `/audit?actorId=${ava.user.id}`)).statusCode).toBe(404);
    const first = (await sergo.call(ada, 'GET', '/audit?limit=5')).json();
    expect(first.entries).toHaveLength(5);
    const second = (await sergo.call(ada, 'GET', `/audit?limit=5&before=${first.next}`)).json();
    expect(second.entries[0].seq).toBe(first.entries[4].seq - 1);
    expect(first.entries[0]).toMatchObject({
      at: expect.stringMatching(/Z$/),
      actor: expect.any(String),
      action: expect.any(String),
      outcome: expect.any(String),
      requestId: expect.any(String),
    });
    const denied = (await sergo.call(ada, 'GET', '/audit?outcome=denied&limit=1000')).json().entries;
    expect(denied.every((one: Json) => one.outcome === 'denied')).toBe(true);
  });

  it('leaves as lines or as a table, for admins', async () => {
    expect((await sergo.call(ava, 'GET', '/audit/export')).statusCode).toBe(403);
    const lines = (await sergo.call(ada, 'GET', '/audit/export')).body
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.length).toBeGreaterThan(10);
    const table = await sergo.call(ada, 'GET', '/audit/export?format=csv');
    expect(table.headers['content-type']).toContain('text/csv');
    expect(table.headers['content-disposition']).toContain('attachment');
  });
});

describe('about the install', () => {
  it('health, jobs and presets answer; only admins see the whole queue', async () => {
    expect((await sergo.call(ava, 'GET', '/health')).json()).toEqual({
      ok: true,
      checks: { sandbox: { ok: true } },
      notices: [],
    });
    expect((await sergo.call(ava, 'GET', '/jobs')).json().queue).toBeUndefined();
    expect((await sergo.call(ada, 'GET', '/jobs')).json().queue).toMatchObject({ open: expect.any(Number) });
    expect((await sergo.call(ava, 'GET', '/presets')).json().presets.map((one: Json) => one.id)).toContain('basic');
  });

  it('every call is in the OpenAPI document, with its errors', async () => {
    const document = (await sergo.call(null, 'GET', '/openapi.json')).json();
    expect(document.openapi).toBe('3.1.0');
    const described = Object.entries<Json>(document.paths).flatMap(([url, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${url}`),
    );
    const served = sergo.app.routeRegistry
      .routes()
      .filter((route) => route.url.startsWith('/api/v1/') && !['HEAD', 'OPTIONS'].includes(route.method))
      .map((route) => `${route.method} ${route.url.replace(/:([a-z]+)/gi, '{$1}')}`);
    expect(described.sort()).toEqual(served.sort());
    const upload = document.paths['/api/v1/folders/{id}/documents'].post;
    expect(upload.requestBody.content['multipart/form-data']).toBeDefined();
    expect(document.paths['/api/v1/keys'].post.requestBody.content['application/json'].schema).toBeDefined();
    expect(document.paths['/api/v1/me'].get.responses['4XX']).toBeDefined();
    expect(document.paths['/api/v1/login'].post.security).toEqual([]);
    expect(
      document.paths['/api/v1/documents/{id}/pages/{n}.png'].get.responses['200'].content['image/png'],
    ).toBeDefined();
    const names = Object.keys(document.components.schemas);
    expect(names.filter((name) => !JSON.stringify(document).includes(`"#/components/schemas/${name}"`))).toEqual([]);
  });
});
