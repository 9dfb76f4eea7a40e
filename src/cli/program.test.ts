/** The commands over a real library (storage, blobs, audit); only the worker is a stand-in that "reads" at once. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openTestLibrary, type TestLibrary } from '../../test/support/library.ts';
import { createSearchPorts } from '../app/console-ports.ts';
import { excerpts } from '../app/excerpts.ts';
import { getFolder } from '../library/folders.ts';
import { preparePages, writePages } from '../processing/commit.ts';
import type { ProcessingDeps } from '../processing/deps.ts';
import { createSearchIndex } from '../search/pool.ts';
import { buildProgram } from './program.ts';
import type { Programs } from './services.ts';

let library: TestLibrary;
let folder: string;
let workersStarted: number;

beforeEach(async () => {
  library = await openTestLibrary({ realIndex: true });
  folder = mkdtempSync(join(tmpdir(), 'sergo-cli-'));
  workersStarted = 0;
  vi.stubEnv('SERGO_DATA', join(folder, 'data'));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await library.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Documents named bad.* cannot be read, all others are ready. */
async function readAll(): Promise<void> {
  const jobs = await library.storage.jobs.lease(['read', 'pdf-copy'], library.clock.now(), 60_000, 'test');
  if (jobs === null) return;
  const document = await library.storage.documents.byRef(jobs.document);
  const bad = document?.name.startsWith('bad.') === true;
  await library.storage.documents.update(
    jobs.document,
    bad ? { status: 'not_indexed', reason: 'needs a password' } : { status: 'ready' },
  );
  await library.storage.jobs.finish(jobs.ref, 'test', 'done', null, library.clock.now());
  await readAll();
}

const programs: Programs = {
  openServices: async () => ({ deps: library, close: async () => {} }),
  async openSearch() {
    const index = createSearchIndex({ databasePath: join(library.folder, 'sergo.db'), threads: 1 });
    return {
      deps: library,
      index,
      ports: createSearchPorts({ library, search: { storage: library.storage, index, depth: 60 } }),
      close: () => index.close(),
    };
  },
  startServer: () => Promise.reject(new Error('not in this test')),
  async startWorker() {
    workersStarted += 1;
    let stopped = false;
    const working = (async () => {
      for (; !stopped; await new Promise((resolve) => setTimeout(resolve, 5))) await readAll();
    })();
    return {
      async stop() {
        stopped = true;
        await working;
      },
    };
  },
};

async function run(...args: string[]): Promise<{ out: string; notes: string; code: number }> {
  const out: string[] = [];
  const notes: string[] = [];
  let code = 0;
  const program = buildProgram({
    programs,
    terminal: { out: (line) => out.push(line), note: (line) => notes.push(line), interactive: false },
    mainPath: 'main.ts',
    version: '0.0.0',
    setExitCode: (value) => (code = value),
  });
  await program.parseAsync(args, { from: 'user' });
  return { out: out.join('\n'), notes: notes.join('\n'), code };
}

function writeTree(files: Record<string, string>): string {
  const tree = join(folder, 'tree');
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(tree, name, '..'), { recursive: true });
    writeFileSync(join(tree, name), text);
  }
  return tree;
}

const json = async (...args: string[]) => JSON.parse((await run('--json', ...args)).out);

test('import brings a tree in, goes on where it stopped, and replaces what changed', async () => {
  const ava = await library.person('Ava Bennett', 'admin');
  const tree = writeTree({ 'a.txt': 'one', 'Basic/b.txt': 'two', 'Basic/Old/c.txt': 'three' });
  const first = await run('import', tree, '--into', 'Energy outlooks');
  expect(first.out).toBe("Into Ava Bennett's documents/Energy outlooks: 3 uploaded, 0 replaced, 0 already there.");
  expect([first.code, workersStarted]).toEqual([0, 1]);

  writeTree({ 'Basic/b.txt': 'two, changed', 'Basic/new.txt': 'four' });
  expect(await json('import', tree, '--into', 'energy outlooks')).toMatchObject({
    uploaded: 1,
    replaced: 1,
    alreadyThere: 2,
    notUploaded: [],
    notRead: [],
  });
  const root = await getFolder(library, ava, ava.rootId);
  expect(root.folders.map((child) => child.name)).toEqual(['Energy outlooks']);
  const outlooks = await getFolder(library, ava, root.folders[0]!.id);
  const basic = await getFolder(library, ava, outlooks.folders[0]!.id);
  expect(basic.documents.map((document) => document.name)).toEqual(['b.txt', 'new.txt']);
});

