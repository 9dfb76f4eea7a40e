import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hourMs, openTestLibrary, type TestLibrary } from '../../test/support/library.ts';
import { changeDocument } from '../library/documents.ts';
import type { UserActor } from './actor.ts';
import { authenticateForAgentDoor, authenticateForApi } from './authentication.ts';
import { createKey, editKey, getKey, listKeys, revokeKey, rollKey, type Grace } from './keys.ts';
import { setPersonDisabled } from './people.ts';
import { scopeOf } from './scope.ts';

let lib: TestLibrary;
let ava: UserActor & { rootId: string };
let bo: UserActor & { rootId: string };
let admin: UserActor & { rootId: string };
beforeAll(async () => {
  lib = await openTestLibrary();
  ava = await lib.person('Ava Bennett');
  bo = await lib.person('Bo Larsen');
  admin = await lib.person('Ann Admin', 'admin');
});
afterAll(() => lib.close());

const enter = (key: string) => authenticateForAgentDoor(lib, { authorization: `Bearer ${key}` }, { requestId: 'r' });
const works = (key: string): Promise<boolean> => enter(key).then(() => true, () => false);
let count = 0;
const agent = (change: object = {}) => ({ kind: 'agent' as const, name: `key-${(count += 1)}`, description: 'Outlooks', folderIds: [ava.rootId], documentIds: [], ...change });

describe('making keys', () => {
  test('keeps the rules of the contract for names, descriptions and scopes', async () => {
    for (const name of ['a', 'A-key', '1key', '-key', 'key_1', 'k'.repeat(33), 'kéy', 'key ', '']) {
      await expect(createKey(lib, ava, agent({ name })), name).rejects.toMatchObject({ code: 'invalid', field: 'name' });
    }
    for (const name of ['ab', 'k'.repeat(32), 'key-1-', 'a-']) await expect(createKey(lib, ava, agent({ name })), name).resolves.toMatchObject({ name });
    for (const description of ['', ' \u200b ', 'x'.repeat(1_001)]) {
      await expect(createKey(lib, ava, agent({ description }))).rejects.toMatchObject({ code: 'invalid', field: 'description' });
    }
    expect(await createKey(lib, ava, agent({ description: '😀'.repeat(1_000) }))).toMatchObject({ description: '😀'.repeat(1_000) });
    expect(await createKey(lib, ava, agent({ description: 'one\r\ntwo \u202ethree\u{e0041}' }))).toMatchObject({ description: 'one two three' });
    await expect(createKey(lib, ava, agent({ folderIds: [] }))).rejects.toMatchObject({ code: 'invalid', field: 'folderIds' });
  });

  test('names are unique among an owner’s live keys of one kind', async () => {
    const first = await createKey(lib, ava, agent({ name: 'taken' }));
    await expect(createKey(lib, ava, agent({ name: 'taken' }))).rejects.toMatchObject({ code: 'conflict', field: 'name' });
    await expect(createKey(lib, ava, { kind: 'personal', name: 'taken' })).resolves.toMatchObject({ kind: 'personal', description: '' });
    await expect(createKey(lib, bo, agent({ name: 'taken', folderIds: [bo.rootId] }))).resolves.toMatchObject({ name: 'taken' });
    const other = await createKey(lib, ava, agent());
    await expect(editKey(lib, ava, other.id, { name: 'taken' })).rejects.toMatchObject({ code: 'conflict' });
    await revokeKey(lib, ava, first.id);
    await expect(createKey(lib, ava, agent({ name: 'taken' }))).resolves.toMatchObject({ name: 'taken' });
  });

  test('an id in the body is checked like one in a path: foreign and unknown are one answer', async () => {
    const foreign = await lib.upload(bo, bo.rootId, 'secret.txt');
    const answers: unknown[] = [];
    for (const change of [{ folderIds: [bo.rootId] }, { folderIds: ['unknown1'] }, { documentIds: [foreign.id] }, { documentIds: ['unknown1'] }]) {
      const error: unknown = await createKey(lib, ava, agent(change)).catch((reason: unknown) => reason);
      answers.push({ ...(error as object), message: (error as Error).message });
      const mine = await createKey(lib, ava, agent());
      await expect(editKey(lib, ava, mine.id, change)).rejects.toMatchObject({ code: 'not_found' });
      expect((await getKey(lib, ava, mine.id)).folders?.map((folder) => folder.id)).toEqual([ava.rootId]);
    }
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
  });

  test('show the key once, and keep neither it nor a part that would do', async () => {
    const made = await createKey(lib, ava, agent());
    expect(made.key).toMatch(/^sgk_s_/);
    expect(made.masked).toBe(`sgk_s_…${made.key.slice(-4)}`);
    const seen = JSON.stringify([await listKeys(lib, ava), await lib.storage.keys.byId(made.id), await lib.audit.list({}, 500)]);
    expect(seen).toContain(made.masked);
    expect(seen).not.toContain(made.key.slice(6, 20));
  });

  test('views: the owner sees what it reads, an admin that it is there, anybody else nothing', async () => {
    const folder = await lib.folderIn(ava, ava.rootId, 'Seen');
    const document = await lib.upload(ava, ava.rootId, 'single.txt');
    const made = await createKey(lib, ava, agent({ folderIds: [folder], documentIds: [document.id] }));
    expect(await getKey(lib, ava, made.id)).toMatchObject({
      folders: [{ id: folder, name: 'Seen', path: "Ava Bennett's documents/Seen" }], documents: [{ id: document.id, name: 'single.txt' }],
    });
    expect(await getKey(lib, admin, made.id)).not.toHaveProperty('folders');
    expect((await listKeys(lib, admin, { all: true })).find((key) => key.id === made.id)).toMatchObject({ owner: { name: 'Ava Bennett' } });
    await expect(getKey(lib, bo, made.id)).rejects.toMatchObject({ code: 'not_found' });
    await expect(listKeys(lib, bo, { all: true })).rejects.toMatchObject({ code: 'forbidden' });
    const actor = await enter(made.key);
    for (const work of [createKey(lib, actor, agent()), listKeys(lib, actor), revokeKey(lib, actor, made.id)]) {
      await expect(work).rejects.toMatchObject({ code: 'forbidden' });
    }
  });
});

