import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import type { OutgoingHttpHeaders } from 'node:http';
import { AppError, httpStatusOf } from '../../errors.ts';
import type { HostRules } from '../http-hosts.ts';
import { checkOrigin, corsHeaders, preflightHeaders } from './cors.ts';
import { CALL_LIMIT_MS, dispatchRequest, negotiateVersion } from './dispatch.ts';
import { EnvelopeError, readMessage, type RpcId, type RpcMessage } from './envelope.ts';
import { readEra, type Era } from './era.ts';
import { readHeaders } from './headers.ts';
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
 * The request is taken off fastify once its own hooks (request id, security headers, limits, metrics) have run: what would follow,
 * body parsers, validation and serializers, has nothing to do here and takes a fifth of a small call's time.
 */
export async function registerMcpEndpoint(app: FastifyInstance, options: McpEndpointOptions): Promise<void> {
  await app.register(async (scope) => {
    // Before the hooks of other doors fail a request of this one, their errors are written in this one's shape.
    scope.setErrorHandler((error, request, reply) => sendHttpError(error, request, reply.hijack()));
    scope.addHook('onRequest', (request, reply, _done) => {
      reply.hijack();
      void serve(request, reply, options);
    });
    for (const url of [options.path, `${options.path}/`]) scope.route({ method: METHODS, url, handler: neverReached });
  });
}

const neverReached = (): never => {
  throw new Error('an MCP request is answered by its hook');
};

/** Answers, whatever happens; a client that has gone gets nothing. */
async function serve(request: FastifyRequest, reply: FastifyReply, options: McpEndpointOptions): Promise<void> {
  try {
    await answer(request, reply, options);
  } catch (error) {
    sendHttpError(error, request, reply);
  }
}

async function answer(request: FastifyRequest, reply: FastifyReply, options: McpEndpointOptions): Promise<void> {
  const allow = options.sessions ? 'POST, DELETE, OPTIONS' : 'POST, OPTIONS';
  const headers = readHeaders(request.raw.rawHeaders);
  const origin = headers.get('origin');
  checkOrigin(options.hosts, { host: headers.get('host'), origin, localAddress: request.raw.socket.localAddress });
  reply.header('cache-control', 'no-store');
  if (origin !== undefined) reply.headers(corsHeaders(origin));
  if (request.method === 'OPTIONS') return send(reply.headers({ allow, ...preflightHeaders(allow) }), 204);
  const asking: DoorRequest = {
    requestId: request.id,
    remoteAddress: request.ip,
    header: (name) => headers.get(name),
  };
  const door = await options.openDoor(asking);
  if (request.method !== 'POST' && !(request.method === 'DELETE' && options.sessions)) {
    reply.header('allow', allow);
    throw new AppError('method_not_allowed', 'This address takes POST only — send each JSON-RPC message as one POST');
  }
  if (request.method === 'DELETE') return closeSession(reply, door, asking);
  checkContentType(headers);
  const body = await readBody(request.raw, options.maxBodyBytes ?? MAX_BODY_BYTES);
  await answerMessage(body, { request, reply, door, asking, options });
}

function checkContentType(headers: ReadonlyMap<string, string>): void {
  const type = headers.get('content-type') ?? '';
  if (!/^application\/json[ \t]*(;[ \t]*charset="?utf-8"?[ \t]*)?;?[ \t]*$/i.test(type)) {
    throw new AppError('wrong_type', 'Send the message as Content-Type: application/json (UTF-8)');
  }
  const encoding = headers.get('content-encoding');
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw new AppError('wrong_type', 'Send the message without Content-Encoding');
  }
}

interface Visit {
  request: FastifyRequest;
  reply: FastifyReply;
  door: McpDoor;
  asking: DoorRequest;
  options: McpEndpointOptions;
}

