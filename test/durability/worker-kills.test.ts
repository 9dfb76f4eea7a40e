/**
 * P8: the worker is killed again and again while it reads a hundred documents. Each has exactly one result set afterwards. A file that
 * takes its worker along each time ends `failed` after three attempts, and nobody waits for it. Ten kills; `npm run durability` does fifty.
 */
import Database from 'better-sqlite3';
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { zipSync } from 'fflate';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { queueEmpty } from '../hostile/run.ts';
import { firstAdmin, processed, type Admin, type Json } from '../support/api-client.ts';
import { makeDocx } from '../support/office-fixtures.ts';
import { makePdf } from '../support/pdf-fixture.ts';
import { workerOf } from '../support/process-watch.ts';
import { startSergo, type RunningSergo } from '../support/running-sergo.ts';
import { listFolder } from './ledger.ts';

const KILLS = Number(process.env.WORKER_KILLS ?? 10);
const DOCUMENTS = 100;

let sergo: RunningSergo;
let admin: Admin;
let database: Database.Database;
beforeEach(async () => {
  sergo = await startSergo({ env: { SERGO_RATE_SIGNED_IN: '1000000' } });
  admin = await firstAdmin(sergo);
  database = new Database(join(sergo.dataFolder, 'sergo.db'), { readonly: true });
});
afterEach(async () => {
  database.close();
  await sergo.stop();
});

const rows = (query: string, ...values: unknown[]): Json[] => database.prepare(query).all(...values);

/** A word of its own for each file, which nothing else has. */
const wordOf = (number: number): string => `zq${String.fromCharCode(97 + (number % 26))}${'abcdefghij'[Math.floor(number / 26) % 10]}x${number}`;

function makeFile(number: number): { name: string; bytes: Uint8Array; inside?: string } {
  const text = `${wordOf(number)} stands in document ${number}`;
  const pages = Array.from({ length: 1 + (number % 7) * 4 }, (_, at) => `${text}\npage ${at + 1} of a longer story`);
  const kinds = [
    () => ({ name: `${number}.pdf`, bytes: makePdf(pages) }),
    () => ({ name: `${number}.docx`, bytes: makeDocx(pages) }),
    () => ({ name: `${number}.txt`, bytes: Buffer.from(pages.join('\n\n')) }),
    () => ({ name: `${number}.zip`, bytes: zipSync({ [`inside-${number}.txt`]: Buffer.from(text) }), inside: `inside-${number}.txt` }),
    () => ({
      name: `${number}.eml`,
      bytes: Buffer.from(
        `From: a@example.com\r\nTo: b@example.com\r\nSubject: ${number}\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\nsee below\r\n` +
          `--b\r\nContent-Type: text/plain; name=inside-${number}.txt\r\nContent-Disposition: attachment; filename=inside-${number}.txt\r\n\r\n${text}\r\n--b--\r\n`,
      ),
      inside: `inside-${number}.txt`,
    }),
  ];
  // Copies of Word files and mails take LibreOffice a while each: two in ten.
  return kinds[[0, 2, 3, 0, 2, 1, 0, 3, 4, 0][number % 10]!]!();
}

async function killWorker(): Promise<number> {
  for (;;) {
    const pid = workerOf(sergo.pid);
    if (pid !== undefined) {
      process.kill(pid, 'SIGKILL');
      return pid;
    }
    await sleep(50);
  }
}

