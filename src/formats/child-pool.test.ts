import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Child } from '../sandbox/types.ts';
import { ChildPool, type Member, type PoolOptions } from './child-pool.ts';

interface Fake extends Child {
  id: number;
  served: number;
  peakBytes: number;
  alive: boolean;
}

function makePool(more: Partial<PoolOptions> = {}) {
  const started: Fake[] = [];
  const pool = new ChildPool({
    size: 1,
    maxServed: 100,
    keepBelowBytes: 1000,
    spare: { quietMs: 0 },
    idleMs: 60_000,
    ...more,
    start: async () => {
      const child: Fake = {
        id: started.length,
        pid: 0,
        alive: true,
        served: 0,
        peakBytes: 0,
        request: async () => ({ header: { kind: 'done' }, payload: new Uint8Array() }),
        stop: async () => void (child.alive = false),
      };
      started.push(child);
      return child;
    },
  });
  const serve = (owner: string, key = 'k', work: (member: Member) => void = () => undefined): Promise<number> =>
    pool.use({ owner, key }, async (member) => {
      (member.child as Fake).served += 1;
      member.key = key;
      work(member);
      return (member.child as Fake).id;
    });
  return { pool, started, serve };
}

test('a child serves one owner only; the spare takes over and the old one ends', async () => {
  const { pool, started, serve } = makePool();
  const first = await serve('ava');
  expect(await serve('ava')).toBe(first);
  const second = await serve('ben');
  expect(second).not.toBe(first);
  expect(started[first]!.alive).toBe(false);
  const third = await serve('ava');
  expect([first, second]).not.toContain(third);
  await pool.close();
  expect(started.every((child) => !child.alive)).toBe(true);
});

test('over many changes no child ever sees two owners', async () => {
  const { pool, serve } = makePool({ size: 3 });
  const seen = new Map<number, Set<string>>();
  const calls = Array.from({ length: 200 }, (_, n) => `owner${(n * 7) % 5}`);
  await Promise.all(
    calls.map(async (owner) => {
      const id = await serve(owner);
      seen.set(id, (seen.get(id) ?? new Set()).add(owner));
    }),
  );
  for (const owners of seen.values()) expect(owners.size).toBe(1);
  await pool.close();
});

test('one request at a time a child, and the rest wait in order', async () => {
  const { pool } = makePool({ size: 1 });
  const order: string[] = [];
  let atWork = 0;
  const call = (name: string): Promise<void> =>
    pool.use({ owner: 'a', key: name }, async () => {
      atWork += 1;
      expect(atWork).toBe(1);
      await new Promise((resolve) => setTimeout(resolve, 5));
      order.push(name);
      atWork -= 1;
    });
  await Promise.all(['1', '2', '3', '4'].map(call));
  expect(order).toEqual(['1', '2', '3', '4']);
  await pool.close();
});

test('replaced on a schedule, after growing, and when dead', async () => {
  const { pool, started, serve } = makePool({ maxServed: 2 });
  const [a, b, c] = [await serve('x'), await serve('x'), await serve('x')];
  expect([a === b, b === c]).toEqual([true, false]);
  await serve('x', 'k', (member) => ((member.child as Fake).peakBytes = 5000));
  const grown = await serve('x');
  expect(grown).not.toBe(c);
  started[grown]!.alive = false;
  expect(await serve('x')).not.toBe(grown);
  await pool.close();
});

test('a waiting call that is cancelled leaves the queue', async () => {
  const { pool, serve } = makePool();
  const abort = new AbortController();
  const blocker = pool.use({ owner: 'a', key: 'k' }, () => new Promise<void>((resolve) => setTimeout(resolve, 30)));
  const waiting = pool.use({ owner: 'a', key: 'k', signal: abort.signal }, async () => 'ran');
  abort.abort(new Error('enough'));
  await expect(waiting).rejects.toThrow('enough');
  await blocker;
  await serve('a');
  await pool.close();
});

test('an idle child is ended after a while', async () => {
  const { pool, started, serve } = makePool({ idleMs: 10 });
  const id = await serve('a');
  await expect.poll(() => started[id]!.alive).toBe(false);
  await pool.close();
});

test('with enough at work another is started only when none becomes free in time', async () => {
  const { pool, started } = makePool({ size: 3, enough: 1, patienceMs: 400, spare: undefined });
  const hold = (owner: string, ms: number): Promise<void> => pool.use({ owner, key: 'k' }, () => sleep(ms));
  await Promise.all([hold('ava', 60), hold('ava', 60)]);
  expect(started).toHaveLength(1);
  // It is idle now and another owner's: the one that waits for nothing of its own starts at once.
  const began = performance.now();
  await hold('ben', 0);
  expect(performance.now() - began).toBeLessThan(300);
  expect(started).toHaveLength(2);
  await Promise.all([hold('ava', 900), hold('ava', 0)]);
  expect(started).toHaveLength(3);
  // Two of ava's are ready now, and still one works at a time.
  let working = 0;
  const alone = (): Promise<void> => pool.use({ owner: 'ava', key: 'k2' }, async () => {
    expect(++working).toBe(1);
    await sleep(60);
    working -= 1;
  });
  await Promise.all([alone(), alone(), alone()]);
  await pool.close();
});

test('the spare is started once there was nothing to do for a while, and then serves at once', async () => {
  const { pool, started, serve } = makePool({ size: 2, spare: { quietMs: 100 } });
  await Promise.all([serve('ava'), pool.use({ owner: 'ava', key: 'k' }, () => sleep(250))]);
  expect(started).toHaveLength(2);
  await sleep(300);
  expect(started).toHaveLength(3);
  expect(await serve('ben')).toBe(2);
  await pool.close();
  expect(started.every((child) => !child.alive)).toBe(true);
});

test('a spare wanted from the start is there before the first file', async () => {
  const { pool, started, serve } = makePool({ spare: { quietMs: 60_000, firstMs: 10 } });
  await sleep(100);
  expect(started).toHaveLength(1);
  expect(await serve('ava')).toBe(0);
  expect(started).toHaveLength(1);
  await pool.close();
});
