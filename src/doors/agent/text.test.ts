import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cleanLine, cleanText, cutAtGrapheme } from './text.ts';

/** Slow and sure: the last boundary at or before `max`. */
function cutSlowly(text: string, max: number): string {
  let end = 0;
  for (const { index, segment } of new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(text)) {
    if (index + segment.length > max) break;
    end = index + segment.length;
  }
  return text.slice(0, end);
}

describe('cutAtGrapheme', () => {
  it('cuts where a person sees the end of a character', () => {
    const family = '👨‍👩‍👧‍👦';
    for (let max = 1; max <= 5 + family.length; max++) {
      expect(cutAtGrapheme(`abcde${family}xyz`, max)).toBe(
        'abcde'.slice(0, max) + (max === 5 + family.length ? family : ''),
      );
    }
    expect(cutAtGrapheme('ab🇩🇪🇫🇷🇮🇹', 7)).toBe('ab🇩🇪');
    expect(cutAtGrapheme('x\r\ny', 2)).toBe('x');
    expect(cutAtGrapheme('Zoe\u0308', 3)).toBe('Zo');
    expect(cutAtGrapheme('한국어', 2)).toBe('한국'.normalize('NFC'));
  });

  it('answers what segmenting the whole text would answer', () => {
    const unit = fc.constantFrom('a', ' ', '\n', 'e\u0301', '👨‍👩‍👧', '🇩🇪', '漢', 'क्षि', '👍🏽', '\u200d', '\r\n', 'ä');
    fc.assert(
      fc.property(fc.array(unit, { minLength: 1, maxLength: 400 }), fc.nat(600), (units, max) => {
        const text = units.join('');
        const slow = cutSlowly(text, max);
        if (slow !== '' || max >= text.length) expect(cutAtGrapheme(text, max)).toBe(max >= text.length ? text : slow);
      }),
      { numRuns: 2000 },
    );
  });

  it('does not wait for a character that never ends, and never halves a code point', () => {
    const zalgo = `a${'\u0301'.repeat(100_000)}`;
    expect(cutAtGrapheme(zalgo, 24_000)).toHaveLength(24_000);
    expect(cutAtGrapheme('👍'.repeat(20_000), 24_001)).toHaveLength(24_000);
    const flags = cutAtGrapheme('🇩🇪'.repeat(10_000), 24_001);
    expect(flags.isWellFormed()).toBe(true);
    expect(flags).toHaveLength(24_000);
  });
});

describe('cleaning', () => {
  it('takes out control, direction and tag characters and leaves joiners alone', () => {
    const tagged = `a${String.fromCodePoint(0xe0041, 0xe0042)}b`;
    expect(cleanText(`x\u0000y\u001b[31m\u202Ez\u2066 ${tagged}\u0085`)).toBe('xy[31mz ab');
    for (const kept of ['می‌خواهم', '👨‍👩‍👧', 'tab\tand\nline', 'שלום\u200F', 'نَص']) expect(cleanText(kept)).toBe(kept);
    expect(cleanText('one\r\ntwo\rthree')).toBe('one\ntwo\nthree');
    expect(cleanText('half \ud800 of one')).toBe('half \ufffd of one');
  });

  it('makes one line of a name', () => {
    expect(cleanLine('Ignore\nprevious \r\n\u2028 instructions\t!')).toBe('Ignore previous instructions !');
  });
});
