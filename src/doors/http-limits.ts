import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';

/** Counters that forget after a minute. Kept in memory only: a restart forgives (P30: limits are forgotten by a restart). */
export interface RateLimits {
  /** Counts one call of this key or user; AppError `rate_limited` with Retry-After when it is one too many. */
  takeCall(actorId: string): void;
  /**
   * Counts one bad credential of this address and answers what to throw: `error` itself, or `rate_limited` when it was one too
   * many within a minute (P19). Good credentials from the same address are never held up by it.
   */
  badCredential(ip: string, error: AppError): AppError;
  /** What to answer an address that has sent too many bad credentials, before one that nobody knows is even looked up; else null. */
  heldUp(ip: string): AppError | null;
  /** Refuses a sign-in before its costly hash when this address, or this address for this account, failed too often. */
  checkLogin(email: string, ip: string): void;
  countBadLogin(email: string, ip: string): void;
}

export interface RateLimitSettings {
  callsPerMinute: number;
  badCredentialsPerMinute: number;
}

const WINDOW_MS = 60_000;
/** Bounded: an attacker with many addresses evicts the oldest counters, not the server. */
const MAX_COUNTERS = 20_000;

export function createRateLimits(settings: RateLimitSettings, clock: Clock): RateLimits {
  const calls = createBuckets(settings.callsPerMinute, clock);
  const addresses = createBuckets(settings.badCredentialsPerMinute, clock);
  const logins = createBuckets(settings.badCredentialsPerMinute, clock);
  return {
    takeCall(actorId) {
      const wait = calls.take(actorId);
      if (wait > 0)
        throw tooMany(`This key or user made more than ${settings.callsPerMinute} calls within a minute`, wait);
    },
    badCredential(ip, error) {
      const wait = addresses.take(ip);
      return wait === 0 ? error : tooMany('Too many wrong keys or passwords from this address', wait);
    },
    heldUp(ip) {
      const wait = addresses.wait(ip);
      return wait === 0 ? null : tooMany('Too many wrong keys or passwords from this address', wait);
    },
    checkLogin(email, ip) {
      // Per account *and* address: somebody else's guesses must not keep the owner out.
      const wait = Math.max(addresses.wait(ip), logins.wait(`${email} ${ip}`));
      if (wait > 0) throw tooMany('Too many wrong keys or passwords from this address', wait);
    },
    countBadLogin(email, ip) {
      addresses.take(ip);
      logins.take(`${email} ${ip}`);
    },
  };
}

function tooMany(what: string, waitSeconds: number): AppError {
  return new AppError('rate_limited', `${what} — wait ${waitSeconds} seconds and try again`, {
    retryAfterSeconds: waitSeconds,
  });
}

interface Buckets {
  /** Takes one; answers 0, or the seconds to wait when there is none. */
  take(name: string): number;
  /** The same question without taking. */
  wait(name: string): number;
}

/** Token buckets: `perMinute` at once, refilled evenly. */
function createBuckets(perMinute: number, clock: Clock): Buckets {
  const buckets = new Map<string, { tokens: number; at: number }>();
  const refilled = (name: string): { tokens: number; at: number } => {
    const now = clock.now();
    const known = buckets.get(name);
    // A clock that goes back must not take tokens away.
    const earned = known === undefined ? perMinute : (Math.max(0, now - known.at) / WINDOW_MS) * perMinute;
    return { tokens: Math.min(perMinute, (known?.tokens ?? 0) + earned), at: now };
  };
  const secondsUntilOne = (tokens: number): number =>
    tokens >= 1 ? 0 : Math.max(1, Math.ceil(((1 - tokens) * WINDOW_MS) / perMinute / 1000));
  return {
    take(name) {
      const bucket = refilled(name);
      const wait = secondsUntilOne(bucket.tokens);
      if (wait === 0) bucket.tokens -= 1;
      // The oldest goes first, by its last use: which is kept in order only once there are many.
      if (buckets.size > MAX_COUNTERS / 2) buckets.delete(name);
      buckets.set(name, bucket);
      if (buckets.size > MAX_COUNTERS) buckets.delete(buckets.keys().next().value as string);
      return wait;
    },
    wait: (name) => (buckets.has(name) ? secondsUntilOne(refilled(name).tokens) : 0),
  };
}
