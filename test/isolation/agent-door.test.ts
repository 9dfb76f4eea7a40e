import type { LightMyRequestResponse } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { giveGrant, removeGrant } from '../../src/access/grants.ts';
import { createKey, revokeKey, rollKey } from '../../src/access/keys.ts';
import { setPersonDisabled } from '../../src/access/people.ts';
import { changeDocument, purgeDocument, trashDocument } from '../../src/library/documents.ts';
import { trashFolder } from '../../src/library/folders.ts';
import { AGENT_TOOLS } from '../../src/doors/agent/tools.ts';
import type { Person } from '../api/harness.ts';
import { openDoors, type Doors } from './doors.ts';
import { visible } from './matrix.ts';

/** P9 for the agent door: every tool × every form of its arguments × every kind of key × every kind of id and folder name. */

let doors: Doors;
let ava: Person;
let bo: Person;
const ids: Record<string, string> = {};
const READS = ['ownInKey', 'insideInKey', 'sharedInKey', 'singleInKey'];
const keys: Record<string, Record<string, string>> = {};
let combinations = 0;

beforeAll(async () => {
  doors = await openDoors();
  const { library } = doors;
  ava = await doors.person('Ava');
  bo = await doors.person('Bo');
  const ada = await doors.person('Ada', 'admin');
  let count = 0;
  const upload = async (person: Person, folder: string) =>
    (await doors.upload(person, folder, `paper-${++count}.pdf`)).id;
  const share = (person: Person, target: { folderId: string } | { documentId: string }) =>
    giveGrant(library, person, target, { email: 'ava@example.com', right: 'read' });

  const inKey = await doors.folderIn(ava, ava.rootId, 'In the key');
  const inside = await doors.folderIn(ava, inKey, 'Inside');
  const outside = await doors.folderIn(ava, ava.rootId, 'Outside the key');
  const shared = await doors.folderIn(bo, bo.rootId, 'Shared by Bo');
  const closed = await doors.folderIn(bo, bo.rootId, 'Closed');
  const lost = await doors.folderIn(bo, bo.rootId, 'No longer shared');
  await share(bo, { folderId: shared });
  const lostGrant = await share(bo, { folderId: lost });
  const gone = await doors.folderIn(ava, inKey, 'Thrown away');

  ids.ownInKey = await upload(ava, inKey);
  ids.insideInKey = await upload(ava, inside);
  ids.sharedInKey = await upload(bo, shared);
  ids.singleInKey = await upload(ava, outside);
  ids.singleLost = await upload(bo, closed);
  ids.ownOutsideKey = await upload(ava, outside);
  ids.foreign = await upload(bo, closed);
  ids.inLostFolder = await upload(bo, lost);
  ids.movedOut = await upload(ava, inKey);
  ids.movedOutByBo = await upload(bo, shared);
  ids.trashed = await upload(ava, inKey);
  ids.inTrashedFolder = await upload(ava, gone);
  ids.purged = await upload(ava, inKey);
  const singleGrant = await share(bo, { documentId: ids.singleLost });
  const scope = { folderIds: [inKey, shared, lost], documentIds: [ids.singleInKey, ids.singleLost] };
  const agent = async (person: Person, name: string, over: { folderIds: string[]; documentIds: string[] }) =>
    createKey(library, person, { kind: 'agent', name, description: 'Papers', ...over });
  const key = (await agent(ava, 'papers', scope)).key;
  const boKey = (await agent(bo, 'bos-papers', { folderIds: [closed, shared], documentIds: [] })).key;
  const revoked = await agent(ava, 'revoked', scope);
  const rolled = await agent(ava, 'rolled', scope);
  const di = await doors.person('Di');
  const disabledKey = (await agent(di, 'papers', { folderIds: [di.rootId], documentIds: [] })).key;
  const personal = (await createKey(library, ava, { kind: 'personal', name: 'script' })).key;

  await removeGrant(library, bo, singleGrant.id);
  await removeGrant(library, bo, lostGrant.id);
  await changeDocument(library, ava, ids.movedOut, { folderId: outside });
  await changeDocument(library, bo, ids.movedOutByBo, { folderId: closed });
  await trashDocument(library, ava, ids.trashed);
  await trashFolder(library, ava, gone);
  await purgeDocument(library, ava, ids.purged);
  await revokeKey(library, ava, revoked.id);
  await rollKey(library, ava, rolled.id, 'now');
  await setPersonDisabled(library, ada, di.user.id, true);
  Object.assign(ids, {
    otherKind: inKey,
    malformed: "no'such--id",
    long: 'a'.repeat(5_000),
    hostile: '../../etc/passwd\0',
    unknown: 'zzzzzzzz',
  });

  const bearer = (text: string) => ({ authorization: `Bearer ${text}` });
  Object.assign(keys, {
    'the key': bearer(key),
    'the key as X-Api-Key': { 'x-api-key': key },
    'the key, acting for Bo': { ...bearer(key), 'x-sergo-end-user': 'bo@example.com' },
    'the key, beside the cookie of Bo': { ...bearer(key), cookie: `sergo=${bo.token}` },
    'the key of Bo': bearer(boKey),
    nobody: {},
    'the cookie of Ava alone': { cookie: `sergo=${ava.token}` },
    'a malformed key': bearer(key.slice(0, -1)),
    'an unknown key': bearer('sgk_s_0123456789ABCDEFGHIJKLMNOPQRSTUV2wNGkN'),
    'a revoked key': bearer(revoked.key),
    'a key that was rolled away': bearer(rolled.key),
    'the key of somebody disabled': bearer(disabledKey),
    'a personal key': bearer(personal),
    'a login token': bearer(ava.token),
    'two keys': { ...bearer(key), 'x-api-key': boKey },
  });
});
afterAll(() => doors?.close());

