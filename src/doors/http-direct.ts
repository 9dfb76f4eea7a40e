import type { FastifyBaseLogger } from 'fastify';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { HostRules } from './http-hosts.ts';
import type { HttpMetrics } from './http-metrics.ts';
import { checkRequest, logAnswer, type createVisits, type Visit } from './http-visit.ts';

/** Answers a visit, whatever happens; `check` throws what is wrong with the request itself. */
export type DirectDoor = (visit: Visit, check: () => void) => void;

export interface DirectDoors {
  openVisit: ReturnType<typeof createVisits>;
  /** Requests to exactly this path go to `door` from now on. */
  add(path: string, door: DirectDoor): void;
}

export interface DirectDeps {
  openVisit: ReturnType<typeof createVisits>;
  hostRules: HostRules;
  metrics: HttpMetrics;
  log: FastifyBaseLogger;
}

/**
 * Stands before fastify on its own server. A door that is added here keeps its routes with fastify as well, which hand on to the same
 * function: for other spellings of the path, and for whoever walks the routes.
 */
export function serveDirectly(server: Server, { openVisit, hostRules, metrics, log }: DirectDeps): DirectDoors {
  const doors = new Map<string, DirectDoor>();
  const isDetailed = log.level === 'debug' || log.level === 'trace';
  const others = server.listeners('request') as ((request: IncomingMessage, response: ServerResponse) => void)[];
  server.removeAllListeners('request');
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const route = request.url ?? '';
    const door = doors.get(route);
    if (door === undefined) {
      for (const other of others) other(request, response);
      return;
    }
    const began = performance.now();
    const visit = openVisit(request, response);
    response.on('close', () => {
      const method = request.method ?? '';
      const status = response.statusCode;
      const ms = performance.now() - began;
      metrics.observe(method, route, status, ms / 1_000);
      if (status === 401) metrics.authFailure();
      if (status >= 400 || isDetailed) logAnswer(log.child({ requestId: visit.id }), { method, route, status, ms });
    });
    door(visit, () => checkRequest(request, hostRules));
  });
  return { openVisit, add: (path, door) => void doors.set(path, door) };
}
