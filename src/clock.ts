/** What a service may not take from the air: time and randomness come in through `deps`, so that tests can hold them. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/** Cryptographically strong bytes. */
export type RandomBytes = (count: number) => Uint8Array;
