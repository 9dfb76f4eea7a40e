import { randomUUID } from 'node:crypto';
import type { Child } from '../sandbox/types.ts';
import { createSpare, type Spare } from './spare.ts';

/**
 * Warm children, one file at a time each. A child that has served one owner never serves another: it is ended, and the
 * spare that is kept warm takes its place, so that the change costs nothing.
 */

export interface Member {
  child: Child;
  owner: string;
  /** The file the child still has open. */
  key: string;
}

export interface PoolOptions {
  size: number;
  /**
   * So many at work are enough for the processors: who comes then waits for one of them to end, up to `patienceMs` (about as long as a
   * child takes to start) before another works beside them. More at work only take the processors from one another, but what is short
   * must not wait for what is long. Without `enough` nobody waits longer than for a place.
   */
  enough?: number;
  patienceMs?: number;
  /** Starts one child; descriptors are handed on as 3, 4, …. */
  start(descriptors?: number[]): Promise<Child>;
  /** A child is replaced after this many requests. */
  maxServed: number;
  /** Resident bytes after which a child is not kept: its heap never shrinks. */
  keepBelowBytes: number;
  /** One child kept ready for the next owner, after so long without work; 0: at once, beside the work. Without it none is kept. */
  spare?: { quietMs: number; firstMs?: number } | undefined;
  /** An owner's child is ended after so long without work. */
  idleMs: number;
}

export interface Use {
  owner: string;
  key: string;
  signal?: AbortSignal | undefined;
  /** Start a child of its own with these descriptors, unless one has the file open already. */
  descriptors?: () => number[];
}

/** A child takes about so long to start. */
const START_MS = 300;

interface Slot extends Member {
  busy: boolean;
  idleTimer: NodeJS.Timeout | undefined;
}

export class ChildPool {
  readonly #options: PoolOptions;
  readonly #slots = new Set<Slot>();
  readonly #spare: Spare | null;
  #starting = 0;
  #queue: (() => void)[] = [];
  #closed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#spare = options.spare ? createSpare({ start: () => options.start(), ...options.spare }) : null;
  }

  /** Runs `work` with a child for this owner alone. The child is kept or replaced afterwards. */
  async use<T>(use: Use, work: (member: Member) => Promise<T>): Promise<T> {
    const slot = await this.#acquire(use);
    try {
      return await work(slot);
    } finally {
      this.#release(slot);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const wake of this.#queue.splice(0)) wake();
    await Promise.all([this.#spare?.close(), ...[...this.#slots].map((slot) => this.#retire(slot))]);
  }

  async #acquire(use: Use): Promise<Slot> {
    const { size, enough = size, patienceMs = START_MS } = this.#options;
    const patience = performance.now() + patienceMs;
    for (;;) {
      if (this.#closed) throw new Error('The pool is closed');
      use.signal?.throwIfAborted();
      const idle = [...this.#slots].filter((slot) => !slot.busy);
      // One that died while nobody looked gives its place back.
      for (const slot of idle.filter((s) => !s.child.alive)) void this.#retire(slot);
      const living = idle.filter((slot) => slot.child.alive);
      const open = living.find((slot) => slot.owner === use.owner && slot.key === use.key);
      if (open !== undefined) return this.#occupy(open);
      const left = patience - performance.now();
      if (this.#slots.size - idle.length + this.#starting >= enough && left > 0) {
        await this.#wait(use.signal, left);
        continue;
      }
      const own = use.descriptors === undefined ? living.find((slot) => slot.owner === use.owner) : undefined;
      if (own !== undefined) return this.#occupy(own);
      if (this.#slots.size + this.#starting < size) return await this.#begin(use);
      const other = living[0];
      if (other !== undefined) {
        // Counted as starting meanwhile, so that nobody takes the place that becomes free.
        this.#slots.delete(other);
        void this.#retire(other);
        return await this.#begin(use);
      }
      await this.#wait(use.signal);
    }
  }

  #occupy(slot: Slot): Slot {
    slot.busy = true;
    clearTimeout(slot.idleTimer);
    if (this.#options.spare?.quietMs !== 0) this.#spare?.hold();
    return slot;
  }

  async #begin(use: Use): Promise<Slot> {
    this.#starting += 1;
    try {
      const child = use.descriptors === undefined ? await this.#startOrTakeSpare() : await this.#options.start(use.descriptors());
      const slot: Slot = { child, owner: use.owner, key: randomUUID(), busy: true, idleTimer: undefined };
      this.#slots.add(slot);
      return slot;
    } catch (error) {
      this.#wakeNext();
      throw error;
    } finally {
      this.#starting -= 1;
    }
  }

  async #startOrTakeSpare(): Promise<Child> {
    this.#spare?.hold();
    const child = (await this.#spare?.take()) ?? (await this.#options.start());
    if (this.#options.spare?.quietMs === 0) this.#spare?.refill();
    return child;
  }

  #release(slot: Slot): void {
    slot.busy = false;
    const { maxServed, keepBelowBytes, idleMs } = this.#options;
    const tired = !slot.child.alive || slot.child.served >= maxServed || slot.child.peakBytes > keepBelowBytes;
    if (tired || this.#closed) {
      this.#slots.delete(slot);
      void this.#retire(slot);
    } else {
      slot.idleTimer = setTimeout(() => {
        this.#slots.delete(slot);
        void this.#retire(slot);
      }, idleMs);
      slot.idleTimer.unref();
    }
    if (this.#starting === 0 && [...this.#slots].every((each) => !each.busy)) this.#spare?.refill();
    this.#wakeNext();
  }

  async #retire(slot: Slot): Promise<void> {
    clearTimeout(slot.idleTimer);
    this.#slots.delete(slot);
    await slot.child.stop();
  }

  /** Until a child may have become free, or for `mostMs`. */
  #wait(signal: AbortSignal | undefined, mostMs?: number): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
        this.#queue = this.#queue.filter((other) => other !== wake);
      };
      const wake = (): void => {
        leave();
        resolve();
      };
      const onAbort = (): void => {
        leave();
        reject(signal!.reason as Error);
      };
      const timer = mostMs === undefined ? undefined : setTimeout(wake, mostMs);
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#queue.push(wake);
    });
  }

  #wakeNext(): void {
    this.#queue.shift()?.();
  }
}