describe('rolling', () => {
  const ends: Record<Grace, number> = { now: 0, '1h': hourMs, '24h': 24 * hourMs, '7d': 168 * hourMs };
  const graces = Object.keys(ends) as Grace[];

  test.each(graces.flatMap((first) => graces.map((second) => [first, second] as const)))(
    'first with %s, half an hour later with %s: each value works exactly until its own end',
    async (first, second) => {
      const made = await createKey(lib, ava, agent());
      const start = lib.clock.now();
      const one = await rollKey(lib, ava, made.id, first);
      expect(one.oldValidUntil).toBe(start + ends[first]);
      lib.clock.advance(hourMs / 2);
      const two = await rollKey(lib, ava, made.id, second);
      // `now` is sooner than whatever grace the first value had.
      const firstEnd = Math.min(start + ends[first], start + hourMs / 2 + ends[second]);
      const secondEnd = start + hourMs / 2 + ends[second];
      for (const at of [start + hourMs / 2, firstEnd - 1, firstEnd, secondEnd - 1, secondEnd, start + 400 * hourMs]) {
        if (at < lib.clock.now()) continue;
        lib.clock.advance(at - lib.clock.now());
        expect([await works(made.key), await works(one.key), await works(two.key)], `${at - start} ms`).toEqual([at < firstEnd, at < secondEnd, true]);
      }
    },
  );

  test('keeps name, description and scope; the mask in use is the one of the value that was sent', async () => {
    const made = await createKey(lib, ava, agent());
    const rolled = await rollKey(lib, ava, made.id, '1h');
    const [before, after] = [await enter(made.key), await enter(rolled.key)];
    expect([before.key.masked, after.key.masked]).toEqual([made.masked, rolled.masked]);
    expect({ ...after.key, masked: '' }).toEqual({ ...before.key, masked: '' });
    expect(await scopeOf(lib.storage, after)).toEqual(await scopeOf(lib.storage, before));
  });

  test('is the owner’s alone: an admin may revoke, never make or roll in another’s name', async () => {
    const made = await createKey(lib, ava, agent());
    await expect(rollKey(lib, admin, made.id, 'now')).rejects.toMatchObject({ code: 'forbidden' });
    await expect(editKey(lib, admin, made.id, { name: 'mine-now' })).rejects.toMatchObject({ code: 'forbidden' });
    await expect(rollKey(lib, bo, made.id, 'now')).rejects.toMatchObject({ code: 'not_found' });
    await expect(revokeKey(lib, bo, made.id)).rejects.toMatchObject({ code: 'not_found' });
    expect(await works(made.key)).toBe(true);
    await revokeKey(lib, admin, made.id);
    await revokeKey(lib, admin, made.id);
    expect(await works(made.key)).toBe(false);
    await expect(rollKey(lib, ava, made.id, 'now')).rejects.toMatchObject({ code: 'conflict' });
  });
});