test(`${KILLS} kills of the worker over ${DOCUMENTS} documents leave exactly one result set each`, { timeout: 120_000 + KILLS * 20_000 }, async () => {
  const files = Array.from({ length: DOCUMENTS }, (_, number) => makeFile(number));
  const ids: string[] = [];
  for (let at = 0; at < files.length; at += 20) {
    const { body } = await admin.api.upload(admin.folderId, Object.fromEntries(files.slice(at, at + 20).map(({ name, bytes }) => [name, bytes])));
    ids.push(...body.documents.map((document: Json) => document.id));
  }
  const readings = new Map(ids.map((id) => [id, 1]));
  for (let kill = 1; kill <= KILLS; kill++) {
    // There is always something to read: what is done is read again.
    const done = (await listFolder(admin.api, admin.folderId)).filter((document) => readings.has(document.id) && document.status === 'ready');
    for (const { id } of done.slice(0, 4)) {
      if ((await admin.api.post(`/documents/${id}/reprocess`, { preset: 'basic' })).status === 202) readings.set(id, readings.get(id)! + 1);
    }
    // In the middle of its work, at whatever it is at.
    for (let waited = 0; waited < 5_000 && rows("select ref from jobs where state = 'running'").length === 0; waited += 20) await sleep(20);
    await sleep(randomInt(0, 2_000));
    const killed = await killWorker();
    while (workerOf(sergo.pid) === killed || workerOf(sergo.pid) === undefined) await sleep(50);
  }
  for (const id of ids) expect(await processed(admin.api, id)).toMatchObject({ status: 'ready' });
  await queueEmpty(admin.api);

  // One result set: pages that count through, excerpts that count through, one file of each kind, one end of each reading.
  expect(rows('select document, position, count(*) n from chunks group by 1, 2 having n > 1')).toEqual([]);
  expect(rows('select document from chunks group by 1 having max(position) + 1 <> count(*)')).toEqual([]);
  expect(rows('select d.name from documents d where (select count(*) from pages p where p.document = d.ref) <> coalesce(d.pages, 0)')).toEqual([]);
  expect(rows('select document, kind, count(*) n from files group by 1, 2 having n > 1')).toEqual([]);
  const ends = new Map(rows("select object_id id, count(*) n from audit where action = 'document processed' and outcome = 'ok' group by 1").map(({ id, n }) => [id, n]));
  for (const [id, count] of readings) expect([id, ends.get(id)]).toEqual([id, count]);
  expect(rows('select name, folder, sha256, count(*) n from documents group by 1, 2, 3 having n > 1')).toEqual([]);

  // And what was inside others is there once, and found once.
  const inside = rows('select name from documents where container is not null order by name').map(({ name }) => name);
  expect(inside).toEqual(files.flatMap((file) => (file.inside === undefined ? [] : [file.inside])).toSorted());
  for (let number = 0; number < DOCUMENTS; number++) {
    const { body } = await admin.api.get(`/search?q=${wordOf(number)}&limit=20`);
    const { name, inside: holds } = files[number]!;
    const found = [...new Set(body.map((hit: Json) => hit.document))];
    expect([number, found]).toEqual([number, [holds ?? name]]);
    const places = body.map((hit: Json) => `${hit.page} ${hit.text}`);
    expect(new Set(places).size).toBe(places.length);
  }
  const copies = rows("select count(*) n from files where kind = 'pdf-copy'")[0].n;
  console.log(`P8: ${KILLS} kills of the worker, ${ids.length} documents, ${[...readings.values()].reduce((sum, n) => sum + n, 0)} readings, ${copies} PDF copies: each exactly once`);
});

test('a file that takes its worker along each time fails after three attempts, and the others are read meanwhile', { timeout: 240_000 }, async () => {
  const poison = makePdf(Array.from({ length: 4_000 }, (_, at) => `page ${at} of a file that the worker does not survive\n${'and its words '.repeat(60)}`));
  const { body } = await admin.api.upload(admin.folderId, { 'poison.pdf': poison });
  const poisonId: string = body.documents[0].id;
  const running = database.prepare("select j.lease_token token from jobs j join documents d on d.ref = j.document where d.id = ? and j.state = 'running' and j.attempt <= 3");
  let watching = true;
  let deaths = 0;
  const killed = new Set<string>();
  const watch = (async () => {
    for (; watching; await sleep(5)) {
      const { token } = (running.get(poisonId) ?? {}) as { token?: string };
      const worker = workerOf(sergo.pid);
      if (token === undefined || killed.has(token) || worker === undefined) continue;
      process.kill(worker, 'SIGKILL');
      killed.add(token);
      deaths += 1;
    }
  })();
  while (deaths === 0) await sleep(20);
  const { body: uploaded } = await admin.api.upload(admin.folderId, Object.fromEntries(Array.from({ length: 12 }, (_, number) => makeFile(number)).map(({ name, bytes }) => [name, bytes])));
  let lastOther = 0;
  for (const { id } of uploaded.documents) {
    expect(await processed(admin.api, id)).toMatchObject({ status: 'ready' });
    lastOther = performance.now();
  }
  const poisoned = await processed(admin.api, poisonId);
  const failedAt = performance.now();
  watching = false;
  await watch;
  expect(poisoned).toMatchObject({ status: 'failed', reason: expect.stringMatching(/^It could not be read in three attempts/) });
  expect(deaths).toBe(3);
  console.log(`P8: a file that killed its worker ${deaths} times failed; 12 others were read meanwhile, the last ${Math.round(failedAt - lastOther)} ms before it was given up`);
  // Whoever uploads next is served by a worker that is well.
  const { body: after } = await admin.api.upload(admin.folderId, { 'after.txt': 'a text for the next worker' });
  expect(await processed(admin.api, after.documents[0].id)).toMatchObject({ status: 'ready' });
});
