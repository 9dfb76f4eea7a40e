import { AppError } from '../errors.ts';
import type { KeyKind } from '../storage/ports.ts';
import { readKeyText } from './key-text.ts';
import { isLoginToken } from './login-token.ts';

/** The raw header values of one request, untouched; the only credential parser is behind this (CVE-2026-45339). */
export interface Credentials {
  authorization?: string | string[] | undefined;
  xApiKey?: string | string[] | undefined;
  /** The value of the session cookie, already taken out of the Cookie header by the door. */
  cookie?: string | undefined;
}

/** What was sent, by its form alone: no database is asked. */
export type Credential =
  | { kind: 'none' }
  | { kind: 'malformed' }
  | { kind: 'login'; text: string; fromCookie: boolean }
  | { kind: 'key'; of: KeyKind; text: string };

/** AppError bad_request when two credentials came that differ (trust.md 5.4). A cookie counts only when no header carries one. */
export function readCredential(credentials: Credentials): Credential {
  if (typeof credentials.authorization === 'string' && credentials.xApiKey === undefined) {
    // What nearly every call sends: one header that nothing can differ from.
    const text = bearerOf(credentials.authorization.trim());
    if (text !== null) return formOf(text);
  }
  const sent = [...valuesOf(credentials.authorization).map(bearerOf), ...valuesOf(credentials.xApiKey)].filter((value) => value !== null);
  const different = new Set(sent);
  if (different.size > 1) throw new AppError('bad_request', 'Two different credentials — send one, in the Authorization header');
  const [text] = different;
  if (text !== undefined) return formOf(text);
  const cookie = credentials.cookie?.trim();
  // A cookie carries login tokens only: a key in one is a mistake, not a second way in.
  return cookie !== undefined && isLoginToken(cookie) ? { kind: 'login', text: cookie, fromCookie: true } : { kind: 'none' };
}

function formOf(text: string): Credential {
  if (isLoginToken(text)) return { kind: 'login', text, fromCookie: false };
  const of = readKeyText(text);
  return of === null ? { kind: 'malformed' } : { kind: 'key', of, text };
}

function valuesOf(header: string | string[] | undefined): string[] {
  const values = header === undefined ? [] : Array.isArray(header) ? header : [header];
  return values.map((value) => value.trim()).filter((value) => value !== '');
}

/** RFC 9110: the scheme is case-insensitive. Another scheme is no credential that Sergo knows. */
function bearerOf(value: string): string | null {
  const match = /^bearer(?:[ \t](.*))?$/is.exec(value);
  const token = match?.[1]?.trim();
  return token === undefined || token === '' ? null : token;
}
