import { isIP } from 'node:net';

/** What a request must look like before any route sees it: which names this server answers to (DNS rebinding, trust.md 1.2). */
export interface HostRules {
  /** True when the value of a Host header names this server; `localAddress` is the socket's own end. */
  allows(host: string, localAddress: string | undefined): boolean;
  /** True when the Origin is this server's own: the public URL, or the very host that was asked. */
  sameOrigin(origin: string, host: string | undefined): boolean;
  /** True for the pages that the operator lets call this server (SERGO_ALLOWED_ORIGINS); never with a cookie. */
  allowedOrigin(origin: string): boolean;
}

const LOOPBACK = new Set(['localhost', '127.0.0.1', '::1']);

/** `publicUrl` and the bound `host` are always allowed, as are loopback names and the socket's own address. */
export function createHostRules(options: {
  publicUrl: string;
  host: string;
  allowedOrigins?: readonly string[];
}): HostRules {
  const publicOrigin = new URL(options.publicUrl).origin;
  const names = new Set([...LOOPBACK, bare(new URL(options.publicUrl).hostname), bare(options.host)]);
  /** The Host that was last found to be one of our names: nearly every request sends the same one. */
  let knownHost: string | null = null;
  return {
    allows(host, localAddress) {
      if (host === knownHost) return true;
      const name = hostName(host);
      if (name === null) return false;
      if (names.has(name)) {
        knownHost = host;
        return true;
      }
      // A page that rebinds a name sends the name; only somebody who asked for this very address sends the address.
      return localAddress !== undefined && isIP(name) !== 0 && name === bare(localAddress.replace(/^::ffff:/, ''));
    },
    sameOrigin(origin, host) {
      if (origin === publicOrigin) return true;
      if (host === undefined || !URL.canParse(origin)) return false;
      const url = new URL(origin);
      if (url.protocol !== 'http:' && url.protocol !== 'https:') return false;
      const asked = `${url.protocol}//${host}`;
      return URL.canParse(asked) && new URL(asked).host === url.host;
    },
    allowedOrigin: (origin) => options.allowedOrigins?.includes(origin) ?? false,
  };
}

/** The name in `name`, `name:port`, `[v6]:port`; null when it is none of these. */
function hostName(host: string): string | null {
  const match = /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::\d{1,5})?$/.exec(host);
  return match?.[1] === undefined ? null : bare(match[1]);
}

function bare(name: string): string {
  return name
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '');
}
