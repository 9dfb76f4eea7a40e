import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { clearIncoming, openDiskBlobs } from './blobs/disk.ts';
import type { AuditRow, DocumentRow, Storage } from './ports.ts';
import { openSqliteStorage } from './sqlite/open.ts';
import type { IndexWriter } from './sqlite/index-store.ts';

const noIndex: IndexWriter = { addDocument() {}, removeDocument() {}, moveDocument() {}, setDocumentLive() {} };
let folder: string;

/** Every engine runs the same suite: a second one is one more row. */
const engines: { name: string; open(): Promise<Storage> }[] = [
  { name: 'sqlite', open: () => openSqliteStorage({ path: join(folder, 'sergo.db'), indexWriter: noIndex }) },
];

const id = (): string => randomBytes(4).toString('hex');

async function makeUser(storage: Storage, name = 'Ava Bennett'): Promise<{ user: number; root: number }> {
  return storage.transaction(async (stores) => {
    const user = await stores.users.insert({ id: id(), name, email: `${id()}@example.com`, passwordHash: 'x', role: 'member', createdAt: 1 });
    const root = await stores.folders.insert({
      id: id(), parent: null, owner: user, name: `${name}'s documents`, nameKey: id(), createdAt: 1,
    });
    await stores.users.setRootFolder(user, root);
    return { user, root };
  });
}

const makeFolder = (storage: Storage, owner: number, parent: number, name: string): Promise<number> =>
  storage.folders.insert({ id: id(), parent, owner, name, nameKey: name.toLowerCase(), createdAt: 1 });

