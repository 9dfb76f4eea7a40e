import { LimitHit } from '../sandbox/types.ts';

/**
 * The time that one file may take in all: converting it, reading it, reading its copy, and every attempt at that. Each step has a limit
 * of its own; without this one their limits would add up. Waiting for a converter that is at another file is not in it.
 */
export interface FileTime {
  leftMs(): number;
  /** Runs one step with what is left, `mostMs` at most. Throws LimitHit when nothing is left. */
  run<T>(mostMs: number, step: (wallMs: number) => Promise<T>): Promise<T>;
}

export function createFileTime(totalMs: number): FileTime {
  let usedMs = 0;
  const leftMs = (): number => Math.max(0, totalMs - usedMs);
  return {
    leftMs,
    async run(mostMs, step) {
      if (leftMs() === 0) throw new LimitHit('time');
      const began = performance.now();
      try {
        return await step(Math.min(mostMs, leftMs()));
      } finally {
        usedMs += performance.now() - began;
      }
    },
  };
}

/** For callers that set no limit over several steps. */
export const runInTime = <T>(time: FileTime | undefined, mostMs: number, step: (wallMs: number) => Promise<T>): Promise<T> =>
  time === undefined ? step(mostMs) : time.run(mostMs, step);
