import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { RandomBytes } from '../clock.ts';
import type { KeyKind } from '../storage/ports.ts';
import { base62, randomBase62 } from './random-text.ts';

const prefixes: Record<KeyKind, string> = { agent: 'sgk_s_', personal: 'sgk_p_', external: 'sgk_x_' };
const kinds = Object.entries(prefixes).map(([kind, prefix]) => ({ kind: kind as KeyKind, prefix }));
const bodyLength = 32;
const checksumLength = 6;
const keyLength = 6 + bodyLength + checksumLength;

/** A new key: prefix, 32 base62 (190 bits), 6 base62 of the CRC32 over prefix and body (trust.md A4). */
export function makeKeyText(kind: KeyKind, random: RandomBytes): string {
  const start = prefixes[kind] + randomBase62(bodyLength, random);
  return start + checksumOf(start);
}

/** What kind of key this text is by its form alone, or null when prefix, length, alphabet or checksum is wrong. Asks no database. */
export function readKeyText(text: string): KeyKind | null {
  if (text.length !== keyLength) return null;
  const known = kinds.find((one) => text.startsWith(one.prefix));
  if (known === undefined || !/^[0-9A-Za-z]+$/.test(text.slice(known.prefix.length))) return null;
  const start = text.slice(0, -checksumLength);
  return checksumOf(start) === text.slice(-checksumLength) ? known.kind : null;
}

/** What is stored and looked up: SHA-256, hex. 190 random bits need no slow hash. */
export const hashSecret = (text: string): string => hash('sha256', text);

/** What people see of a key: its prefix and its last four characters, such as `sgk_s_…NGkN`. */
export const maskKey = (text: string): string => `${text.slice(0, 6)}…${text.slice(-4)}`;

function checksumOf(start: string): string {
  let rest = crc32(start);
  let digits = '';
  for (let count = 0; count < checksumLength; count += 1) {
    digits = base62[rest % 62] + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}
