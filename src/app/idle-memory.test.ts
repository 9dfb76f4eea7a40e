import { expect, test } from 'vitest';
import { memoryRelease, releaseWhenIdle } from './idle-memory.ts';

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

test('after a burst of work the process gives back what it left by itself', async () => {
  const idle = releaseWhenIdle(100);
  try {
    let garbage: string[][] | null = [];
    const began = process.cpuUsage();
    while (process.cpuUsage(began).user < 1_500_000) garbage.push(Array.from({ length: 1_000 }, (_, n) => `${garbage!.length} ${n}`));
    // Held over a turn, as the last files of a burst are.
    await new Promise((resolve) => setTimeout(resolve, 0));
    const full = process.memoryUsage().heapUsed;
    garbage = null;
    while (full - process.memoryUsage().heapUsed < 20 * 2 ** 20) await new Promise((resolve) => setTimeout(resolve, 50));
  } finally {
    idle.stop();
  }
});
