/** Judged pages: saved, run again as their owner, and silent about what the owner can no longer read. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { giveGrant, removeGrant } from '../../src/access/grants.ts';
import { createKey, editKey, revokeKey } from '../../src/access/keys.ts';
import { formatJudged, formatRun } from '../../src/cli/judged.ts';
import { changeDocument, purgeDocument } from '../../src/library/documents.ts';
import { trashFolder } from '../../src/library/folders.ts';
import { listJudgedPages, removeJudgedPage, saveJudgedPage } from '../../src/search/judged/judged-pages.ts';
import { runJudgedPages } from '../../src/search/judged/judged-run.ts';
import { createSearchIndex } from '../../src/search/pool.ts';
import type { SearchIndex } from '../../src/search/types.ts';
import type { Person } from '../api/harness.ts';
import type { Json } from '../support/api-client.ts';
import { openDoors, type Doors } from './doors.ts';

let doors: Doors;
let index: SearchIndex;
let ava: Person;
let bo: Person;

beforeAll(async () => {
  doors = await openDoors();
  index = createSearchIndex({ databasePath: doors.databasePath, threads: 1 });
  ava = await doors.person('Ava');
  bo = await doors.person('Bo');
});
afterAll(async () => {
  await index?.close();
  await doors?.close();
});

const post = async (who: Person, body: object) =>
  doors.app.inject({ method: 'POST', url: '/api/v1/judged', headers: { host: '127.0.0.1:8080', authorization: `Bearer ${who.token}` }, payload: body });
const run = (who: Person) => runJudgedPages({ ...doors.library, index }, who);
const forget = async (who: Person): Promise<void> => {
  for (const { id } of await listJudgedPages(doors.library, who)) await removeJudgedPage(doors.library, who, id);
};

describe('judged pages', () => {
  it('are saved once, with sentences for what is wrong, and listed for their owner alone', async () => {
    const document = await doors.upload(ava, ava.rootId, 'coal.pdf', 'Coal capacity falls');
    const saved = await post(ava, { query: '  coal\ncapacity ', documentId: document.id, page: 1, grade: 3 });
    expect(saved.statusCode).toBe(201);
    expect(saved.json()).toEqual({
      id: expect.any(String), query: 'coal capacity', key: null, folder: null, document: { id: document.id, name: 'coal.pdf' },
      page: 1, grade: 3, created: expect.any(String), lastRank: null, lastRun: null,
    });
    const refused: [object, number, RegExp][] = [
      [{ query: 'coal capacity', documentId: document.id, page: 1, grade: 1 }, 409, /judged for this query already/],
      [{ query: ' \u200b ', documentId: document.id }, 400, /Give a query/],
      [{ query: 'x'.repeat(4_001), documentId: document.id }, 400, /at most 4,000/],
      [{ query: 'coal', documentId: document.id, page: 2 }, 400, /has 1 page, so there is no page 2/],
      [{ query: 'coal', documentId: document.id, grade: 4 }, 400, /grade/],
      [{ query: 'coal', documentId: document.id, asKey: 'a', folderId: ava.rootId }, 400, /not both/],
      [{ query: 'coal', documentId: document.id, ready: true }, 400, /ready/],
    ];
    for (const [body, status, message] of refused) {
      const answer = await post(ava, body);
      expect([body, answer.statusCode, answer.json().message]).toEqual([body, status, expect.stringMatching(message)]);
    }
    expect(await listJudgedPages(doors.library, bo)).toEqual([]);
    expect((await listJudgedPages(doors.library, ava)).map((one) => one.query)).toEqual(['coal capacity']);
    await forget(ava);
  });

  it('are found again: ranks, nDCG, recall, and what changed since the last run', async () => {
    const folder = await doors.folderIn(ava, ava.rootId, 'Outlooks');
    const best = await doors.upload(ava, folder, 'wind.pdf', 'Offshore wind turbines and wind farms');
    const second = await doors.upload(ava, folder, 'sea.pdf', 'The sea is windy and offshore');
    const key = await createKey(doors.library, ava, { kind: 'agent', name: 'wind', description: 'd', folderIds: [folder], documentIds: [] });
    const judge = (documentId: string, more: object = {}) => saveJudgedPage(doors.library, ava, { query: 'offshore wind', documentId, keyId: key.id, ...more });
    await judge(best.id, { page: 1, grade: 3 });
    await judge(second.id, { grade: 1 });

    const first = await run(ava);
    expect(first).toMatchObject({
      ndcg10: 1, recall100: 1, ndcg10Before: null, changed: 0, unreadable: 0,
      queries: [{ query: 'offshore wind', key: { name: 'wind' }, problem: null, pages: [{ rank: 1, change: 'first run', state: 'ranked' }, { rank: 2, change: 'first run' }] }],
    });

    await doors.upload(ava, folder, 'offshore wind.pdf', 'offshore wind, offshore wind');
    const worse = await run(ava);
    expect(worse.queries[0]!.pages.map((page) => [page.rank, page.lastRank, page.change])).toEqual([[2, 1, 'worse'], [3, 2, 'worse']]);
    expect(worse.ndcg10Before).toBe(1);
    expect(worse.ndcg10).toBeLessThan(1);
    expect(worse.changed).toBe(2);
    expect(formatRun(worse)).toMatch(/offshore wind \(key wind\): nDCG@10 0\.\d{3}, last time 1\.000\n {5}2 {2}wind\.pdf, page 1, worse: 1 last time\n/);
    expect((await run(ava)).changed).toBe(0);

    // Out of the key's reach: not found, though its owner still reads it.
    const outside = await doors.folderIn(ava, ava.rootId, 'Outside');
    await changeDocument(doors.library, ava, best.id, { folderId: outside });
    const moved = await run(ava);
    expect(moved.queries[0]!.pages[0]).toMatchObject({ state: 'outside', rank: null, change: 'lost', document: { name: 'wind.pdf' } });
    expect(moved.recall100).toBe(0.5);
    expect(formatRun(moved)).toContain('wind.pdf, page 1, which the key or folder does not reach, lost: 2 last time');
    await editKey(doors.library, ava, key.id, { folderIds: [folder, outside] });
    expect((await run(ava)).queries[0]!.pages[0]).toMatchObject({ state: 'ranked', rank: 2, change: 'found' });

    await revokeKey(doors.library, ava, key.id);
    const revoked = await run(ava);
    expect(revoked).toMatchObject({ ndcg10: null, changed: 0, queries: [{ problem: 'The key was revoked, so nothing can be asked as it', ndcg10: null }] });
    // The places of before are kept.
    expect((await listJudgedPages(doors.library, ava))[0]).toMatchObject({ lastRank: 2 });
    await forget(ava);
  });

  it('one search an owner and query, inside a folder as well, pages that no text marks included', async () => {
    const folder = await doors.folderIn(ava, ava.rootId, 'Dams');
    const document = await doors.upload(ava, folder, 'dam.pdf', 'The dam holds water');
    await doors.upload(ava, ava.rootId, 'dam dam.pdf', 'dam dam dam');
    const asked: string[] = [];
    const counting: SearchIndex = { ...index, rank: async (request, signal) => (asked.push(request.query), index.rank(request, signal)) };
    await saveJudgedPage(doors.library, ava, { query: 'dam', documentId: document.id, folderId: folder });
    await saveJudgedPage(doors.library, ava, { query: 'dam', documentId: document.id, folderId: folder, page: 1 });
    await saveJudgedPage(doors.library, ava, { query: 'dam', documentId: document.id });
    const report = await runJudgedPages({ ...doors.library, index: counting }, ava);
    expect(asked).toEqual(['dam', 'dam']);
    expect(report.queries.map((one) => [one.folder?.path ?? null, one.pages.map((page) => page.rank)])).toEqual([["Ava's documents/Dams", [1, 1]], [null, [2]]]);
    await trashFolder(doors.library, ava, folder);
    const gone = await run(ava);
    expect(gone.queries[0]).toMatchObject({ problem: 'The folder is gone, or not yours to read any more', folder: { path: null } });
    await forget(ava);
  });

  it('what their owner can no longer read is said to be so and nothing else', async () => {
    const shared = await doors.folderIn(bo, bo.rootId, 'Secret plans');
    const document = await doors.upload(bo, shared, 'zeppelin-plan.pdf', 'The zeppelin flies at dawn');
    const own = await doors.upload(ava, ava.rootId, 'balloon.pdf', 'The balloon flies at noon');
    const grant = await giveGrant(doors.library, bo, { folderId: shared }, { email: 'ava@example.com', right: 'read' });
    await saveJudgedPage(doors.library, ava, { query: 'flies', documentId: document.id, page: 1 });
    await saveJudgedPage(doors.library, ava, { query: 'flies', documentId: own.id });
    await saveJudgedPage(doors.library, ava, { query: 'flies at dawn', documentId: document.id, folderId: shared });
    const before = await run(ava);
    expect(before.queries.flatMap((one) => one.pages.map((page) => page.document.name))).toEqual(['zeppelin-plan.pdf', 'balloon.pdf', 'zeppelin-plan.pdf']);

    await removeGrant(doors.library, bo, grant.id);
    const after = await run(ava);
    const listed = await listJudgedPages(doors.library, ava);
    expect(after).toMatchObject({ unreadable: 1, ndcg10: 1, recall100: 1 });
    expect(after.queries[0]!.pages[0]).toMatchObject({ state: 'unreadable', rank: null, document: { id: document.id, name: null } });
    for (const told of [JSON.stringify(after), JSON.stringify(listed), formatRun(after), formatJudged(listed)]) expect(told).not.toMatch(/zeppelin-plan|Secret plans/);
    expect(formatRun(after)).toContain('(no longer readable)');
    expect(formatJudged(listed)).toContain('(no longer readable)');

    // Purged looks the same as not shared.
    const answer = async (): Promise<string> => JSON.stringify(await run(ava)).replace(/"lastRunAt":\d+/g, '');
    const same = await answer();
    await purgeDocument(doors.library, bo, document.id);
    expect(await answer()).toBe(same);
    await forget(ava);
  });

  it('are seen and removed by nobody else, and their log entries name no foreign document', async () => {
    const document = await doors.upload(ava, ava.rootId, 'mine.pdf', 'mine');
    const saved = await saveJudgedPage(doors.library, ava, { query: 'mine', documentId: document.id });
    await expect(removeJudgedPage(doors.library, bo, saved.id)).rejects.toMatchObject({ code: 'not_found' });
    await expect(saveJudgedPage(doors.library, bo, { query: 'mine', documentId: document.id })).rejects.toMatchObject({ code: 'not_found' });
    const rows: Json[] = await doors.library.audit.list({ actorId: bo.user.id }, 2);
    expect(rows.map(({ action, outcome, detail }) => [action, outcome, detail])).toEqual([
      ['judged page saved', 'denied', ''],
      ['judged page removed', 'denied', ''],
    ]);
    expect(await run(bo)).toMatchObject({ queries: [], ndcg10: null, recall100: null });
  });
});
