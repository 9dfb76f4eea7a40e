import Fastify, { LogController, type FastifyBaseLogger, type FastifyInstance } from 'fastify';
import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { AppError, type ErrorCode } from '../errors.ts';
import { errorBody, handleError, sendError, UNKNOWN_PATH } from './http-errors.ts';
import { registerHealthRoutes, type Readiness } from './http-health.ts';
import { securityHeaders } from './http-headers.ts';
import { serveDirectly, type DirectDoors } from './http-direct.ts';
import { createHostRules, type HostRules } from './http-hosts.ts';
import type { HttpMetrics } from './http-metrics.ts';
import { createRouteRegistry, type RouteRegistry } from './http-routes.ts';
import { compileValidator } from './http-validation.ts';
import { checkRequest, createVisits, logAnswer, requestIdOf } from './http-visit.ts';

export interface HttpConfig {
  /** As people and agents reach it, such as https://sergo.example.com. Drives cookies and the Host and Origin lists. */
  publicUrl: string;
  /** The address that is bound. */
  host: string;
  /** Origins of other web pages whose scripts may call this server, with a key of their own. */
  allowedOrigins?: readonly string[];
  /** Proxies (addresses or CIDR) whose X-Forwarded-For is believed; none by default. */
  trustProxy?: readonly string[];
  metricsToken?: string;
}

export interface HttpServerDeps {
  config: HttpConfig;
  /** A pino logger: one JSON line per event. */
  log: FastifyBaseLogger;
  metrics: HttpMetrics;
  readiness(): Promise<Readiness>;
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Every route of every door, in order of registration. */
    routeRegistry: RouteRegistry;
    hostRules: HostRules;
    /** Paths whose requests a door answers itself, past fastify. */
    directDoors: DirectDoors;
    /** Set first when the server is told to stop: /readyz turns 503, streams end. */
    drainState: { draining: boolean };
  }
}

const HEADERS_TIMEOUT_MS = 15_000;
/** A whole request, a large upload over a slow line included. */
const REQUEST_TIMEOUT_MS = 3_600_000;
/** A socket on which nothing moves in either direction. */
const IDLE_TIMEOUT_MS = 120_000;
const JSON_BODY_BYTES = 1024 * 1024;

/** The HTTP server without any door: the doors are plugins that are registered on it. */
export function createHttpServer(deps: HttpServerDeps): FastifyInstance {
  const { config, log, metrics } = deps;
  const hostRules = createHostRules(config);
  const headers = securityHeaders(config.publicUrl);

  const app = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    requestIdHeader: false,
    genReqId: requestIdOf,
    trustProxy: config.trustProxy === undefined || config.trustProxy.length === 0 ? false : [...config.trustProxy],
    bodyLimit: JSON_BODY_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionTimeout: IDLE_TIMEOUT_MS,
    keepAliveTimeout: 72_000,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    http: { headersTimeout: HEADERS_TIMEOUT_MS, connectionsCheckingInterval: 5_000 },
    // Longer than any request line: a long id gets the answer of a wrong id, not that of a wrong address.
    routerOptions: { maxParamLength: 20_000 },
    clientErrorHandler: answerBrokenRequest,
    frameworkErrors: (error, request, reply) => {
      reply.headers(headers).header('x-request-id', request.id);
      handleError(error, request, reply);
    },
  });
  app.server.maxHeadersCount = 100;
  app.server.maxConnections = 10_000;

  app.decorate('hostRules', hostRules);
  app.decorate('drainState', { draining: false });
  app.decorate('routeRegistry', createRouteRegistry(app));
  const openVisit = createVisits({ headers, trustProxy: config.trustProxy ?? [], isDraining: () => app.drainState.draining });
  app.decorate('directDoors', serveDirectly(app.server, { openVisit, hostRules, metrics, log }));
  app.setValidatorCompiler(compileValidator);
  app.setErrorHandler(handleError);
  acceptJsonOnly(app);

  // Not async: each promise of a hook is paid by every request.
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(headers).header('x-request-id', request.id);
    if (app.drainState.draining) reply.header('connection', 'close');
    checkRequest(request.raw, hostRules);
    done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'unknown';
    metrics.observe(request.method, route, reply.statusCode, reply.elapsedTime / 1000);
    if (reply.statusCode === 401) metrics.authFailure();
    logAnswer(request.log, { method: request.method, route, status: reply.statusCode, ms: reply.elapsedTime });
    done();
  });

  app.setNotFoundHandler((request, reply) => {
    const allowed = app.routeRegistry.methodsOf(request.url);
    if (allowed.length === 0) return sendError(new AppError('not_found', UNKNOWN_PATH), request, reply);
    reply.header('allow', allowed.join(', '));
    return sendError(
      new AppError('method_not_allowed', `${request.method} does not work here — use ${allowed.join(' or ')}`),
      request,
      reply,
    );
  });

  registerHealthRoutes(app, {
    readiness: () => deps.readiness(),
    metrics,
    ...(config.metricsToken === undefined ? {} : { metricsToken: config.metricsToken }),
    isDraining: () => app.drainState.draining,
  });
  return app;
}

/**
 * Stops: no new connections, running requests end by themselves, and whatever is still open after `graceMs` is cut. Resolves
 * when the last socket is gone.
 */
export async function drainServer(app: FastifyInstance, graceMs: number): Promise<void> {
  app.drainState.draining = true;
  const cut = setTimeout(() => app.server.closeAllConnections(), graceMs);
  // A connection that is kept alive would hold the server open after its last answer.
  const sweep = setInterval(() => app.server.closeIdleConnections(), 50);
  try {
    await app.close();
  } finally {
    clearTimeout(cut);
    clearInterval(sweep);
  }
}

/** Fastify takes text/plain too, and calls an empty body with a JSON type an error; doors here take JSON or nothing. */
function acceptJsonOnly(app: FastifyInstance): void {
  const parseJson = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body.length === 0) return done(null, undefined);
    void parseJson(request, body as string, (error, value) => {
      if (error) done(new AppError('bad_request', 'The body is not valid JSON'));
      else done(null, value);
    });
  });
}

/** Requests so broken that no route sees them: the same error shape, written by hand. */
function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, code, message]: [string, ErrorCode, string] =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? ['431 Request Header Fields Too Large', 'bad_request', 'The headers of this request are too long']
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? ['408 Request Timeout', 'bad_request', 'The request did not arrive in time']
        : ['400 Bad Request', 'bad_request', 'This is not a valid HTTP request'];
  const body = JSON.stringify(errorBody(new AppError(code, message), randomUUID()));
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}