test('import finds the folders it made, whatever had to be cleaned from their names', async () => {
  await library.person('Ava Bennett', 'admin');
  const tree = writeTree({ 'Straße/a.txt': 'one', 'zero\u200bwidth/b.txt': 'two' });
  expect(await json('import', tree, '--into', 'In')).toMatchObject({ uploaded: 2 });
  expect(await json('import', tree, '--into', 'IN')).toMatchObject({ uploaded: 0, alreadyThere: 2, notUploaded: [] });
  rmSync(join(tree, 'Straße'), { recursive: true });
  writeTree({ 'STRASSE/a.txt': 'one' });
  expect(await json('import', tree, '--into', 'In')).toMatchObject({ uploaded: 0, alreadyThere: 2, notUploaded: [] });
});

/** Names and texts of everything below a folder of Ava's. */
async function textsBelow(ava: Awaited<ReturnType<TestLibrary['person']>>, id: string, above = ''): Promise<string[]> {
  const { folders, documents } = await getFolder(library, ava, id);
  const here = documents.map(async ({ name, sha256 }) => `${above}${name}: ${(await library.blobs.read(sha256)).toString()}`);
  const below = folders.map((child) => textsBelow(ava, child.id, `${above}${child.name}/`));
  return [...(await Promise.all(here)), ...(await Promise.all(below)).flat()];
}

test.each([
  ['in both spellings of Unicode', ['e\u0301.txt', '\u00e9.txt'], '\u00e9.txt'],
  ['in folders that differ in case', ['Docs/a.txt', 'docs/a.txt'], 'Docs/a.txt'],
  ['with a space at the end', ['a.txt', 'a.txt '], 'a.txt'],
])('import never lets one file replace another of the same run: the same name %s', async (_how, names, kept) => {
  const ava = await library.person('Ava Bennett', 'admin');
  const tree = writeTree({ [names[0]!]: 'first', [names[1]!]: 'second', 'other.txt': 'other' });
  const report = { replaced: 0, notUploaded: [{ path: join(tree, names[1]!), reason: expect.stringContaining(`the same name in Sergo: ${join(tree, names[0]!)}`) }] };
  expect(await json('import', tree, '--into', '/')).toMatchObject({ ...report, uploaded: 2 });
  expect((await textsBelow(ava, ava.rootId)).toSorted()).toEqual([`${kept}: first`, 'other.txt: other'].toSorted());
  const entries = (await library.storage.audit.list({ action: 'document replaced' }, 10)).length;
  expect(await json('import', tree, '--into', '/')).toMatchObject({ ...report, uploaded: 0, alreadyThere: 2 });
  expect(entries).toBe(0);
  expect((await textsBelow(ava, ava.rootId)).toSorted()).toEqual([`${kept}: first`, 'other.txt: other'].toSorted());
});

test('import looks at every document of a name, and replaces none of several', async () => {
  const ava = await library.person('Ava Bennett', 'admin');
  for (const text of ['one', 'two']) await library.upload(ava, ava.rootId, 'a.txt', text);
  const tree = writeTree({ 'a.txt': 'two' });
  expect(await json('import', tree, '--into', '/', '--no-wait')).toMatchObject({ alreadyThere: 1, replaced: 0, notUploaded: [] });
  writeTree({ 'a.txt': 'new' });
  expect(await json('import', tree, '--into', '/', '--no-wait')).toMatchObject({
    replaced: 0,
    notUploaded: [{ reason: '2 documents have this name in Sergo and none has the bytes of this file — rename it, or replace the right one in Sergo' }],
  });
  expect((await textsBelow(ava, ava.rootId)).toSorted()).toEqual(['a.txt: one', 'a.txt: two']);
});

test('import says "it is gone" of a file that is gone, not of a blob store that is', async () => {
  await library.person('Ava Bennett', 'admin');
  const tree = writeTree({ 'a.txt': 'one' });
  rmSync(join(library.folder, 'blobs/incoming'), { recursive: true });
  await expect(run('import', tree, '--into', 'In')).rejects.toMatchObject({ code: 'ENOENT' });
});

test('import ends with 1 and a list when a file could not be read', async () => {
  await library.person('Ava Bennett', 'admin');
  const tree = writeTree({ 'good.txt': 'x', 'bad.pdf': 'y' });
  const { out, code } = await run('import', tree, '--into', 'In/Deeper');
  expect(code).toBe(1);
  expect(out).toContain("Into Ava Bennett's documents/In/Deeper: 2 uploaded");
  expect(out).toContain(`  ${join(tree, 'bad.pdf')}: needs a password`);
});

test('import without waiting starts no worker and says how many are open', async () => {
  await library.person('Ava Bennett', 'admin');
  const report = await json('import', writeTree({ 'a.txt': 'x' }), '--into', 'In', '--no-wait');
  expect(report).toMatchObject({ uploaded: 1, stillProcessing: 1 });
  expect(workersStarted).toBe(0);
});

