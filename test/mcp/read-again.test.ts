/** What agents are told of a document while it is read for the first time, and while it is read again: every door over a real library, no worker. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createKey } from '../../src/access/keys.ts';
import { reprocessDocument } from '../../src/library/processing.ts';
import { replaceDocument, uploadDocument } from '../../src/library/uploads.ts';
import type { Json, Person } from '../api/harness.ts';
import { HARBOUR, openDoors, type Doors } from '../isolation/doors.ts';
import { bytesOf } from '../support/library.ts';

let doors: Doors;
let url: string;
let ava: Person;
let authorization: string;
beforeAll(async () => {
  doors = await openDoors();
  ava = await doors.person('Ava');
  const { key } = await createKey(doors.library, ava, { kind: 'agent', name: 'papers', description: 'x', folderIds: [ava.rootId], documentIds: [] });
  authorization = `Bearer ${key}`;
  url = await doors.app.listen({ host: '127.0.0.1', port: 0 });
});
afterAll(() => doors?.close());

async function call(name: string, args: object): Promise<Json> {
  const headers = { authorization, 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } });
  const { result } = (await (await fetch(`${url}/mcp`, { method: 'POST', headers, body })).json()) as Json;
  return JSON.parse(result.content[0].text);
}

/** By the list, by the document, and how many times a search finds it. */
async function told(id: string): Promise<[list: string | undefined, document: string | undefined, found: number]> {
  const { items } = await call('list_documents', {});
  const found = await call('search', { query: 'harbour' }).catch(() => []);
  return [
    items.find((item: Json) => item.document_id === id).status,
    (await call('read_document', { document_id: id })).status,
    found.filter((one: Json) => one.document_id === id).length,
  ];
}

it('a document that is read again is as searchable as before, and so it is told', async () => {
  const { id } = await doors.upload(ava, ava.rootId, 'paper.pdf');
  expect(await told(id)).toEqual([undefined, undefined, 1]);
  await reprocessDocument(doors.library, ava, id, 'basic');
  expect((await doors.library.storage.documents.byId(id))?.status).toBe('processing');
  expect(await told(id)).toEqual([undefined, undefined, 1]);
  await replaceDocument(doors.library, ava, id, { name: 'paper 2.pdf', source: bytesOf('%PDF-1.7 another file') });
  expect(await told(id)).toEqual([undefined, undefined, 1]);
  expect((await call('read_document', { document_id: id, page: 1 })).text).toBe(HARBOUR);
});

it('one that no search finds yet is processing: a new one, and pictures that are to be recognised', async () => {
  const fresh = await uploadDocument(doors.library, ava, { folderId: ava.rootId }, { name: 'new.pdf', source: bytesOf('%PDF-1.7 new') });
  expect(await told(fresh.id)).toEqual(['processing', 'processing', 0]);
  const scan = await doors.upload(ava, ava.rootId, 'scan.pdf', '');
  expect((await told(scan.id)).slice(0, 2)).toEqual(['not_indexed', 'not_indexed']);
  await reprocessDocument(doors.library, ava, scan.id, 'basic-ocr');
  expect(await told(scan.id)).toEqual(['processing', 'processing', 0]);
});
