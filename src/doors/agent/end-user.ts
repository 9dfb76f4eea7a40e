import { isUtf8 } from 'node:buffer';
import { cutAtGrapheme } from './text.ts';

/** Characters of `X-Sergo-End-User` that are kept (trust.md P15). */
export const MAX_END_USER_LENGTH = 256;

/**
 * The person an agent says it acts for, as it goes into the audit log: cut, control and direction characters escaped, so
 * that one entry stays one line. A claim, never a right. Null when the header is absent or empty.
 */
export function readEndUser(header: string | undefined): string | null {
  if (header === undefined) return null;
  const name = cutAtGrapheme(decodeHeader(header).trim(), MAX_END_USER_LENGTH);
  if (name === '') return null;
  return name.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`);
}

/** Node hands header bytes over as Latin-1; clients send names as UTF-8. */
function decodeHeader(value: string): string {
  const bytes = Buffer.from(value, 'latin1');
  return bytes.toString('latin1') === value && isUtf8(bytes) ? bytes.toString('utf8') : value;
}
