import type { RandomBytes } from '../clock.ts';

export const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Uniform base62 text: bytes of 248 and more are thrown away, so that no digit is likelier than another. */
export function randomBase62(length: number, random: RandomBytes): string {
  let text = '';
  while (text.length < length) {
    for (const byte of random(length - text.length + 8)) {
      if (byte < 248 && text.length < length) text += base62[byte % 62];
    }
  }
  return text;
}

/** A public id (DESIGN.md section 1): 8 characters, never a secret. */
export const newId = (random: RandomBytes): string => randomBase62(8, random);