test('with several users a command asks whose documents are meant', async () => {
  await expect(run('import', folder, '--into', 'In')).rejects.toThrow('make the first admin with `sergo setup`');
  await library.person('Ava Bennett', 'admin');
  await library.person('Ben Ode');
  const tree = writeTree({ 'a.txt': 'x' });
  await expect(run('import', tree, '--into', 'In')).rejects.toThrow(
    '--as EMAIL, one of: ava.bennett@example.com, ben.ode@example.com',
  );
  expect((await run('import', tree, '--into', 'In', '--as', 'ben.ode@example.com')).out).toContain(
    "Ben Ode's documents/In",
  );
});

test('keys are made for a folder, listed, rolled and revoked by name', async () => {
  const ava = await library.person('Ava Bennett', 'admin');
  await library.folderIn(ava, ava.rootId, 'Energy outlooks');
  await expect(run('keys', 'create', '--name', 'outlooks', '--description', 'd', '--folder', 'Enregy')).rejects.toThrow(
    "There is no folder 'Enregy' in Ava Bennett's documents; it has Energy outlooks.",
  );
  const made = await run(
    'keys',
    'create',
    '--name',
    'outlooks',
    '--description',
    'Decks',
    '--folder',
    'Energy outlooks',
  );
  expect(made.out).toMatch(/^sgk_s_\w{38}$/);
  expect(made.notes).toContain(
    `claude mcp add --transport http outlooks http://127.0.0.1:8080/mcp --header "Authorization: Bearer ${made.out}"`,
  );
  expect((await run('keys', 'list')).out).toMatch(/agent\s+outlooks\s+sgk_s_\S+\s+Ava Bennett\s+valid/);

  const rolled = await json('keys', 'roll', 'outlooks', '--grace', 'now');
  expect(rolled.key).toMatch(/^sgk_s_/);
  expect(rolled.key).not.toBe(made.out);
  expect((await run('keys', 'revoke', 'outlooks')).out).toBe('outlooks is revoked.');
  await expect(run('keys', 'revoke', 'outlooks')).rejects.toThrow("no key with the id or name 'outlooks'");
  expect((await json('keys', 'list'))[0]).toMatchObject({ name: 'outlooks', revokedAt: expect.any(Number) });
  expect((await json('keys', 'create', '--kind', 'personal', '--name', 'script')).key).toMatch(/^sgk_p_/);
});

test('setup prints the ids, once', async () => {
  writeFileSync(join(folder, 'password'), 'a long enough passphrase 7\n');
  const args = [
    'setup',
    '--name',
    'Ava Bennett',
    '--email',
    'ava@example.com',
    '--password-file',
    join(folder, 'password'),
  ];
  expect(JSON.parse((await run(...args)).out)).toEqual({ userId: expect.any(String), folderId: expect.any(String) });
  await expect(run(...args)).rejects.toThrow('There is an admin already');
  await expect(run(...args.slice(0, -1), join(folder, 'none'))).rejects.toThrow(/password file .*none cannot be read/);
});

test('the audit log is verified, its head kept and compared, and the whole exported', async () => {
  await library.person('Ava Bennett', 'admin');
  await run('import', writeTree({ 'a.txt': 'x' }), '--into', 'In', '--no-wait');
  const head = (await run('audit', 'head')).out;
  writeFileSync(join(folder, 'head.json'), head);
  expect((await run('audit', 'verify', '--head', join(folder, 'head.json'))).out).toMatch(
    /^The audit log is intact: \d+ entries/,
  );
  writeFileSync(join(folder, 'head.json'), JSON.stringify({ seq: 1000, hash: 'a'.repeat(64) }));
  const cut = await run('audit', 'verify', '--head', join(folder, 'head.json'));
  expect(cut.code).toBe(1);
  expect(cut.out).toMatch(/NOT intact: .*the end was cut/);
  await run('audit', 'export', '--format', 'csv', '--out', join(folder, 'audit.csv'));
  expect(readFileSync(join(folder, 'audit.csv'), 'utf8')).toMatch(/^seq,at[^]*document uploaded[^]*audit exported/);
});

test.each([
  [['nonsense'], 'commander.unknownCommand'],
  [['keys', 'creat'], 'commander.unknownCommand'],
  [['setup'], 'commander.missingMandatoryOptionValue'],
  [['keys', 'roll', 'x', '--grace', '2h'], 'commander.invalidArgument'],
])('a wrong command line (%j) throws instead of ending the process', async (args, code) => {
  await expect(run(...args)).rejects.toMatchObject({ code });
});

test('config show tells each value and its source', async () => {
  vi.stubEnv('SERGO_PORT', '9999');
  expect((await run('config', 'show')).out).toMatch(/SERGO_PORT\s+9999\s+environment/);
});

