import { expect, test } from 'vitest';
import { memoryRelease } from './idle-memory.ts';

test('what nobody holds any more is given back, and gc is not left lying about', () => {
  const release = memoryRelease();
  let garbage: string[][] | null = Array.from({ length: 200 }, (_, at) => Array.from({ length: 5_000 }, (__, n) => `${at} ${n}`));
  expect(garbage.length).toBe(200);
  const full = process.memoryUsage().heapUsed;
  garbage = null;
  release();
  expect(full - process.memoryUsage().heapUsed).toBeGreaterThan(20 * 2 ** 20);
  expect((globalThis as { gc?: unknown }).gc).toBeUndefined();
});
