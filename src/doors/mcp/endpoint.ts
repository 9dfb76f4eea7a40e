import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import { AppError, httpStatusOf } from '../../errors.ts';
import type { HostRules } from '../http-hosts.ts';
import { checkOrigin, corsHeaders, preflightHeaders } from './cors.ts';
import { CALL_LIMIT_MS, dispatchRequest, negotiateVersion } from './dispatch.ts';
import { EnvelopeError, readMessage, type RpcId, type RpcMessage } from './envelope.ts';
import { readEra, type Era } from './era.ts';
import { readHeaders } from './headers.ts';
import { INTERNAL_ERROR, INTERNAL_SENTENCE, OUT_OF_SCOPE, OUT_OF_SCOPE_MODERN } from './protocol.ts';
import { RpcError } from './rpc-error.ts';
import { requireSession, SESSION_HEADER } from './session.ts';
import type { DoorRequest, McpDoor } from './types.ts';

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
 */
export async function registerMcpEndpoint(app: FastifyInstance, options: McpEndpointOptions): Promise<void> {
  const allow = options.sessions ? 'POST, DELETE, OPTIONS' : 'POST, OPTIONS';
  const visits = new WeakMap<FastifyRequest, Visit>();

  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));

    scope.addHook('onRequest', async (request, reply) => {
      const headers = readHeaders(request.raw.rawHeaders);
      const origin = headers.get('origin');
      checkOrigin(options.hosts, { host: headers.get('host'), origin, localAddress: request.raw.socket.localAddress });
      reply.header('cache-control', 'no-store');
      if (origin !== undefined) reply.headers(corsHeaders(origin));
      if (request.method === 'OPTIONS')
        return reply
          .code(204)
          .headers({ allow, ...preflightHeaders(allow) })
          .send();
      const asking: DoorRequest = {
        requestId: request.id,
        remoteAddress: request.ip,
        header: (name) => headers.get(name),
      };
      const door = await options.openDoor(asking);
      if (request.method !== 'POST' && !(request.method === 'DELETE' && options.sessions)) {
        reply.header('allow', allow);
        throw new AppError(
          'method_not_allowed',
          'This address takes POST only — send each JSON-RPC message as one POST',
        );
      }
      if (request.method === 'POST') checkContentType(headers);
      visits.set(request, { door, asking });
    });

    scope.setErrorHandler((error, request, reply) => sendHttpError(error, request, reply));
    scope.route({
      method: METHODS,
      url: options.path,
      bodyLimit: options.maxBodyBytes ?? MAX_BODY_BYTES,
      handler: (request, reply) => serve(request, reply, visits.get(request)!, options),
    });
    scope.route({
      method: METHODS,
      url: `${options.path}/`,
      bodyLimit: options.maxBodyBytes ?? MAX_BODY_BYTES,
      handler: (request, reply) => serve(request, reply, visits.get(request)!, options),
    });
  });
}

interface Visit {
  door: McpDoor;
  asking: DoorRequest;
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

async function serve(
  request: FastifyRequest,
  reply: FastifyReply,
  visit: Visit,
  options: McpEndpointOptions,
): Promise<FastifyReply> {
  if (request.method === 'DELETE') return closeSession(reply, visit);
  let message: RpcMessage;
  try {
    message = readMessage(Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0));
  } catch (error) {
    if (error instanceof EnvelopeError) return sendRpcError(reply, error.id, error);
    throw error;
  }
  const id = message.kind === 'request' ? message.id : null;
  let era: Era | null = null;
  try {
    era = readEra(message, visit.asking);
    if (visit.door.sessions && era.name === 'legacy') await requireSession(visit.door.sessions, message, visit.asking);
    if (message.kind !== 'request') return reply.code(202).send();
    const context = {
      requestId: request.id,
      stop: abortWhenGone(reply),
      callLimitMs: options.callLimitMs ?? CALL_LIMIT_MS,
      reportFault,
    };
    const result = await dispatchRequest(visit.door, message, era, context);
    if (message.method === 'initialize' && visit.door.sessions) {
      const opening = {
        protocolVersion: negotiateVersion(message.params.protocolVersion),
        clientInfo: message.params.clientInfo,
      };
      reply.header(SESSION_HEADER, await visit.door.sessions.open(opening));
    }
    return sendRpc(reply, 200, { jsonrpc: '2.0', id, result });
  } catch (error) {
    if (error instanceof RpcError) return sendRpcError(reply, id, error, era);
    reportFault(error);
    return sendRpcError(reply, id, new RpcError(INTERNAL_ERROR, INTERNAL_SENTENCE), era);
  }

