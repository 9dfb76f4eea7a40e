import type { FastifyRequest } from 'fastify';
import { AppError } from '../errors.ts';
import type { HostRules } from './http-hosts.ts';

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);
/** A page of another site cannot send this header without a preflight, which is answered for listed origins only. */
const OWN_PAGE_HEADER = 'x-sergo-request';

const refuse = (): AppError =>
  new AppError('forbidden', 'This request came from a page of another site — use the console at its own address');

/**
 * A call must not come from another site's page (P24). What changes something needs its own page, whoever asks; with a session
 * cookie reads do too, but for following a link. With the cookie a change also has to be one that a plain form cannot send: a JSON
 * body, or the header X-Sergo-Request.
 */
export function checkSameOrigin(request: FastifyRequest, rules: HostRules, withCookie: boolean): void {
  const { origin, host } = request.headers;
  const site = request.headers['sec-fetch-site'];
  const isElsewhere = site !== undefined && site !== 'same-origin' && site !== 'none';
  if (SAFE_METHODS.has(request.method)) {
    const isLink = request.headers['sec-fetch-mode'] === 'navigate' && request.headers['sec-fetch-dest'] === 'document';
    if (withCookie && isElsewhere && !isLink) throw refuse();
    return;
  }
  // Pages the operator listed come with a key of their own, never with the cookie.
  if (!withCookie && origin !== undefined && rules.allowedOrigin(origin)) return;
  if (origin !== undefined && !rules.sameOrigin(origin, host)) throw refuse();
  if (isElsewhere) throw refuse();
  if (!withCookie) return;
  if (origin === undefined && site !== 'same-origin') throw refuse();
  const type = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/json' && request.headers[OWN_PAGE_HEADER] === undefined) {
    throw new AppError('forbidden', 'With a session cookie send JSON, or add the header X-Sergo-Request: 1');
  }
}
