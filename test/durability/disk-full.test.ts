/** P3: on a full disk uploads are answered 507, everything else goes on, and freeing space is enough. */
import { readdirSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { agentOver } from '../support/agent-calls.ts';
import { adminCredentials, firstAdmin, logIn, processed, type Json } from '../support/api-client.ts';
import { startSergo, type RunningSergo } from '../support/running-sergo.ts';
import { makeUpload } from './ledger.ts';
import { makeLoopDisk, whyNoLoopDisk, type LoopDisk } from './loop-disk.ts';

const noDisk = whyNoLoopDisk();
if (noDisk !== null) console.warn(`SKIPPED: the full disk (P3): ${noDisk}.`);

let disk: LoopDisk | undefined;
let sergo: RunningSergo | undefined;
afterAll(async () => {
  await sergo?.stop();
  disk?.remove();
});

test.skipIf(noDisk !== null)('a full disk refuses uploads and nothing else', { timeout: 180_000 }, async () => {
  disk = makeLoopDisk(32);
  const dataFolder = join(disk.path, 'data');
  sergo = await startSergo({ dataFolder, env: { SERGO_RATE_SIGNED_IN: '1000000' } });
  const { api: client, folderId } = await firstAdmin(sergo);

  const first = makeUpload('findable', 0);
  const { body } = await client.upload(folderId, { [first.name]: first.bytes });
  const kept = body.documents[0].id as string;
  expect(await processed(client, kept)).toMatchObject({ status: 'ready' });
  const agent = await agentOver(client, folderId);

  const filling: string[] = [];
  let refused: { status: number; body: Json } | undefined;
  for (let number = 0; number < 400 && refused === undefined; number++) {
    const answer = await client.upload(folderId, { [`fill-${number}.txt`]: randomBytes(150_000).toString('hex') });
    if (answer.status === 202) filling.push(answer.body.documents[0].id);
    else refused = answer;
  }
  expect(refused).toMatchObject({
    status: 507,
    body: { code: 'disk_full', message: expect.any(String), requestId: expect.any(String) },
  });
  // Small ones too, until nothing fits at all.
  let small = 0;
  while (
    (await client.upload(folderId, { [`small-${small}.txt`]: randomBytes(2_000).toString('hex') })).status === 202 &&
    small < 2000
  )
    small++;

  const statuses = {
    me: (await client.get('/me')).status,
    folder: (await client.get(`/folders/${folderId}`)).status,
    document: (await client.get(`/documents/${kept}`)).status,
    page: (await client.get(`/documents/${kept}/pages/1`)).status,
    original: (await client.raw(`/documents/${kept}/file`)).status,
    search: (await client.get('/search?q=durability')).status,
    audit: (await client.get('/audit?limit=5')).status,
  };
  expect(statuses).toEqual({ me: 200, folder: 200, document: 200, page: 200, original: 200, search: 200, audit: 200 });
  // An agent's answers wait for a row in the audit log: there is room for those.
  expect(await agent.json('search', { query: 'durability' })).toMatchObject([{ document_id: kept }]);
  expect((await agent.result('read_document', { document_id: kept })).content[0].text).toContain('Document number 0');
  expect((await logIn(sergo.url, adminCredentials)).token).toBeTruthy();
  expect((await client.upload(folderId, { 'again.txt': 'x'.repeat(500_000) })).status).toBe(507);

  const deletions = [];
  for (const id of filling.slice(0, 30)) deletions.push((await client.delete(`/documents/${id}?purge=true`)).status);
  expect(new Set(deletions)).toEqual(new Set([204]));

  const after = makeUpload('after', 4);
  let answer = await client.upload(folderId, { [after.name]: after.bytes });
  for (let attempt = 0; answer.status === 507 && attempt < 50; attempt++) {
    await new Promise((resolve) => setTimeout(resolve, 200));
    answer = await client.upload(folderId, { [after.name]: after.bytes });
  }
  expect(answer.status).toBe(202);
  expect(await processed(client, answer.body.documents[0].id)).toMatchObject({ status: 'ready' });
  expect(readdirSync(join(dataFolder, 'blobs/incoming'))).toEqual([]);
  console.log(
    `P3: refused after ${filling.length} uploads and ${small} small ones; reads, search, sign-in and deletion went on; uploads again after deleting`,
  );
});
