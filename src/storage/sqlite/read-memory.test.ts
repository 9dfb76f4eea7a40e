import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openTestLibrary, type TestLibrary } from '../../../test/support/library.ts';

let library: TestLibrary;
let user: number;

beforeEach(async () => {
  library = await openTestLibrary();
  user = (await library.person('Ava Bennett')).user.ref;
});

afterEach(() => library.close());

describe('remembered reads', () => {
  it('answers from memory while nothing was committed, with answers that nobody can change', async () => {
    const first = await library.storage.users.byRef(user);
    expect(await library.storage.users.byRef(user)).toBe(first);
    expect(Object.isFrozen(first)).toBe(true);
  });

  it('knows a change of its own at once', async () => {
    await library.storage.users.byRef(user);
    for (let count = 0; count < 50; count++) {
      await library.storage.users.update(user, { name: `Ava ${count}` });
      expect((await library.storage.users.byRef(user))?.name).toBe(`Ava ${count}`);
    }
  });

  it('knows a change of another process in the next turn, as early as a call could', async () => {
    const other = new Sqlite(join(library.folder, 'sergo.db'));
    try {
      for (let count = 0; count < 50; count++) {
        await library.storage.users.byRef(user);
        other.prepare('update users set name = ? where ref = ?').run(`Other ${count}`, user);
        await new Promise((resolve) => setImmediate(resolve));
        expect((await library.storage.users.byRef(user))?.name).toBe(`Other ${count}`);
      }
    } finally {
      other.close();
    }
  });

  it('tells questions apart', async () => {
    const ben = (await library.person('Ben')).user.ref;
    expect((await library.storage.users.byRef(ben))?.name).toBe('Ben');
    expect((await library.storage.users.byRef(user))?.name).toBe('Ava Bennett');
    expect(await library.storage.keys.byValueHash('unknown')).toBeNull();
    expect((await library.storage.folders.subtree([])).length).toBe(0);
  });

  it('sees inside a transaction what that transaction did', async () => {
    await library.storage.transaction(async (stores) => {
      await stores.users.update(user, { name: 'Half done' });
      expect((await stores.users.byRef(user))?.name).toBe('Half done');
      expect((await library.storage.users.byRef(user))?.name).toBe('Ava Bennett');
    });
    expect((await library.storage.users.byRef(user))?.name).toBe('Half done');
  });
});

describe('recalled answers', () => {
  it('are made once, frozen, and anew after every commit but those of audit rows', async () => {
    let made = 0;
    const recall = () => library.storage.recall('how often', async () => ({ made: (made += 1) }));
    const first = await recall();
    expect(await recall()).toBe(first);
    expect(Object.isFrozen(first)).toBe(true);
    await library.audit.record({ actor: { kind: 'system', name: 'worker', requestId: 'r' }, action: 'search' });
    expect(await recall()).toBe(first);
    await library.storage.users.update(user, { name: 'Ava B' });
    expect(await recall()).toEqual({ made: 2 });
    const other = new Sqlite(join(library.folder, 'sergo.db'));
    other.prepare('update users set name = ? where ref = ?').run('Other', user);
    other.close();
    await new Promise((resolve) => setImmediate(resolve));
    expect(await recall()).toEqual({ made: 3 });
  });

  it('that were on their way when something was committed are not kept', async () => {
    const gate = Promise.withResolvers<void>();
    const old = library.storage.recall('slow', async () => {
      const name = (await library.storage.users.byRef(user))?.name;
      await gate.promise;
      return name;
    });
    await library.storage.users.update(user, { name: 'New' });
    gate.resolve();
    expect(await old).toBe('Ava Bennett');
    const now = await library.storage.recall('slow', async () => (await library.storage.users.byRef(user))?.name);
    expect(now).toBe('New');
  });

  it('that are not worth keeping are made again, and frozen all the same', async () => {
    let made = 0;
    const recall = (length: number) => library.storage.recall(`text ${length}`, async () => ({ text: 'x'.repeat(length), made: (made += 1) }), ({ text }) => text.length <= 10);
    expect(await recall(10)).toBe(await recall(10));
    const long = await recall(11);
    expect(Object.isFrozen(long)).toBe(true);
    expect((await recall(11)).made).toBe(long.made + 1);
  });

  it('that could not be made, or whose question is very long, are asked again', async () => {
    await expect(library.storage.recall('fails', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await library.storage.recall('fails', async () => 'yes')).toBe('yes');
    let made = 0;
    const long = 'x'.repeat(10_000);
    for (let count = 0; count < 2; count++) await library.storage.recall(long, async () => (made += 1));
    expect(made).toBe(2);
  });
});