async function call(headers: Record<string, string>, name: string, args: object): Promise<LightMyRequestResponse> {
  combinations += 1;
  return doors.app.inject({
    method: 'POST',
    url: '/mcp',
    headers: {
      host: '127.0.0.1:8080',
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    payload: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } },
  });
}

const forms: [tool: string, args: (id: string) => object, found: RegExp][] = [
  ['read_document', (document_id) => ({ document_id }), /The harbour was closed/],
  ['read_document', (document_id) => ({ document_id, page: 1 }), /The harbour was closed/],
  ['read_document', (document_id) => ({ document_id, page: 1, to_page: 1 }), /The harbour was closed/],
  ['read_document', (document_id) => ({ document_id, page: 99 }), /This document has 1 page/],
  ['view_page', (document_id) => ({ document_id, page: 1 }), /image\/png/],
  ['view_page', (document_id) => ({ document_id, page: 1, format: 'pdf' }), /application\/pdf/],
  ['view_page', (document_id) => ({ document_id, page: 99 }), /This document has 1 page/],
];

const reading = ['the key', 'the key as X-Api-Key', 'the key, acting for Bo', 'the key, beside the cookie of Bo'];
const ofBo: Record<string, true> = { sharedInKey: true, foreign: true, movedOutByBo: true, singleLost: true };

describe.each(forms)('%s %#', (tool, args, found) => {
  it('gives a key what it reads, and one answer for all else', async () => {
    for (const [name, headers] of Object.entries(keys)) {
      const unknown = await call(headers, tool, args('zzzzzzzz'));
      for (const [kind, id] of Object.entries(ids)) {
        const answer = await call(headers, tool, args(id));
        const readable = reading.includes(name)
          ? READS.includes(kind)
          : name === 'the key of Bo' && ofBo[kind] === true;
        if (readable)
          expect([name, kind, answer.body], `${name}, ${kind}`).toEqual([name, kind, expect.stringMatching(found)]);
        else expect(visible(answer), `${name}, ${kind}`).toBe(visible(unknown));
      }
      const works = reading.includes(name) || name === 'the key of Bo';
      expect([name, unknown.statusCode]).toEqual([name, works ? 200 : expect.toBeOneOf([400, 401, 403])]);
    }
  });
});

const byFolder = ['search', 'list_documents'];

it('has a row for every tool of the door, and no row too many', () => {
  const walked = new Set([...forms.map(([tool]) => tool), ...byFolder]);
  expect([...walked].toSorted()).toEqual(AGENT_TOOLS.map(({ name }) => name).toSorted());
});

describe.each(byFolder)('%s', (tool) => {
  const own = [
    'In the key',
    'in the KEY',
    'Inside',
    'In the key/Inside',
    "Ava's documents/In the key",
    'Shared by Bo',
    "Bo's documents/Shared by Bo",
  ];
  const others = [
    'Closed',
    'No longer shared',
    'Outside the key',
    'Thrown away',
    "Bo's documents",
    "Ava's documents",
    "Bo's documents/Closed",
    'Nonsense',
    '/',
    '..',
    '%',
    '__proto__',
  ];
  const ask = (name: string, folders?: string[]) =>
    call(keys[name] ?? {}, tool, {
      ...(tool === 'search' ? { query: 'harbour', limit: 20 } : { limit: 100 }),
      ...(folders ? { folders } : {}),
    });

  it('sees the documents of the key and no other, whatever folder is named', async () => {
    for (const name of reading) {
      const all = (await ask(name)).body;
      expect(READS.filter((kind) => !all.includes(ids[kind] ?? ''))).toEqual([]);
      expect(
        Object.entries(ids).filter(([kind, id]) => !READS.includes(kind) && kind !== 'unknown' && all.includes(id)),
      ).toEqual([]);
      for (const folder of own) expect((await ask(name, [folder])).json().result.isError, folder).toBe(false);
      const nonsense = (await ask(name, ['Nonsense'])).body;
      for (const folder of others) {
        const answer = (await ask(name, [folder])).body;
        expect(
          answer
            .replaceAll(JSON.stringify(JSON.stringify(folder)).slice(3, -3), 'Nonsense')
            .replaceAll(`'${folder}'`, "'Nonsense'"),
          folder,
        ).toBe(nonsense);
        // Beside a folder that it knows the answer is the same.
        expect((await ask(name, ['In the key', folder])).body).toBe(answer);
      }
      expect(nonsense).not.toMatch(/Closed|No longer|Outside|Thrown/);
    }
  });

  it('refuses everybody else before any tool runs', async () => {
    for (const name of Object.keys(keys)) {
      if (reading.includes(name) || name === 'the key of Bo') continue;
      const answer = await ask(name);
      expect([name, answer.statusCode]).toEqual([name, expect.toBeOneOf([400, 401, 403])]);
      for (const folder of ['In the key', 'Nonsense']) expect(visible(await ask(name, [folder]))).toBe(visible(answer));
    }
  });
});

it('tools/list and initialize name only folders of the key', async () => {
  for (const method of ['tools/list', 'initialize']) {
    const params =
      method === 'initialize'
        ? { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } }
        : {};
    const answer = await doors.app.inject({
      method: 'POST',
      url: '/mcp',
      headers: {
        host: '127.0.0.1:8080',
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...keys['the key'],
      },
      payload: { jsonrpc: '2.0', id: 1, method, params },
    });
    expect(answer.statusCode).toBe(200);
    expect(answer.body).not.toMatch(/Closed|No longer|Outside|Thrown/);
  }
});

it('walked more than a thousand combinations', () => {
  expect(combinations).toBeGreaterThan(1_000);
});
