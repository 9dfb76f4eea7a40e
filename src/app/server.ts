import { join } from 'node:path';
import type { RunningServer } from '../cli/services.ts';
import { systemClock } from '../clock.ts';
import type { Config } from '../config.ts';
import { openAgentDoor } from '../doors/agent/door.ts';
import { registerConsoleDoor } from '../doors/console/door.ts';
import { createRateLimits } from '../doors/http-limits.ts';
import { createHttpMetrics } from '../doors/http-metrics.ts';
import { createHttpServer, drainServer } from '../doors/http-server.ts';
import { registerMcpEndpoint } from '../doors/mcp/endpoint.ts';
import { registerWellKnown } from '../doors/mcp/well-known.ts';
import { createPageViewer } from '../processing/view-page.ts';
import { createSearchIndex } from '../search/pool.ts';
import { clearIncoming } from '../storage/blobs/disk.ts';
import { createAgentPorts } from './agent-ports.ts';
import { createConsolePorts } from './console-ports.ts';
import { createLog } from './log.ts';
import { createMachineHealth } from './machine-health.ts';
import { openLibrary, type OpenLibrary } from './open-library.ts';
import { checkReadiness } from './readiness.ts';
import { openDrawer } from './readers.ts';
import { forgetSetupToken, offerSetupToken } from './setup-token.ts';

export interface ServerOptions {
  /** src/main.ts, for questions that are put to a process of their own. */
  mainPath: string;
  version: string;
}

/** The HTTP server with every door. The caller holds the lock on the data folder. */
export async function runServer(config: Config, options: ServerOptions): Promise<RunningServer> {
  const log = createLog(config, 'server');
  const library = await openLibrary(config);
  await clearIncoming(join(config.dataFolder, 'blobs'));
  const drawing = await openDrawer(config, (message) => log.warn(message));
  const index = createSearchIndex({
    databasePath: library.storage.databasePath,
    threads: config.search.threads,
    onError: (error) => log.error({ err: error }, 'search'),
  });
  const publicUrl = config.publicUrl ?? `http://${config.host === '0.0.0.0' || config.host === '::' ? 'localhost' : bracket(config.host)}:${config.port}`;
  const app = createHttpServer({
    config: { publicUrl, host: config.host, allowedOrigins: config.allowedOrigins, trustProxy: config.trustProxy },
    log,
    metrics: createHttpMetrics(queueMetrics(library)),
    readiness: () => checkReadiness(library.deps, config.dataFolder, drawing.sandbox.mode),
  });
  const viewer = createPageViewer({ storage: library.storage, blobs: library.deps.blobs, drawer: drawing.drawer });
  const search = { storage: library.storage, index, depth: config.search.depth };
  const rates = { badCredentialsPerMinute: config.rates.badCredentialsPerMinute };
  const signedInLimits = createRateLimits({ callsPerMinute: config.rates.signedInPerMinute, ...rates }, systemClock);
  const agentLimits = createRateLimits({ callsPerMinute: config.rates.agentPerMinute, ...rates }, systemClock);
  const ports = createAgentPorts({ library: library.deps, search, viewer, limits: agentLimits });

  registerWellKnown(app, ['/mcp']);
  await registerMcpEndpoint(app, {
    path: '/mcp',
    hosts: app.hostRules,
    openDoor: (request) => openAgentDoor({ ports, version: options.version }, request),
  });
  await registerConsoleDoor(app, {
    library: library.deps,
    ports: createConsolePorts({ library: library.deps, search, viewer, health: createMachineHealth(options.mainPath) }),
    limits: signedInLimits,
    clock: systemClock,
    publicUrl,
    version: options.version,
    afterSetUp: () => forgetSetupToken(config.dataFolder),
  });
  await app.listen({ host: config.host, port: config.port });
  const address = app.server.address();
  const port = typeof address === 'object' && address !== null ? address.port : config.port;
  return {
    url: config.publicUrl ?? publicUrl.replace(/:\d+$/, `:${port}`),
    setupToken: await offerSetupToken(library.deps, config.dataFolder),
    async stop() {
      await drainServer(app, 6_000);
      await index.close();
      await drawing.close();
      await library.close();
    },
  };
}

const queueMetrics = ({ storage }: OpenLibrary) => [
  { name: 'sergo_queue_jobs', help: 'Queued and running jobs', read: () => storage.jobs.countOpen() },
  {
    name: 'sergo_queue_oldest_seconds',
    help: 'Age of the oldest open job',
    read: async () => {
      const oldest = await storage.jobs.oldestOpenAt();
      return oldest === null ? 0 : (systemClock.now() - oldest) / 1_000;
    },
  },
];

const bracket = (host: string): string => (host.includes(':') ? `[${host}]` : host);
