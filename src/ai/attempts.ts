/** Calls to model endpoints: at most four attempts, with growing, jittered pauses (trust.md P8), and a rest after failures. */
import { setTimeout as sleep } from 'node:timers/promises';
import { ProviderError } from './provider-error.ts';

export interface AttemptDeps {
  /** 0 up to 1. */
  random(): number;
  /** Milliseconds on a clock that only goes forward. */
  now(): number;
  wait(ms: number, signal?: AbortSignal): Promise<void>;
}

export const attemptDeps: AttemptDeps = {
  random: () => Math.random(),
  now: () => performance.now(),
  wait: async (ms, signal) => {
    await sleep(ms, undefined, signal ? { signal } : {});
  },
};

export const MOST_ATTEMPTS = 4;
const FIRST_PAUSE_MS = 400;
const LONGEST_PAUSE_MS = 30_000;

export interface AttemptOptions {
  /** Wall time over all attempts and pauses. A pause that does not fit into it is not begun. */
  budgetMs: number;
  signal?: AbortSignal | undefined;
}

/**
 * Runs `attempt` until it succeeds, throws something that is not repeatable, or four attempts or the budget are used up;
 * then throws the last error. An abort of the caller ends it at once with the signal's reason.
 */
export async function withAttempts<T>(
  deps: AttemptDeps,
  options: AttemptOptions,
  attempt: (leftMs: number) => Promise<T>,
): Promise<T> {
  const start = deps.now();
  for (let count = 1; ; count++) {
    options.signal?.throwIfAborted();
    try {
      return await attempt(options.budgetMs - (deps.now() - start));
    } catch (error) {
      options.signal?.throwIfAborted();
      if (!(error instanceof ProviderError) || !error.isRepeatable || count >= MOST_ATTEMPTS) throw error;
      const grown = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (count - 1));
      // Never sooner than the endpoint asked for; the jitter keeps many callers from coming back together.
      const pauseMs = Math.max(error.retryAfterMs ?? 0, grown * 0.5) + grown * 0.5 * deps.random();
      if (deps.now() - start + pauseMs >= options.budgetMs) throw error;
      await deps.wait(pauseMs, options.signal);
    }
  }
}

const FAILURES_TO_REST = 3;
const REST_MS = 30_000;

/** After three calls in a row that failed, an endpoint is left alone for half a minute; then one call tries it. */
export class Circuit {
  private readonly now: () => number;
  private readonly name: string;
  private failures = 0;
  private restingUntil = 0;
  private trying = false;

  constructor(name: string, now: () => number) {
    this.name = name;
    this.now = now;
  }

  get isResting(): boolean {
    return this.failures >= FAILURES_TO_REST && (this.trying || this.now() < this.restingUntil);
  }

  /** Throws ProviderError `resting` without calling while the endpoint is left alone. */
  async run<T>(call: () => Promise<T>): Promise<T> {
    if (this.isResting) throw new ProviderError('resting', `${this.name} failed several times and is left alone for a moment`);
    const isTrial = this.failures >= FAILURES_TO_REST;
    if (isTrial) this.trying = true;
    try {
      const result = await call();
      this.failures = 0;
      return result;
    } catch (error) {
      // A caller that went away says nothing about the endpoint; a text that was refused says that somebody reads there.
      if (error instanceof ProviderError && error.trouble === 'unfit') this.failures = 0;
      else if (error instanceof ProviderError) {
        this.failures++;
        this.restingUntil = this.now() + REST_MS;
      }
      throw error;
    } finally {
      if (isTrial) this.trying = false;
    }
  }
}
