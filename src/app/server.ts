import { join } from 'node:path';
import type { RunningServer } from '../cli/services.ts';
import type { Config } from '../config.ts';
import { drainServer } from '../doors/http-server.ts';
import { createPageViewer } from '../processing/view-page.ts';
import { clearIncoming } from '../storage/blobs/disk.ts';
import { openDoors } from './doors.ts';
import { releaseWhenIdle } from './idle-memory.ts';
import { createLog } from './log.ts';
import { createMachineHealth } from './machine-health.ts';
import { meaningDetail } from './meaning.ts';
import { openLibrary } from './open-library.ts';
import { checkReadiness } from './readiness.ts';
import { openDrawer } from './readers.ts';
import { openSearchEngine } from './search-engine.ts';
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
  const engine = openSearchEngine(config, library, log);
  const publicUrl = config.publicUrl ?? `http://${config.host === '0.0.0.0' || config.host === '::' ? 'localhost' : bracket(config.host)}:${config.port}`;
  const app = await openDoors({
    config,
    publicUrl,
    version: options.version,
    afterSetUp: () => forgetSetupToken(config.dataFolder),
    log,
    library: library.deps,
    search: { storage: library.storage, index: engine.index, depth: config.search.depth },
    viewer: createPageViewer({ storage: library.storage, blobs: library.deps.blobs, drawer: drawing.drawer }),
    health: createMachineHealth(options.mainPath, engine.notices),
    readiness: () => checkReadiness(library.deps, config.dataFolder, drawing.sandbox.mode, meaningDetail(engine.meaning)),
  });
  // A rush of thousands waits its turn to be answered (503 where it must be) instead of being reset by the kernel at the 512th.
  await app.listen({ host: config.host, port: config.port, backlog: 4_096 });
  const idle = releaseWhenIdle();
  const address = app.server.address();
  const port = typeof address === 'object' && address !== null ? address.port : config.port;
  return {
    url: config.publicUrl ?? publicUrl.replace(/:\d+$/, `:${port}`),
    setupToken: await offerSetupToken(library.deps, config.dataFolder),
    async stop() {
      idle.stop();
      await drainServer(app, 6_000);
      await engine.close();
      await drawing.close();
      await library.close();
    },
  };
}

const bracket = (host: string): string => (host.includes(':') ? `[${host}]` : host);