  function reportFault(error: unknown): void {
    request.log.error(
      { err: error, method: message.kind === 'request' ? message.method : undefined },
      'MCP request failed',
    );
  }
}

async function closeSession(reply: FastifyReply, visit: Visit): Promise<FastifyReply> {
  const id = visit.asking.header(SESSION_HEADER);
  if (id === undefined) throw new AppError('bad_request', 'Name the session to end in the Mcp-Session-Id header');
  const closed = await visit.door.sessions!.close(id);
  if (!closed) throw new AppError('not_found', 'Session not found');
  return reply.code(204).send();
}

/** Aborts when the client hangs up before its answer is out. */
function abortWhenGone(reply: FastifyReply): AbortController {
  const gone = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) gone.abort();
  });
  return gone;
}

function sendRpc(reply: FastifyReply, status: number, message: Record<string, unknown>): FastifyReply {
  return sendJson(reply.code(status), message);
}

/**
 * As a string, which Node sends together with the headers in one write, and through a serializer of our own: without one,
 * fastify adds a charset to the media type, which JSON does not have (RFC 8259).
 */
function sendJson(reply: FastifyReply, value: Record<string, unknown>): FastifyReply {
  return reply.header('content-type', 'application/json').serializer(asIs).send(JSON.stringify(value));
}

const asIs = (payload: unknown): string => payload as string;

function sendRpcError(reply: FastifyReply, id: RpcId | null, error: RpcError, era: Era | null = null): FastifyReply {
  const code = error.code === OUT_OF_SCOPE && era?.name === 'modern' ? OUT_OF_SCOPE_MODERN : error.code;
  const body = { code, message: error.message, ...(error.data !== undefined && { data: error.data }) };
  return sendRpc(reply, error.status, { jsonrpc: '2.0', id, error: body });
}

/** Whatever ends a request before or outside MCP, as `{"code", "message"}`. */
function sendHttpError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const known = error instanceof AppError ? error : readFastifyError(error);
  if (known === null) request.log.error({ err: error }, 'MCP request failed');
  const answer =
    known ??
    new AppError(
      'internal',
      'Something went wrong on our side — try again, and tell whoever manages Sergo if it stays',
    );
  const status = httpStatusOf[answer.code];
  if (status === 401) reply.header('www-authenticate', 'Bearer realm="sergo"');
  if (answer.retryAfterSeconds !== undefined) reply.header('retry-after', String(answer.retryAfterSeconds));
  return sendJson(reply.code(status), { code: answer.code, message: answer.message });
}

/** Fastify's own refusals of a body; null for what is our fault. */
function readFastifyError(error: unknown): AppError | null {
  const status = (error as { statusCode?: unknown } | null)?.statusCode;
  if (status === 413) return new AppError('too_large', 'The message is too large for this address');
  if (status === 415) return new AppError('wrong_type', 'Send the message as Content-Type: application/json (UTF-8)');
  if (status === 429) return new AppError('rate_limited', 'Too many requests — wait a moment and try again');
  if (typeof status === 'number' && status >= 400 && status < 500)
    return new AppError('bad_request', 'The request could not be read');
  return null;
}
