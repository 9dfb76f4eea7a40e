import type { FastifyBaseLogger, FastifyInstance, HTTPMethods } from 'fastify';
import type { ServerResponse } from 'node:http';
import { AppError, httpStatusOf } from '../../errors.ts';
import type { HostRules } from '../http-hosts.ts';
import { plainVisit, type Visit } from '../http-visit.ts';
import { checkOrigin, corsHeaders, preflightHeaders } from './cors.ts';
import { CALL_LIMIT_MS, dispatchRequest, negotiateVersion } from './dispatch.ts';
import { EnvelopeError, readMessage, type RpcId, type RpcMessage } from './envelope.ts';
import { readEra, type Era } from './era.ts';
import { readHeaders, type HeaderOf } from './headers.ts';
import { readBody } from './body.ts';
import { INTERNAL_ERROR, INTERNAL_SENTENCE, OUT_OF_SCOPE, OUT_OF_SCOPE_MODERN } from './protocol.ts';
import { RpcError } from './rpc-error.ts';
import { requireSession, SESSION_HEADER } from './session.ts';
import type { DoorRequest, McpDoor } from './types.ts';
import { bytesOf, enclose, toWire, writeObject, type Wire } from './wire-text.ts';

export const MAX_BODY_BYTES = 1024 * 1024;

export interface McpEndpointOptions {
  /** Such as `/mcp`; served with and without a trailing slash, never redirected. */
  path: string;
  /** Which host names and origins are ours: `createHostRules`. */
  hosts: HostRules;
  /**
   * The door for whoever is asking. Throws AppError when nobody may be: it becomes `{"code", "message"}` with its HTTP
   * status before any MCP starts.
   */
  openDoor(request: DoorRequest): Promise<McpDoor>;
  /** Bytes a body may have. Default 1 MiB. */
  maxBodyBytes?: number;
  /** Milliseconds a tool may take. Default 30 s. */
  callLimitMs?: number;
  /** True for a door with sessions, which DELETE ends. */
  sessions?: boolean;
}

const METHODS: HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'];

/**
 * One MCP endpoint: both protocol eras over POST, JSON answers only (mcp.md sections 0 and 1). Order of checks: Host and
 * Origin, CORS, key, method, content type and size, JSON, batch, era, session, dispatch.
 *
 * The request is answered past fastify, see http-visit.ts: body parsers, validation and serializers have nothing to do here. The routes
 * are there for other spellings of the path, for tests that send nothing over a socket, and for whoever lists what is served.
 */
export async function registerMcpEndpoint(app: FastifyInstance, options: McpEndpointOptions): Promise<void> {
  const openVisit = app.hasDecorator('directDoors') ? app.directDoors.openVisit : plainVisit;
  const serving: Serving = { ...options, log: app.log };
  const serve = (visit: Visit, check: () => void): void => serveVisit(visit, check, serving);
  if (app.hasDecorator('directDoors')) app.directDoors.add(options.path, serve);
  await app.register(async (scope) => {
    // Before the hooks of other doors fail a request of this one, their errors are written in this one's shape.
    scope.setErrorHandler((error, request, reply) => {
      reply.hijack();
      sendHttpError(error, openVisit(request.raw, reply.raw), app.log);
    });
    scope.addHook('onRequest', (request, reply, _done) => {
      reply.hijack();
      serve(openVisit(request.raw, reply.raw), () => {});
    });
    for (const url of [options.path, `${options.path}/`]) scope.route({ method: METHODS, url, handler: neverReached });
  });
}

const neverReached = (): never => {
  throw new Error('an MCP request is answered by its hook');
};

type Serving = McpEndpointOptions & { log: FastifyBaseLogger };

/** Answers, whatever happens; a client that has gone gets nothing. */
function serveVisit(visit: Visit, check: () => void, serving: Serving): void {
  try {
    check();
  } catch (error) {
    return sendHttpError(error, visit, serving.log);
  }
  answer(visit, serving).catch((error: unknown) => sendHttpError(error, visit, serving.log));
}

async function answer(visit: Visit, serving: Serving): Promise<void> {
  const { request } = visit;
  const allow = serving.sessions ? 'POST, DELETE, OPTIONS' : 'POST, OPTIONS';
  const header = readHeaders(request);
  const origin = header('origin');
  checkOrigin(serving.hosts, { host: header('host'), origin, localAddress: request.socket.localAddress });
  visit.headers['cache-control'] = 'no-store';
  if (origin !== undefined) Object.assign(visit.headers, corsHeaders(origin));
  if (request.method === 'OPTIONS') {
    Object.assign(visit.headers, { allow, ...preflightHeaders(allow) });
    return send(visit, 204);
  }
  const asking: DoorRequest = { requestId: visit.id, remoteAddress: visit.remoteAddress, connection: request.socket, header };
  const door = await serving.openDoor(asking);
  if (request.method !== 'POST' && !(request.method === 'DELETE' && serving.sessions)) {
    visit.headers.allow = allow;
    throw new AppError('method_not_allowed', 'This address takes POST only — send each JSON-RPC message as one POST');
  }
  if (request.method === 'DELETE') return closeSession(visit, door, asking);
  checkContentType(header);
  const body = await readBody(request, serving.maxBodyBytes ?? MAX_BODY_BYTES);
  await answerMessage(body, { visit, door, asking, serving });
}

