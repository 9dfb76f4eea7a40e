import type { Config } from '../config.ts';
import { lockDataFolder } from '../storage/data-folder-lock.ts';
import type { Programs } from './services.ts';
import { onStopSignal } from './stop-signal.ts';
import { supervise, spawnWorker } from './supervisor.ts';
import type { Terminal } from './terminal.ts';

/** Of the ten seconds in which a stop must be done (trust.md P34): what the worker and open requests get. */
const PATIENCE_MS = 7_000;

/**
 * Runs the server and one worker until SIGTERM or SIGINT. Prints `Sergo is ready at <url>` once on stdout, and after it,
 * while there is no admin, the set-up token. Throws AppError conflict when another Sergo has the data folder.
 */
export async function serve(config: Config, mainPath: string, programs: Programs, terminal: Terminal): Promise<void> {
  const lock = lockDataFolder(config.dataFolder);
  const stopSignal = onStopSignal();
  const server = await programs.startServer(config);
  const worker = supervise({ start: () => spawnWorker(mainPath), note: terminal.note });
  const ready = `Sergo is ready at ${server.url}`;
  terminal.out(server.setupToken === null ? ready : `${ready}\n${setupNotice(server.url, server.setupToken)}`);
  terminal.note(`There is no console in this copy: people use ${server.url}/api/v1 and bin/sergo, agents ${server.url}/mcp.`);

  await stopSignal;
  await Promise.all([server.stop(), worker.stop(PATIENCE_MS)]);
  lock.release();
}

function setupNotice(url: string, { token, file }: { token: string; file: string }): string {
  return [
    '',
    'There is no admin yet. Make the first one with this set-up token (valid one hour, works once; also in',
    `${file}):`,
    '',
    `  ${token}`,
    '',
    `  curl ${url}/api/v1/setup -H 'content-type: application/json' \\`,
    `    -d '{"token": "${token}", "name": "Ava Bennett", "email": "ava@example.com", "password": "…"}'`,
    '',
    'or on this machine: bin/sergo setup --name "Ava Bennett" --email ava@example.com --password-file FILE',
  ].join('\n');
}
