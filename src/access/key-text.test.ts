import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { Storage } from '../storage/ports.ts';
import { authenticateForAgentDoor } from './authentication.ts';
import type { AccessDeps } from './deps.ts';
import { makeKeyText, maskKey, readKeyText } from './key-text.ts';
import { base62, randomBase62 } from './random-text.ts';

const vector = 'sgk_s_0123456789ABCDEFGHIJKLMNOPQRSTUV2wNGkN';

/** A storage that fails the test when anything is asked of it. */
const untouchable = new Proxy({}, { get: (_target, name) => { throw new Error(`storage.${String(name)} was asked`); } }) as Storage;
const deps = { storage: untouchable, audit: untouchable, clock: { now: () => 0 }, random: randomBytes } as unknown as AccessDeps;

const refusal = (text: string): Promise<unknown> =>
  authenticateForAgentDoor(deps, { authorization: `Bearer ${text}` }, { requestId: 'r' }).then(() => null, (error: unknown) => error);

describe('key text', () => {
  test('agrees with the published vector and knows its kinds', () => {
    expect(readKeyText(vector)).toBe('agent');
    expect(maskKey(vector)).toBe('sgk_s_…NGkN');
    for (const kind of ['agent', 'personal', 'external'] as const) {
      const text = makeKeyText(kind, randomBytes);
      expect(text).toMatch(/^sgk_[spx]_[0-9A-Za-z]{38}$/);
      expect(readKeyText(text)).toBe(kind);
    }
  });

  test('every edit of one character, truncation and swap of neighbours is refused without a look into storage (P18)', async () => {
    const edits = new Set<string>();
    for (let at = 0; at < vector.length; at += 1) {
      for (const character of base62) edits.add(vector.slice(0, at) + character + vector.slice(at + 1));
      edits.add(vector.slice(0, at));
      edits.add(vector.slice(at + 1));
      edits.add(vector.slice(0, at) + vector.slice(at + 1));
      edits.add(vector.slice(0, at) + 'ѕ' + vector.slice(at + 1));
      const [a, b] = [vector[at], vector[at + 1] ?? ''];
      edits.add(vector.slice(0, at) + b + a + vector.slice(at + 2));
      edits.add(`${vector.slice(0, at)} ${vector.slice(at)}`);
    }
    edits.delete(vector);
    edits.delete('');
    edits.delete(` ${vector}`);
    expect(edits.size).toBeGreaterThan(44 * 61);
    for (const edit of edits) {
      expect(readKeyText(edit)).toBeNull();
      const error = (await refusal(edit)) as { code: string; message: string };
      // Two edits of the prefix only: the checksum covers it, so that one kind never turns into another.
      expect(error, edit).toMatchObject({
        code: 'bad_key',
        message: "Malformed key — the prefix or checksum doesn't match, so check the value wasn't truncated when copied",
      });
    }
  });

  test('digits are equally likely', () => {
    const counts = new Map<string, number>();
    const length = 62 * 2_000;
    for (const digit of randomBase62(length, randomBytes)) counts.set(digit, (counts.get(digit) ?? 0) + 1);
    expect(counts.size).toBe(62);
    // Eight standard deviations: fails for `byte % 62` without rejection (the first digits come 25 % more often).
    for (const count of counts.values()) expect(Math.abs(count - 2_000)).toBeLessThan(8 * Math.sqrt(2_000));
  });
});
