import { afterEach, expect, test, vi } from 'vitest';
import { createRecentDrawings } from './recent-drawings.ts';

afterEach(() => vi.useRealTimers());
const bytes = (size: number): Uint8Array => new Uint8Array(size);

test('keeps the latest that fit; a look makes a page one of the latest', () => {
  const recent = createRecentDrawings(100);
  for (const name of ['a', 'b', 'c', 'd']) recent.keep(name, bytes(25));
  expect(recent.get('a')).toHaveLength(25);
  recent.keep('e', bytes(25));
  expect(['a', 'b', 'c', 'd', 'e'].map((name) => recent.get(name) !== undefined)).toEqual([true, false, true, true, true]);
});

test('one that would push out most others is not kept, and keeping one again does not count twice', () => {
  const recent = createRecentDrawings(100);
  recent.keep('large', bytes(26));
  expect(recent.get('large')).toBeUndefined();
  for (let time = 0; time < 9; time++) recent.keep('a', bytes(20));
  recent.keep('b', bytes(20));
  expect(recent.get('a')).toHaveLength(20);
});

test('all are let go two minutes after the last look', () => {
  vi.useFakeTimers();
  const recent = createRecentDrawings(100);
  recent.keep('a', bytes(20));
  vi.advanceTimersByTime(119_000);
  expect(recent.get('a')).toBeDefined();
  vi.advanceTimersByTime(119_000);
  expect(recent.get('a')).toBeDefined();
  vi.advanceTimersByTime(121_000);
  expect(recent.get('a')).toBeUndefined();
});