async function answerMessage(body: Buffer, visit: Visit): Promise<void> {
  const { request, reply, door, asking, options } = visit;
  let message: RpcMessage;
  try {
    message = readMessage(body);
  } catch (error) {
    if (error instanceof EnvelopeError) return sendRpcError(reply, error.id, error);
    throw error;
  }
  const id = message.kind === 'request' ? message.id : null;
  let era: Era | null = null;
  try {
    era = readEra(message, asking);
    if (door.sessions && era.name === 'legacy') await requireSession(door.sessions, message, asking);
    if (message.kind !== 'request') return send(reply, 202);
    const context = {
      requestId: request.id,
      stop: () => abortWhenGone(reply),
      callLimitMs: options.callLimitMs ?? CALL_LIMIT_MS,
      reportFault,
    };
    const result = await dispatchRequest(door, message, era, context);
    if (message.method === 'initialize' && door.sessions) {
      const opening = {
        protocolVersion: negotiateVersion(message.params.protocolVersion),
        clientInfo: message.params.clientInfo,
      };
      reply.header(SESSION_HEADER, await door.sessions.open(opening));
    }
    send(reply, 200, enclose(`{"jsonrpc":"2.0","id":${toWire(JSON.stringify(id))},"result":`, result, '}'));
  } catch (error) {
    if (error instanceof RpcError) return sendRpcError(reply, id, error, era);
    reportFault(error);
    sendRpcError(reply, id, new RpcError(INTERNAL_ERROR, INTERNAL_SENTENCE), era);
  }

  function reportFault(error: unknown): void {
    request.log.error(
      { err: error, method: message.kind === 'request' ? message.method : undefined },
      'MCP request failed',
    );
  }
}

async function closeSession(reply: FastifyReply, door: McpDoor, asking: DoorRequest): Promise<void> {
  const id = asking.header(SESSION_HEADER);
  if (id === undefined) throw new AppError('bad_request', 'Name the session to end in the Mcp-Session-Id header');
  const closed = await door.sessions!.close(id);
  if (!closed) throw new AppError('not_found', 'Session not found');
  send(reply, 204);
}

/** Aborts when the client hangs up before its answer is out. */
function abortWhenGone(reply: FastifyReply): AbortController {
  const gone = new AbortController();
  if (reply.raw.destroyed) gone.abort();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) gone.abort();
  });
  return gone;
}

/** With the headers that were set so far, in one write; JSON has no charset parameter (RFC 8259). */
function send(reply: FastifyReply, status: number, json?: Wire): void {
  const { raw } = reply;
  if (raw.headersSent || raw.destroyed) return;
  const headers = reply.getHeaders() as OutgoingHttpHeaders;
  if (json !== undefined) {
    headers['content-type'] = 'application/json';
    headers['content-length'] = bytesOf(json);
  }
  raw.writeHead(status, headers);
  if (json === undefined || typeof json === 'string') return void raw.end(json, 'latin1');
  raw.cork();
  for (const part of json) raw.write(part, 'latin1');
  raw.end();
}

function sendRpcError(reply: FastifyReply, id: RpcId | null, error: RpcError, era: Era | null = null): void {
  const code = error.code === OUT_OF_SCOPE && era?.name === 'modern' ? OUT_OF_SCOPE_MODERN : error.code;
  const body = { code, message: error.message, ...(error.data !== undefined && { data: error.data }) };
  send(reply, error.status, writeObject({ jsonrpc: '2.0', id, error: body }));
}

/** Whatever ends a request before or outside MCP, as `{"code", "message"}`. */
function sendHttpError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const known = error instanceof AppError ? error : null;
  if (known === null) request.log.error({ err: error }, 'MCP request failed');
  const answer =
    known ??
    new AppError(
      'internal',
      'Something went wrong on our side — try again, and tell whoever manages Sergo if it stays',
    );
  const status = httpStatusOf[answer.code];
  if (status === 401) reply.header('www-authenticate', 'Bearer realm="sergo"');
  // What is left of a refused body is not waited for.
  if (answer.code === 'too_large') reply.header('connection', 'close');
  if (answer.retryAfterSeconds !== undefined) reply.header('retry-after', String(answer.retryAfterSeconds));
  send(reply, status, writeObject({ code: answer.code, message: answer.message }));
}
