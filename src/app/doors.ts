import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import type { Config } from '../config.ts';
import { openAgentDoor } from '../doors/agent/door.ts';
import { registerConsoleDoor } from '../doors/console/door.ts';
import type { ConsolePorts } from '../doors/console/ports.ts';
import { registerFrontPage } from '../doors/http-front.ts';
import type { Readiness } from '../doors/http-health.ts';
import { createRateLimits } from '../doors/http-limits.ts';
import { createHttpMetrics } from '../doors/http-metrics.ts';
import { createHttpServer } from '../doors/http-server.ts';
import { registerMcpEndpoint } from '../doors/mcp/endpoint.ts';
import { registerWellKnown } from '../doors/mcp/well-known.ts';
import type { LibraryDeps } from '../library/deps.ts';
import type { PageViewer } from '../processing/view-page.ts';
import type { SearchDeps } from '../search/search-documents.ts';
import { createAgentPorts } from './agent-ports.ts';
import { createConsolePorts } from './console-ports.ts';

export interface DoorsDeps {
  config: Config;
  /** As people and agents reach it. */
  publicUrl: string;
  version: string;
  log: FastifyBaseLogger;
  library: LibraryDeps;
  search: SearchDeps;
  viewer: PageViewer;
  health: ConsolePorts['health'];
  readiness(): Promise<Readiness>;
  /** Forgets the set-up token once there is an admin (P20). */
  afterSetUp?(): Promise<void>;
}

/** The HTTP server with every door on it, not listening yet: what `serve` runs, and what tests walk. */
export async function openDoors(deps: DoorsDeps): Promise<FastifyInstance> {
  const { config, library, search, viewer, publicUrl, version } = deps;
  const { clock, storage } = library;
  const app = createHttpServer({
    config: {
      publicUrl,
      host: config.host,
      allowedOrigins: config.allowedOrigins,
      trustProxy: config.trustProxy,
      ...(config.metricsToken === null ? {} : { metricsToken: config.metricsToken }),
    },
    log: deps.log,
    metrics: createHttpMetrics([
      { name: 'sergo_queue_jobs', help: 'Queued and running jobs', read: () => storage.jobs.countOpen() },
      {
        name: 'sergo_queue_oldest_seconds',
        help: 'Age of the oldest open job',
        read: async () => {
          const oldest = await storage.jobs.oldestOpenAt();
          return oldest === null ? 0 : (clock.now() - oldest) / 1_000;
        },
      },
    ]),
    readiness: () => deps.readiness(),
  });
  const rates = { badCredentialsPerMinute: config.rates.badCredentialsPerMinute };
  const signedInLimits = createRateLimits({ callsPerMinute: config.rates.signedInPerMinute, ...rates }, clock);
  const agentLimits = createRateLimits({ callsPerMinute: config.rates.agentPerMinute, ...rates }, clock);
  const ports = createAgentPorts({ library, search, viewer, limits: agentLimits });

  registerFrontPage(app);
  registerWellKnown(app, ['/mcp']);
  await registerMcpEndpoint(app, {
    path: '/mcp',
    hosts: app.hostRules,
    openDoor: (request) => openAgentDoor({ ports, version }, request),
  });
  await registerConsoleDoor(app, {
    library,
    ports: createConsolePorts({ library, search, viewer, health: deps.health }),
    limits: signedInLimits,
    clock,
    publicUrl,
    version,
    ...(deps.afterSetUp ? { afterSetUp: () => deps.afterSetUp!() } : {}),
  });
  return app;
}
