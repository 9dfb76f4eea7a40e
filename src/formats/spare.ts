import type { Child } from '../sandbox/types.ts';

/** A child that has seen no file, kept running for the next owner. */
export interface Spare {
  /** Whether one runs or is being started. */
  readonly there: boolean;
  /** The one that runs, or undefined. It is the caller's from now on. */
  take(): Promise<Child | undefined>;
  /** Starts none before `refill` is called. */
  hold(): void;
  /** Nothing is read any more: one is started when that lasts. */
  refill(): void;
  close(): Promise<void>;
}

export interface SpareOptions {
  start(): Promise<Child>;
  /** Milliseconds after which the first is started, without a file; default: not before `refill`. */
  firstMs?: number;
  /** Milliseconds without work after which one is started: starting takes a processor for a while. */
  quietMs: number;
}

export function createSpare({ start, firstMs, quietMs }: SpareOptions): Spare {
  let spare: Promise<Child | undefined> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  const refill = (afterMs: number): void => {
    clearTimeout(timer);
    if (closed || spare !== undefined) return;
    timer = setTimeout(() => {
      // One that does not start says so to the file that starts its own.
      spare = start().catch(() => undefined);
    }, afterMs);
    timer.unref();
  };
  if (firstMs !== undefined) refill(firstMs);
  return {
    get there() {
      return spare !== undefined;
    },
    async take() {
      const taken = spare;
      // At once: nobody else may have the same.
      spare = undefined;
      const child = await taken;
      return child?.alive ? child : undefined;
    },
    hold: () => clearTimeout(timer),
    refill: () => refill(quietMs),
    async close() {
      closed = true;
      clearTimeout(timer);
      await (await spare)?.stop();
      spare = undefined;
    },
  };
}
