import { describe, expect, it } from 'vitest';
import { AppError } from '../errors.ts';
import { createRateLimits } from './http-limits.ts';

const bad = new AppError('bad_key', 'No');

function makeLimits() {
  let now = 1_000_000;
  const limits = createRateLimits({ callsPerMinute: 60, badCredentialsPerMinute: 10 }, { now: () => now });
  return { limits, wait: (ms: number) => (now += ms) };
}

describe('rate limits', () => {
  it('lets a key make its calls, then asks it to wait, and others go on', () => {
    const { limits, wait } = makeLimits();
    for (let call = 0; call < 60; call++) limits.takeCall('a');
    expect(() => limits.takeCall('a')).toThrow(expect.objectContaining({ code: 'rate_limited', retryAfterSeconds: 1 }));
    limits.takeCall('b');
    wait(1_000);
    limits.takeCall('a');
    expect(() => limits.takeCall('a')).toThrow();
  });

  it('answers the eleventh wrong key of a minute with a wait', () => {
    const { limits, wait } = makeLimits();
    for (let call = 0; call < 10; call++) expect(limits.badCredential('10.0.0.1', bad)).toBe(bad);
    expect(limits.badCredential('10.0.0.1', bad)).toMatchObject({ code: 'rate_limited', retryAfterSeconds: 6 });
    expect(limits.badCredential('10.0.0.2', bad)).toBe(bad);
    expect(limits.heldUp('10.0.0.1')).toMatchObject({ code: 'rate_limited', retryAfterSeconds: 6 });
    expect(limits.heldUp('10.0.0.2')).toBe(null);
    wait(6_000);
    expect(limits.heldUp('10.0.0.1')).toBe(null);
    expect(limits.badCredential('10.0.0.1', bad)).toBe(bad);
  });

  it('slows guesses at one account without locking its owner out', () => {
    const { limits } = makeLimits();
    for (let call = 0; call < 10; call++) {
      limits.checkLogin('ava@example.com', '10.0.0.1');
      limits.countBadLogin('ava@example.com', '10.0.0.1');
    }
    expect(() => limits.checkLogin('ava@example.com', '10.0.0.1')).toThrow(
      expect.objectContaining({ code: 'rate_limited' }),
    );
    expect(() => limits.checkLogin('ava@example.com', '10.0.0.2')).not.toThrow();
  });

  it('gives no calls away when the clock goes back', () => {
    const { limits, wait } = makeLimits();
    for (let call = 0; call < 60; call++) limits.takeCall('a');
    wait(-3_600_000);
    expect(() => limits.takeCall('a')).toThrow();
  });
});
