import { AppError } from '../../errors.ts';
import type { HostRules } from '../http-hosts.ts';

/** What a browser may send and see; `Authorization` is never covered by `*`. */
const REQUEST_HEADERS =
  'Authorization, X-Api-Key, Content-Type, Accept, Mcp-Session-Id, Mcp-Protocol-Version, Mcp-Method, Mcp-Name, X-Sergo-End-User';
const EXPOSED_HEADERS = 'Mcp-Session-Id, WWW-Authenticate';

/**
 * Refuses requests for another host name (DNS rebinding) and from pages that may not call. No `Origin` means no browser; a
 * page of this server's own may, every other one must be listed. Throws AppError `bad_request` (400) and `forbidden` (403).
 */
export function checkOrigin(
  hosts: HostRules,
  asked: { host: string | undefined; origin: string | undefined; localAddress: string | undefined },
): void {
  const { host, origin, localAddress } = asked;
  if (host === undefined || host === '')
    throw new AppError('bad_request', 'Send the host name of this server in the Host header');
  if (!hosts.allows(host, localAddress))
    throw new AppError('forbidden', 'This server does not answer to that host name — use its public address');
  if (origin === undefined || hosts.sameOrigin(origin, host) || hosts.allowedOrigin(origin)) return;
  throw new AppError('forbidden', 'Pages of this origin may not call here — an administrator can allow it');
}

/** Headers that let an allowed page read any answer, errors included. */
export function corsHeaders(origin: string): Record<string, string> {
  return { 'access-control-allow-origin': origin, 'access-control-expose-headers': EXPOSED_HEADERS, vary: 'Origin' };
}

export function preflightHeaders(methods: string): Record<string, string> {
  return {
    'access-control-allow-methods': methods,
    'access-control-allow-headers': REQUEST_HEADERS,
    'access-control-max-age': '600',
  };
}