function checkContentType(header: HeaderOf): void {
  const type = header('content-type') ?? '';
  if (type !== 'application/json' && !/^application\/json[ \t]*(?:;[ \t]*charset="?utf-8"?[ \t]*)?(?:;[ \t]*)?$/i.test(type)) {
    throw new AppError('wrong_type', 'Send the message as Content-Type: application/json (UTF-8)');
  }
  const encoding = header('content-encoding');
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw new AppError('wrong_type', 'Send the message without Content-Encoding');
  }
}

interface Asked {
  visit: Visit;
  door: McpDoor;
  asking: DoorRequest;
  serving: Serving;
}

async function answerMessage(body: Buffer, { visit, door, asking, serving }: Asked): Promise<void> {
  let message: RpcMessage;
  try {
    message = readMessage(body);
  } catch (error) {
    if (error instanceof EnvelopeError) return sendRpcError(visit, error.id, error);
    throw error;
  }
  const id = message.kind === 'request' ? message.id : null;
  let era: Era | null = null;
  try {
    era = readEra(message, asking);
    if (door.sessions && era.name === 'legacy') await requireSession(door.sessions, message, asking);
    if (message.kind !== 'request') return send(visit, 202);
    const context = {
      requestId: visit.id,
      stop: () => abortWhenGone(visit.response),
      callLimitMs: serving.callLimitMs ?? CALL_LIMIT_MS,
      reportFault,
    };
    const result = await dispatchRequest(door, message, era, context);
    if (message.method === 'initialize' && door.sessions) {
      const opening = {
        protocolVersion: negotiateVersion(message.params.protocolVersion),
        clientInfo: message.params.clientInfo,
      };
      visit.headers[SESSION_HEADER] = await door.sessions.open(opening);
    }
    send(visit, 200, enclose(`{"jsonrpc":"2.0","id":${toWire(JSON.stringify(id))},"result":`, result, '}'));
  } catch (error) {
    if (error instanceof RpcError) return sendRpcError(visit, id, error, era);
    reportFault(error);
    sendRpcError(visit, id, new RpcError(INTERNAL_ERROR, INTERNAL_SENTENCE), era);
  }

  function reportFault(error: unknown): void {
    const method = message.kind === 'request' ? message.method : undefined;
    serving.log.error({ err: error, requestId: visit.id, method }, 'MCP request failed');
  }
}

async function closeSession(visit: Visit, door: McpDoor, asking: DoorRequest): Promise<void> {
  const id = asking.header(SESSION_HEADER);
  if (id === undefined) throw new AppError('bad_request', 'Name the session to end in the Mcp-Session-Id header');
  const closed = await door.sessions!.close(id);
  if (!closed) throw new AppError('not_found', 'Session not found');
  send(visit, 204);
}

/** Aborts when the client hangs up before its answer is out. */
function abortWhenGone(response: ServerResponse): AbortController {
  const gone = new AbortController();
  if (response.destroyed) gone.abort();
  response.once('close', () => {
    if (!response.writableFinished) gone.abort();
  });
  return gone;
}

/** With the headers that were set so far, in one write; JSON has no charset parameter (RFC 8259). */
function send({ response, headers }: Visit, status: number, json?: Wire): void {
  if (response.headersSent || response.destroyed) return;
  if (json !== undefined) {
    headers['content-type'] = 'application/json';
    headers['content-length'] = bytesOf(json);
  }
  response.writeHead(status, headers);
  if (json === undefined || typeof json === 'string') return void response.end(json, 'latin1');
  response.cork();
  for (const part of json) response.write(part, 'latin1');
  response.end();
}

function sendRpcError(visit: Visit, id: RpcId | null, error: RpcError, era: Era | null = null): void {
  const code = error.code === OUT_OF_SCOPE && era?.name === 'modern' ? OUT_OF_SCOPE_MODERN : error.code;
  const body = { code, message: error.message, ...(error.data !== undefined && { data: error.data }) };
  send(visit, error.status, writeObject({ jsonrpc: '2.0', id, error: body }));
}

/** Whatever ends a request before or outside MCP, as `{"code", "message"}`. */
function sendHttpError(error: unknown, visit: Visit, log: FastifyBaseLogger): void {
  const known = error instanceof AppError ? error : null;
  if (known === null) log.error({ err: error, requestId: visit.id }, 'MCP request failed');
  const answer =
    known ??
    new AppError(
      'internal',
      'Something went wrong on our side — try again, and tell whoever manages Sergo if it stays',
    );
  const { headers } = visit;
  const status = httpStatusOf[answer.code];
  if (status === 401) headers['www-authenticate'] = 'Bearer realm="sergo"';
  // What is left of a refused body is not waited for.
  if (answer.code === 'too_large') headers.connection = 'close';
  if (answer.retryAfterSeconds !== undefined) headers['retry-after'] = String(answer.retryAfterSeconds);
  send(visit, status, writeObject({ code: answer.code, message: answer.message }));
}
