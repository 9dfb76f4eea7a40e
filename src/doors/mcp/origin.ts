import { AppError } from '../../errors.ts';

/** Who may talk to a door from where: settings, derived from the public URL by the composition root. */
export interface OriginPolicy {
  /** Host names (no port) under which this server is reached; a request for another one is DNS rebinding. */
  allowedHosts: readonly string[];
  /** Origins (`https://console.example.com`) whose pages may call, besides the server's own. */
  allowedOrigins: readonly string[];
}

/** What a browser may send and see; `Authorization` is never covered by `*`. */
const CORS_REQUEST_HEADERS =
  'Authorization, X-Api-Key, Content-Type, Accept, Mcp-Session-Id, Mcp-Protocol-Version, Mcp-Method, Mcp-Name, X-Sergo-End-User';
const CORS_EXPOSED_HEADERS = 'Mcp-Session-Id, WWW-Authenticate';

/** Throws AppError when the `Host` is missing (400) or none of ours (403). */
export function checkHost(host: string | undefined, policy: OriginPolicy): void {
  const name = readHostName(host);
  if (name === null)
    throw new AppError('bad_request', 'The Host header is missing or malformed — send the host name of this server');
  if (!policy.allowedHosts.includes(name))
    throw new AppError('forbidden', 'This host name is not one of this server — an administrator can allow it');
}

/**
 * True when a page of this origin may call. No `Origin` means no browser. A page that this server itself delivered has the
 * same authority as the (checked) `Host`; every other one must be listed.
 */
export function isAllowedOrigin(origin: string, host: string | undefined, policy: OriginPolicy): boolean {
  if (policy.allowedOrigins.includes(origin)) return true;
  const authority = /^https?:\/\/([^/]+)$/i.exec(origin)?.[1];
  return authority !== undefined && host !== undefined && authority.toLowerCase() === host.toLowerCase();
}

export function checkOrigin(origin: string | undefined, host: string | undefined, policy: OriginPolicy): void {
  if (origin === undefined || isAllowedOrigin(origin, host, policy)) return;
  throw new AppError('forbidden', 'This origin may not call here — an administrator can allow it');
}

/** Headers that let an allowed page read any answer, errors included. */
export function corsHeaders(origin: string): Record<string, string> {
  return {
    'access-control-allow-origin': origin,
    'access-control-expose-headers': CORS_EXPOSED_HEADERS,
    vary: 'Origin',
  };
}

export function preflightHeaders(methods: string): Record<string, string> {
  return {
    'access-control-allow-methods': methods,
    'access-control-allow-headers': CORS_REQUEST_HEADERS,
    'access-control-max-age': '600',
  };
}

function readHostName(host: string | undefined): string | null {
  const parts = host === undefined ? null : /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/i.exec(host);
  return parts ? parts[1]!.toLowerCase() : null;
}