describe('revocation acts on the next call (P12)', () => {
  let elsewhere: string;
  beforeAll(async () => {
    elsewhere = await lib.folderIn(ava, ava.rootId, 'elsewhere');
  });

  /** Calls in flight while `revoke` runs; any call that starts after it has resolved must fail. */
  async function race(enterOnce: () => Promise<boolean>, revoke: () => Promise<unknown>): Promise<void> {
    let revoked = false;
    let lateSuccesses = 0;
    let calls = 0;
    const caller = async (): Promise<void> => {
      for (let call = 0; call < 8; call += 1) {
        const startedAfter = revoked;
        if ((await enterOnce()) && startedAfter) lateSuccesses += 1;
        calls += 1;
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    const callers = [caller(), caller(), caller(), caller()];
    await revoke();
    revoked = true;
    await Promise.all([...callers, caller()]);
    expect([lateSuccesses, calls]).toEqual([0, 40]);
  }

  test('100 races of revoking, rolling, disabling, taking a folder away and moving a document out', async () => {
    for (let round = 0; round < 20; round += 1) {
      const folder = await lib.folderIn(ava, ava.rootId, `race ${round}`);
      const document = await lib.upload(ava, folder, 'a.txt');
      const seen = (key: string) => async (): Promise<boolean> => {
        const actor = await enter(key).catch(() => null);
        return actor !== null && (await lib.storage.documents.inScope(document.id, await scopeOf(lib.storage, actor))) !== null;
      };
      const make = () => createKey(lib, ava, agent({ folderIds: [folder] }));
      const [moved, narrowed, rolled, revoked] = [await make(), await make(), await make(), await make()];
      await race(seen(rolled.key), () => rollKey(lib, ava, rolled.id, 'now'));
      await race(seen(revoked.key), () => revokeKey(lib, ava, revoked.id));
      await race(seen(narrowed.key), () => editKey(lib, ava, narrowed.id, { folderIds: [elsewhere] }));
      await race(seen(moved.key), () => changeDocument(lib, ava, document.id, { folderId: ava.rootId }));
      const personal = await createKey(lib, bo, { kind: 'personal', name: `race ${round}` });
      const asBo = () => authenticateForApi(lib, { authorization: `Bearer ${personal.key}` }, { requestId: 'r' }).then(() => true, () => false);
      await race(asBo, () => setPersonDisabled(lib, admin, bo.user.id, true));
      await setPersonDisabled(lib, admin, bo.user.id, false);
      expect(await asBo()).toBe(true);
    }
  }, 240_000);
});