/** A document of one page that search finds. */
async function indexed(who: Awaited<ReturnType<TestLibrary['person']>>, folderId: string, name: string, text: string): Promise<string> {
  const { id } = await library.upload(who, folderId, name, text);
  const row = (await library.storage.documents.byId(id))!;
  const pages = [{ number: 1, text, fate: 'text' as const, toView: false, width: 595, height: 842 }];
  const processing = { storage: library.storage, excerpts, clock: library.clock, ocr: null } as unknown as ProcessingDeps;
  const prepared = await preparePages(processing, row, { type: 'txt', pages, pagesEstimated: false });
  await library.storage.transaction((stores) => writePages(stores, row, prepared));
  return id;
}

test('pages that should be found are judged, listed, run again and forgotten', async () => {
  const ava = await library.person('Ava Bennett', 'admin');
  const outlooks = await library.folderIn(ava, ava.rootId, 'Energy outlooks');
  const coal = await indexed(ava, outlooks, 'coal.txt', 'Coal capacity falls until 2050');
  await run('keys', 'create', '--name', 'outlooks', '--description', 'Decks', '--folder', 'Energy outlooks');
  expect((await run('judged', 'list')).out).toMatch(/^Nothing is judged/);
  const saved = await json('judged', 'add', '--query', 'coal capacity', '--document', coal, '--page', '1', '--grade', '3', '--key', 'outlooks');
  expect(saved).toMatchObject({ key: { name: 'outlooks' }, page: 1, grade: 3, lastRank: null });
  await run('judged', 'add', '--query', 'falls', '--document', coal, '--folder', 'energy outlooks');
  expect((await run('judged', 'list')).out).toMatch(/coal capacity\s+key outlooks\s+coal\.txt\s+1\s+3\s+-\n.*falls\s+Ava Bennett's documents\/Energy outlooks\s+coal\.txt\s+any\s+2\s+-$/);
  const ran = await run('judged', 'run');
  expect(ran.out).toContain('coal capacity (key outlooks): nDCG@10 1.000\n     1  coal.txt, page 1\n');
  expect(ran.out).toMatch(/\nnDCG@10 1\.000, recall@100 1\.000; 0 changed since the last run$/);
  await indexed(ava, outlooks, 'coal capacity.txt', 'coal capacity coal capacity');
  expect(await json('judged', 'run')).toMatchObject({ changed: 1, ndcg10Before: 1, queries: [{ pages: [{ rank: 2, lastRank: 1, change: 'worse' }] }, { pages: [{ rank: 1 }] }] });
  expect((await run('judged', 'remove', saved.id)).out).toBe(`${saved.id} is removed.`);
  await expect(run('judged', 'remove', saved.id)).rejects.toMatchObject({ code: 'not_found' });
  await expect(run('judged', 'add', '--query', 'x', '--document', coal, '--page', '0')).rejects.toMatchObject({ code: 'commander.invalidArgument' });
});

test('a search of the log is replayed as its key', async () => {
  const ava = await library.person('Ava Bennett', 'admin');
  const coal = await indexed(ava, ava.rootId, 'coal.txt', 'Coal capacity falls until 2050');
  const made = await json('keys', 'create', '--name', 'outlooks', '--description', 'Decks', '--folder', '/');
  const key = (await library.storage.keys.byId(made.id))!;
  const asked = { query: 'coal capacity', folders: null, limit: 10, offset: 0, asKey: null, found: 3 };
  await library.audit.record({ actor: { kind: 'agent_key', key, owner: ava.user, requestId: 'r' }, action: 'mcp search', detail: 'coal capacity — 3 results', asked });
  const { seq } = (await library.storage.audit.list({ action: 'mcp search' }, 1))[0]!;
  const { out } = await run('search', 'replay', String(seq));
  expect(out).toMatch(/^Entry \d+ of \S+Z, key outlooks: coal capacity\n3 excerpts then, 1 excerpt now\.\n/);
  expect(out).toMatch(new RegExp(`${coal}\\s+coal\\.txt\\s+1\\s+coal \\d\\.\\d\\d, capacity \\d\\.\\d\\d`));
  expect(await json('search', 'replay', String(seq))).toMatchObject({ found: 1, key: { id: made.id }, explained: { inScope: 1 } });
  await run('keys', 'revoke', 'outlooks');
  await expect(run('search', 'replay', String(seq))).rejects.toThrow("The key 'outlooks' was revoked on");
  await library.storage.users.update(ava.user.ref, { disabledAt: 1 });
  await expect(run('search', 'replay', String(seq))).rejects.toThrow('Ava Bennett, whose search this was, is disabled: they and their keys get nothing now.');
  await expect(run('search', 'replay', '100000')).rejects.toThrow('Entry 100000 of the audit log is no search');
  await expect(run('search', 'replay', 'abc')).rejects.toMatchObject({ code: 'commander.invalidArgument' });
});
