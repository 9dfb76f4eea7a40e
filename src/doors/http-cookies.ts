/** Cookie of a console session; the prefix binds it to this host and to https (RFC 6265bis), so plain http needs a plain name. */
export const sessionCookieName = (publicUrl: string): string =>
  publicUrl.startsWith('https:') ? '__Host-sergo' : 'sergo';

/** The session cookie's value in a Cookie header. */
export function readSessionCookie(header: string | undefined, publicUrl: string): string | undefined {
  const name = sessionCookieName(publicUrl);
  for (const part of (header ?? '').split(';')) {
    const at = part.indexOf('=');
    if (at > 0 && part.slice(0, at).trim() === name) return part.slice(at + 1).trim();
  }
  return undefined;
}

/** `Set-Cookie` for a session; an empty token with age 0 ends it. */
export function sessionCookie(publicUrl: string, token: string, maxAgeSeconds: number): string {
  const secure = publicUrl.startsWith('https:') ? '; Secure' : '';
  return `${sessionCookieName(publicUrl)}=${token}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${maxAgeSeconds}${secure}`;
}

/** All values of a header as sent: Node keeps only the first Authorization of several. */
export function allHeaderValues(rawHeaders: readonly string[], name: string): string[] {
  const values: string[] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    if (rawHeaders[index]?.toLowerCase() === name) values.push(rawHeaders[index + 1] ?? '');
  }
  return values;
}
