import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Programs } from './cli/services.ts';

/** The composition root: the parts are wired in app/, each program loading only what it runs. */
export const mainPath = join(import.meta.dirname, 'main.ts');

export const version: string = (JSON.parse(readFileSync(join(import.meta.dirname, '..', 'package.json'), 'utf8')) as { version: string }).version;

export const programs: Programs = {
  async openServices(config) {
    const { openLibrary } = await import('./app/open-library.ts');
    return openLibrary(config);
  },
  async openSearch(config) {
    const { openSearch } = await import('./app/search-engine.ts');
    return openSearch(config);
  },
  async startServer(config) {
    const { runServer } = await import('./app/server.ts');
    return runServer(config, { mainPath, version });
  },
  async startWorker(config) {
    const { runWorker } = await import('./app/worker.ts');
    return runWorker(config);
  },
};
