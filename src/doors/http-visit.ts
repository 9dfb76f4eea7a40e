import proxyAddr from '@fastify/proxy-addr';
import type { FastifyBaseLogger } from 'fastify';
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { AppError } from '../errors.ts';
import type { HostRules } from './http-hosts.ts';

/**
 * One request that a door answers itself, past fastify: its hooks and objects take a seventh of a small call. What holds for every
 * request (id, headers, checks, the address behind trusted proxies) is made here, for fastify's hooks and for such a door alike.
 */
export interface Visit {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly id: string;
  /** Of whoever asks, as far as the proxies between are trusted. */
  readonly remoteAddress: string;
  /** Headers of the answer, as set so far. */
  readonly headers: OutgoingHttpHeaders;
}

export interface VisitRules {
  /** Headers that every answer carries. */
  headers: Readonly<Record<string, string>>;
  /** Addresses or CIDR of proxies whose X-Forwarded-For is believed. */
  trustProxy: readonly string[];
  /** True once the server is told to stop. */
  isDraining(): boolean;
}

/** Opens visits under these rules. */
export function createVisits(rules: VisitRules): (request: IncomingMessage, response: ServerResponse) => Visit {
  const trusted = rules.trustProxy.length === 0 ? null : proxyAddr.compile([...rules.trustProxy]);
  return (request, response) => {
    const id = requestIdOf(request);
    const headers: OutgoingHttpHeaders = { ...rules.headers, 'x-request-id': id };
    if (rules.isDraining()) headers.connection = 'close';
    const remoteAddress = trusted === null ? request.socket.remoteAddress : proxyAddr(request, trusted);
    return { request, response, id, remoteAddress: remoteAddress ?? '', headers };
  };
}

/** For an endpoint that stands alone: no headers but its own, no proxies. */
export const plainVisit = createVisits({ headers: {}, trustProxy: [], isDraining: () => false });

/** An id from outside is kept only when it cannot break a log line or a header. */
export function requestIdOf(request: IncomingMessage): string {
  const sent = request.headers['x-request-id'];
  return typeof sent === 'string' && /^[A-Za-z0-9-]{1,64}$/.test(sent) ? sent : randomUUID();
}

/** What Node's parser lets through and we do not (trust.md section 3). */
export function checkRequest(request: IncomingMessage, hosts: HostRules): void {
  if (request.method === 'TRACE') throw new AppError('method_not_allowed', 'TRACE is not served here');
  if (!request.url?.startsWith('/'))
    throw new AppError('bad_request', 'Send the path alone in the request line, without scheme and host');
  let hostHeaders = 0;
  const { rawHeaders } = request;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    if (name.length === 4 && name.toLowerCase() === 'host') hostHeaders += 1;
  }
  if (hostHeaders !== 1) throw new AppError('bad_request', 'Send exactly one Host header');
  if (!hosts.allows(request.headers.host ?? '', request.socket.localAddress)) {
    throw new AppError('forbidden', 'This server does not answer to that host name — use its public address');
  }
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity')
    throw new AppError('wrong_type', 'Send the body as it is, without Content-Encoding');
}

/** One line of log for an answered request: what went well is in the audit log and the metrics, so it is written at `debug` only. */
export function logAnswer(log: FastifyBaseLogger, answer: { method: string; route: string; status: number; ms: number }): void {
  // The template, never the address: queries and ids stay out of the log.
  log[answer.status < 400 ? 'debug' : 'info']({ ...answer, ms: Math.round(answer.ms) }, 'request');
}