function documentRow(owner: number, folder: number, change: Partial<DocumentRow> = {}): Omit<DocumentRow, 'ref' | 'title' | 'trashedAt'> {
  return {
    id: id(), folder, owner, name: 'a.pdf', type: 'pdf', preset: 'basic', status: 'processing', reason: null, notices: [],
    progress: null, sha256: 'a'.repeat(64), bytes: 1, pages: null, pagesEstimated: false, pagesToView: [], imageOnlyPages: [],
    pdfCopy: 'none', uploadedAt: 1, uploadedBy: owner, generation: 1, container: null, ...change,
  };
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sergo-storage-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe.each(engines)('storage on $name', ({ open }) => {
  let storage: Storage;
  beforeEach(async () => {
    storage = await open();
  });
  afterEach(() => storage.close());

  test('a transaction that throws changes nothing, and reads never see a half-done one', async () => {
    const { user, root } = await makeUser(storage);
    let seenFromOutside: unknown;
    await expect(
      storage.transaction(async (stores) => {
        await stores.documents.insert(documentRow(user, root));
        seenFromOutside = await storage.documents.count({ folders: [root], documents: [] });
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    expect(seenFromOutside).toBe(0);
    expect(await storage.documents.count({ folders: [root], documents: [] })).toBe(0);
  });

  test('audit rows are committed all or nothing, in turn with transactions, and durable when they say so', async () => {
    const row = (seq: number): AuditRow => ({
      seq, at: 1, actorKind: 'system', actorId: null, actor: 'test', masked: null, endUser: null, action: 'search',
      objectKind: null, objectId: null, detail: '', outcome: 'ok', requestId: 'r', hash: String(seq),
    });
    await expect(
      storage.appendAudit(async (audit) => {
        await audit.append([row(1)]);
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    expect(await storage.audit.head()).toBeNull();
    const order: string[] = [];
    const [{ durable }] = await Promise.all([
      storage.appendAudit(async (audit) => {
        await audit.append([row(1)]);
        order.push('rows');
      }),
      storage.transaction(async (stores) => {
        order.push(`transaction sees ${(await stores.audit.head())?.seq}`);
        await stores.audit.append([row(2)]);
      }),
    ]);
    expect(await durable).toBeUndefined();
    expect(order).toEqual(['rows', 'transaction sees 1']);
    expect((await storage.audit.head())?.seq).toBe(2);
  });

  test('documents come back as they went in', async () => {
    const { user, root } = await makeUser(storage);
    const row = documentRow(user, root, {
      notices: ['Font missing'], progress: { done: 1, total: 2, what: 'reading' }, pagesEstimated: true, pagesToView: [1, 3], imageOnlyPages: [3],
    });
    const ref = await storage.documents.insert(row);
    expect(await storage.documents.byRef(ref)).toEqual({ ...row, ref, title: null, trashedAt: null });
    await storage.documents.update(ref, { progress: null, pagesToView: [], pagesEstimated: false, title: 'Outlook' });
    expect(await storage.documents.byId(row.id)).toMatchObject({ progress: null, pagesToView: [], pagesEstimated: false, title: 'Outlook' });
    expect(await storage.documents.byIdOrAny(row.id)).toEqual(await storage.documents.byId(row.id));
    expect(await storage.documents.byIdOrAny('nobody00')).not.toBeNull();
  });

  test('scope is inside the query: lists, counts and look-ups agree', async () => {
    const { user, root } = await makeUser(storage);
    const inside = await makeFolder(storage, user, root, 'inside');
    const outside = await makeFolder(storage, user, root, 'outside');
    const a = await storage.documents.insert(documentRow(user, inside, { uploadedAt: 1 }));
    const b = await storage.documents.insert(documentRow(user, inside, { uploadedAt: 2 }));
    const c = await storage.documents.insert(documentRow(user, outside, { uploadedAt: 3 }));
    const trashed = await storage.documents.insert(documentRow(user, inside));
    await storage.documents.update(trashed, { trashedAt: 5 });
    const scope = { folders: [inside], documents: [] };
    expect((await storage.documents.list(scope, 10, 0)).map((row) => row.ref)).toEqual([b, a]);
    expect(await storage.documents.count(scope)).toBe(2);
    const outsider = await storage.documents.byRef(c);
    expect(await storage.documents.inScope(outsider!.id, scope)).toBeNull();
    expect(await storage.documents.inScope(outsider!.id, { folders: [], documents: [c] })).not.toBeNull();
    expect(await storage.documents.count({ folders: [], documents: [] })).toBe(0);
  });

  test('the tree: live subtrees, ancestors and paths', async () => {
    const { user, root } = await makeUser(storage);
    const a = await makeFolder(storage, user, root, 'A');
    const b = await makeFolder(storage, user, a, 'B');
    const c = await makeFolder(storage, user, b, 'C');
    expect((await storage.folders.subtree([a])).map((row) => row.ref).sort()).toEqual([a, b, c].sort());
    expect((await storage.folders.ancestors(c)).map((row) => row.ref)).toEqual([c, b, a, root]);
    expect((await storage.folders.paths([c, root])).get(c)).toBe("Ava Bennett's documents/A/B/C");
    await storage.folders.update(b, { trashedAt: 9 });
    expect((await storage.folders.subtree([a])).map((row) => row.ref)).toEqual([a]);
    expect(await storage.folders.subtree([c])).toEqual([]);
    expect((await storage.folders.everythingBelow(a)).length).toBe(3);
  });

  test('two live siblings cannot have one name; a trashed one does not count', async () => {
    const { user, root } = await makeUser(storage);
    const first = await makeFolder(storage, user, root, 'Twice');
    await expect(makeFolder(storage, user, root, 'twice')).rejects.toThrow();
    await storage.folders.update(first, { trashedAt: 1 });
    await expect(makeFolder(storage, user, root, 'twice')).resolves.toBeGreaterThan(0);
  });

  test('jobs: one lease at a time, fenced by its token, fair between owners, small before large', async () => {
    const one = await makeUser(storage, 'One');
    const two = await makeUser(storage, 'Two');
    const enqueue = async (owner: { user: number; root: number }, weight: number) => {
      const document = await storage.documents.insert(documentRow(owner.user, owner.root));
      return storage.jobs.enqueue({ kind: 'read', document, generation: 1, owner: owner.user, weight, availableAt: 0, createdAt: 100 });
    };
    const large = await enqueue(one, 2_000);
    const small = await enqueue(one, 1);
    const other = await enqueue(two, 500);
    const lease = (token: string, now = 100) => storage.jobs.lease(['read'], now, 1_000, token);
    expect((await lease('t1'))?.ref).toBe(small);
    expect((await lease('t2'))?.ref).toBe(other);
    expect((await lease('t3'))?.ref).toBe(large);
    expect(await lease('t4')).toBeNull();
    expect(await storage.jobs.extend(small, 'wrong', 5_000)).toBe(false);
    expect(await storage.jobs.finish(small, 't1', 'done', null, 200)).toBe(true);
    // The lease of `other` runs out: it is dealt again, and its first worker can no longer end it.
    const again = await lease('t5', 2_000);
    expect(again).toMatchObject({ ref: other, attempt: 2 });
    expect(await storage.jobs.finish(other, 't2', 'done', null, 2_100)).toBe(false);
    expect(await storage.jobs.cancelOfDocument(again!.document, 2_200)).toBe(1);
    expect(await storage.jobs.extend(other, 't5', 9_000)).toBe(false);
  });

  test('what came out of an archive is counted with all that came out of it, and its open jobs apart', async () => {
    const one = await makeUser(storage, 'One');
    const two = await makeUser(storage, 'Two');
    const insert = async (container: number | null, bytes: number): Promise<number> => {
      const document = await storage.documents.insert(documentRow(one.user, one.root, { container, bytes }));
      await storage.jobs.enqueue({ kind: 'read', document, generation: 1, owner: one.user, weight: 1, availableAt: 0, createdAt: 1 });
      return document;
    };
    const archive = await insert(null, 1_000);
    const inner = await insert(archive, 10);
    await insert(archive, 20);
    await insert(inner, 3);
    const other = await insert(null, 1_000);
    await insert(other, 50);
    expect(await storage.documents.sizeInside(archive, 0)).toEqual({ files: 3, bytes: 33 });
    expect(await storage.documents.sizeInside(archive, inner)).toEqual({ files: 2, bytes: 30 });
    expect(await storage.documents.sizeInside(archive, archive)).toEqual({ files: 1, bytes: 3 });
    expect(await storage.documents.sizeInside(inner, inner)).toEqual({ files: 0, bytes: 0 });
    expect([await storage.jobs.countOpenOf(one.user), await storage.jobs.countOpenOf(two.user)]).toEqual([6, 0]);
    expect(await storage.jobs.countOpenUnpacked()).toBe(4);
    await storage.jobs.cancelOfDocument(inner, 2);
    expect([await storage.jobs.countOpenOf(one.user), await storage.jobs.countOpenUnpacked()]).toEqual([5, 3]);
  });

  test('keys: found by any value, old values end when a roll says so and keep a sooner end', async () => {
    const { user } = await makeUser(storage);
    const key = await storage.keys.insert(
      { id: id(), kind: 'agent', owner: user, name: 'one', description: '', createdAt: 1, masked: 'm1' },
      'h1',
    );
    await storage.keys.roll(key, { hash: 'h2', masked: 'm2', createdAt: 2 }, 1_000);
    await storage.keys.roll(key, { hash: 'h3', masked: 'm3', createdAt: 3 }, 5_000);
    expect((await storage.keys.byValueHash('h1'))?.value.validUntil).toBe(1_000);
    expect((await storage.keys.byValueHash('h2'))?.value.validUntil).toBe(5_000);
    expect(await storage.keys.byValueHash('h3')).toMatchObject({ value: { validUntil: null, masked: 'm3' }, key: { masked: 'm3', name: 'one' } });
    expect(await storage.keys.byValueHash('h4')).toBeNull();
  });

  test('the audit table takes no change and no deletion', async () => {
    const row: AuditRow = {
      seq: 1, at: 1, actorKind: 'system', actorId: null, actor: 'system', masked: null, endUser: null, action: 'test',
      objectKind: null, objectId: null, detail: '', outcome: 'ok', requestId: 'r', hash: 'h',
    };
    await storage.audit.append([row]);
    await expect(storage.audit.append([row])).rejects.toThrow();
    expect(await storage.audit.list({}, 10)).toEqual([row]);
    expect(await storage.audit.head()).toEqual({ seq: 1, hash: 'h' });
  });

  test('the log is found by actor and object as by a walk through it, whatever came in one commit and wherever a page of it ends', async () => {
    const names = [null, 'a', 'b', 'c'];
    const rows = Array.from({ length: 1_100 }, (_, at): AuditRow => ({
      seq: at + 1, at, actorKind: 'key', actorId: names[at % 3] ?? null, actor: 'k', masked: null, endUser: null, action: at % 5 === 0 ? 'mcp search' : 'mcp text read',
      objectKind: null, objectId: at === 700 ? 'rare' : (names[at % 4] ?? null), detail: '', outcome: 'ok', requestId: 'r', hash: 'h',
    }));
    // Blocks of 256 begin, end and lie wholly within commits.
    let start = 0;
    for (const size of [1, 2, 250, 3, 256, 500, 88]) await storage.audit.append(rows.slice(start, (start += size)));
    const newest = rows.toReversed();
    for (const actorId of [undefined, 'a', 'b', 'nobody'])
      for (const objectId of [undefined, 'a', 'c', 'rare'])
        for (const before of [undefined, 2, 257, 700, 1_025])
          for (const action of [undefined, 'mcp search']) {
            const wanted = newest.filter((row) =>
              (actorId === undefined || row.actorId === actorId) && (objectId === undefined || row.objectId === objectId) &&
              (before === undefined || row.seq < before) && (action === undefined || row.action === action));
            const filter = { ...(actorId && { actorId }), ...(objectId && { objectId }), ...(before && { before }), ...(action && { action }) };
            for (const limit of [3, 100, 2_000]) expect((await storage.audit.list(filter, limit)).map(({ seq }) => seq)).toEqual(wanted.slice(0, limit).map(({ seq }) => seq));
          }
  });

  test('what a search asked for is kept beside its row', async () => {
    const row: AuditRow = {
      seq: 1, at: 1, actorKind: 'key', actorId: 'k', actor: 'k', masked: 'm', endUser: null, action: 'mcp search',
      objectKind: null, objectId: null, detail: 'a — 2 results', outcome: 'ok', requestId: 'r', hash: 'h',
    };
    const asked = { query: 'a\nb "c" 水', folders: ['Energy outlooks/Basic', "Ava's"], limit: 4, offset: 8, asKey: null, found: 2 };
    await storage.audit.append([{ ...row, asked }, { ...row, seq: 2, hash: 'i' }, { ...row, seq: 3, hash: 'j', asked: { ...asked, folders: null, asKey: 'key', found: null } }]);
    expect(await storage.audit.asked(1)).toEqual(asked);
    expect(await storage.audit.asked(2)).toBeNull();
    expect(await storage.audit.asked(3)).toEqual({ ...asked, folders: null, asKey: 'key', found: null });
    expect(await storage.audit.bySeq(1)).toEqual(row);
    expect(await storage.audit.bySeq(4)).toBeNull();
  });

  test('judged pages: their owner’s only, with the place of the last run', async () => {
    const one = await makeUser(storage, 'One');
    const two = await makeUser(storage, 'Two');
    const row = { id: id(), owner: one.user, query: 'coal', keyId: null, folderId: 'folder', documentId: 'document', page: 18, grade: 3, createdAt: 5 };
    const ref = await storage.judgedPages.insert(row);
    const other = await storage.judgedPages.insert({ ...row, id: id(), page: null, folderId: null, keyId: 'key', grade: 1 });
    await storage.judgedPages.insert({ ...row, id: id(), owner: two.user });
    expect(await storage.judgedPages.byId(row.id)).toEqual({ ...row, ref, lastRank: null, lastRunAt: null });
    await storage.judgedPages.setRank(ref, 4, 77);
    expect((await storage.judgedPages.ofOwner(one.user)).map((each) => [each.ref, each.lastRank, each.lastRunAt])).toEqual([[ref, 4, 77], [other, null, null]]);
    await storage.judgedPages.setRank(ref, null, 78);
    expect(await storage.judgedPages.byId(row.id)).toMatchObject({ lastRank: null, lastRunAt: 78 });
    await storage.judgedPages.remove(ref);
    expect(await storage.judgedPages.byId(row.id)).toBeNull();
    await expect(storage.judgedPages.insert({ ...row, id: id(), grade: 4 })).rejects.toThrow();
  });

  test('writers on two connections take turns; none is lost and the event loop is not blocked', async () => {
    const second = await open();
    try {
      let turns = 0;
      const ticking = setInterval(() => turns++, 1);
      await Promise.all(
        [storage, second].flatMap((each, which) =>
          Array.from({ length: 50 }, (_, at) =>
            each.transaction(async (stores) => {
              const last = ((await stores.settings.get('count')) as number | null) ?? 0;
              await stores.settings.set(`seen-${which}-${at}`, last);
              await stores.settings.set('count', last + 1);
            }),
          ),
        ),
      );
      clearInterval(ticking);
      expect(await storage.settings.get('count')).toBe(100);
      expect(turns).toBeGreaterThan(0);
    } finally {
      await second.close();
    }
  });

  test('a log from before its marks is found by actor after the migration, and its marks go on from there', async () => {
    const rows = Array.from({ length: 600 }, (_, at): AuditRow => ({
      seq: at + 1, at, actorKind: 'key', actorId: at % 2 ? 'a' : 'b', actor: 'k', masked: null, endUser: null, action: 'mcp search',
      objectKind: null, objectId: null, detail: '', outcome: 'ok', requestId: 'r', hash: 'h',
    }));
    await storage.audit.append(rows.slice(0, 500));
    await storage.close();
    const { default: Sqlite } = await import('better-sqlite3');
    const db = new Sqlite(join(folder, 'sergo.db'));
    db.exec(`drop table audit_actors; drop table audit_objects; delete from kysely_migration where name >= '0007';
      create index audit_actor on audit (actor_id, seq); create index audit_object on audit (object_id, seq);
      drop index pages_notes; alter table documents drop column title`);
    db.close();
    storage = await open();
    await storage.audit.append(rows.slice(500));
    const ofA = rows.filter(({ actorId }) => actorId === 'a').toReversed();
    expect(await storage.audit.list({ actorId: 'a' }, 1_000)).toEqual(ofA);
    const marked = new Sqlite(join(folder, 'sergo.db'), { readonly: true });
    expect(marked.prepare('select seq from audit_actors order by seq').pluck().all()).toEqual(rows.slice(0, 512).map(({ seq }) => seq));
    marked.close();
  });

  test('a database that a newer Sergo has migrated is refused with both versions named', async () => {
    await storage.close();
    const { default: Sqlite } = await import('better-sqlite3');
    const db = new Sqlite(join(folder, 'sergo.db'));
    db.exec("insert into kysely_migration (name, timestamp) values ('9999-future', '2030-01-01')");
    db.close();
    await expect(open()).rejects.toThrow(/newer Sergo.*9999-future/);
    const repair = new Sqlite(join(folder, 'sergo.db'));
    repair.exec("delete from kysely_migration where name = '9999-future'");
    repair.close();
    storage = await open();
  });
});

describe('blobs on disk', () => {
  test('a blob is whole or absent, and a failed upload leaves nothing', async () => {
    const blobs = await openDiskBlobs({ folder: join(folder, 'blobs') });
    const stored = await blobs.putBytes(Buffer.from('hello'));
    expect(Buffer.from(await blobs.read(stored.sha256)).toString()).toBe('hello');
    expect(stored.sha256).toBe('2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824');
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('half');
      throw new Error('client went away');
    }
    await expect(blobs.put(broken(), 1_000)).rejects.toThrow('client went away');
    await expect(blobs.put([Buffer.alloc(2_000)] as never, 1_000)).rejects.toMatchObject({ code: 'too_large' });
    expect(await readdir(join(folder, 'blobs', 'incoming'))).toEqual([]);
    const names: string[] = [];
    for await (const name of blobs.list(Date.now() + 1_000)) names.push(name);
    expect(names).toEqual([stored.sha256]);
    expect(() => blobs.stream('../../etc/passwd')).toThrow();
    await blobs.remove(stored.sha256);
    expect(await blobs.has(stored.sha256)).toBe(false);
  });

  test('a start removes what dead processes left half-written, and nothing that another one is writing', async () => {
    await openDiskBlobs({ folder: join(folder, 'blobs') });
    const incoming = join(folder, 'blobs', 'incoming');
    const importing = spawn('sleep', ['60']);
    try {
      const dead = spawnSync('true').pid;
      for (const name of [`${importing.pid}-aa`, `${importing.pid}-old`, `${dead}-bb`, `${process.pid}-cc`, 'not a number']) await writeFile(join(incoming, name), 'half');
      const longAgo = (Date.now() - 2 * 86_400_000) / 1000;
      await utimes(join(incoming, `${importing.pid}-old`), longAgo, longAgo);
      expect(await clearIncoming(join(folder, 'blobs'))).toBe(4);
      expect(await readdir(incoming)).toEqual([`${importing.pid}-aa`]);
    } finally {
      importing.kill('SIGKILL');
    }
    expect(await clearIncoming(join(folder, 'none'))).toBe(0);
  });
});
