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

/**
 * The headers that decide something, one value each, by lower-case name. Node keeps only the first of some doubles and
 * joins others, so the raw list is read. Throws AppError `bad_request` (400) for a double and for two credentials.
 */
export function readHeaders(raw: readonly string[]): Map<string, string> {
  const headers = new Map<string, string>();
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at]!.toLowerCase();
    if (!SINGLE.has(name)) continue;
    if (headers.has(name)) throw new AppError('bad_request', `The header ${name} came more than once — send it once`);
    headers.set(name, raw[at + 1]!);
  }
  if (headers.has('authorization') && headers.has('x-api-key')) {
    throw new AppError('bad_request', 'Two credentials at once — send the key in the Authorization header only');
  }
  return headers;
}
