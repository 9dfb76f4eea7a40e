import type { IncomingMessage } from 'node:http';
import { AppError } from '../../errors.ts';

/** Headers that decide something: sent twice, two readers could take different ones (trust.md 5.4). */
const SINGLE: ReadonlySet<string> = new Set([
  'authorization',
  'x-api-key',
  'host',
  'origin',
  'content-type',
  'content-encoding',
  'mcp-protocol-version',
  'mcp-method',
  'mcp-name',
  'mcp-session-id',
  'x-sergo-end-user',
  'x-insight-end-user',
]);

/** One value of a header by its lower-case name. */
export type HeaderOf = (name: string) => string | undefined;

/**
 * The headers that decide something, one value each. Node keeps only the first of some doubles and joins others, so wherever it has
 * fewer names than were sent the raw list is read. Throws AppError `bad_request` (400) for a double and for two credentials.
 */
export function readHeaders({ headers, rawHeaders }: Pick<IncomingMessage, 'headers' | 'rawHeaders'>): HeaderOf {
  let names = 0;
  for (const _name in headers) names += 1;
  const header: HeaderOf = names * 2 === rawHeaders.length ? (name) => headers[name] as string | undefined : readRaw(rawHeaders);
  if (header('authorization') !== undefined && header('x-api-key') !== undefined) {
    throw new AppError('bad_request', 'Two credentials at once — send the key in the Authorization header only');
  }
  return header;
}

function readRaw(raw: readonly string[]): HeaderOf {
  const found = new Map<string, string>();
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at]!.toLowerCase();
    if (!SINGLE.has(name)) continue;
    if (found.has(name)) throw new AppError('bad_request', `The header ${name} came more than once — send it once`);
    found.set(name, raw[at + 1]!);
  }
  return (name) => found.get(name);
}
