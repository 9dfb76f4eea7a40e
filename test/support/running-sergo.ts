/** A real Sergo for tests: `bin/sergo serve` on a free port of this machine, over a data folder of its own. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { repositoryRoot } from './shared.ts';

export interface SergoOptions {
  /** Further settings, such as `{ SERGO_RATE_SIGNED_IN: '100000' }`. */
  env?: Record<string, string>;
  /** An existing folder to start on; it is then not removed by `stop`. */
  dataFolder?: string;
  port?: number;
  /** How long to wait for the ready line. Default 30 s. */
  startMs?: number;
}

export interface RunningSergo {
  url: string;
  port: number;
  pid: number;
  dataFolder: string;
  /** The one-time token of a first start, or null once there is an admin. */
  setupToken: string | null;
  /** Everything printed so far, both streams. */
  log(): string;
  /** The ready line and whatever else went to stdout. */
  stdout(): string;
  /** SIGTERM; resolves with the exit code. Removes the data folder unless it was given. */
  stop(): Promise<number | null>;
  /** SIGKILL of the server alone (the worker sees it and ends); the data folder stays. */
  kill9(): Promise<void>;
  /** Resolves with the exit code once it has ended, whoever ended it. */
  ended: Promise<number | null>;
  process: ChildProcess;
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

/** The environment of a child without the settings of whoever runs the tests. */
export function cleanEnvironment(settings: Record<string, string>): Record<string, string | undefined> {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !name.startsWith('SERGO_') && !name.startsWith('VITEST'),
  );
  return { ...Object.fromEntries(inherited), ...settings };
}

const live = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of live) child.kill('SIGKILL');
});

/** Throws with everything it printed when it ends, or says nothing for `startMs`, before it is ready. */
export async function startSergo(options: SergoOptions = {}): Promise<RunningSergo> {
  const dataFolder = options.dataFolder ?? mkdtempSync(join(tmpdir(), 'sergo-data-'));
  const port = options.port ?? (await freePort());
  const child = spawn(join(repositoryRoot, 'bin/sergo'), ['serve'], {
    cwd: repositoryRoot,
    env: cleanEnvironment({
      SERGO_DATA: dataFolder,
      SERGO_PORT: String(port),
      SERGO_HOST: '127.0.0.1',
      // Two seconds of processor time at every start, for tests of which few have office files.
      SERGO_WARM_OFFICE: '0',
      ...options.env,
    }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  live.add(child);
  let stdout = '';
  let all = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => ((stdout += text), (all += text)));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (all += text));
  const ended = once(child, 'exit').then(([code]) => (live.delete(child), code as number | null));

  const url = await readyUrl(
    child,
    () => stdout,
    () => all,
    options.startMs ?? 30_000,
  );
  return {
    url,
    port,
    pid: child.pid!,
    dataFolder,
    get setupToken() {
      return /"token": "([^"]+)"/.exec(stdout)?.[1] ?? null;
    },
    log: () => all,
    stdout: () => stdout,
    async stop() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
      const code = await ended;
      if (options.dataFolder === undefined) rmSync(dataFolder, { recursive: true, force: true });
      return code;
    },
    async kill9() {
      child.kill('SIGKILL');
      await ended;
    },
    ended,
    process: child,
  };
}

async function readyUrl(
  child: ChildProcess,
  stdout: () => string,
  all: () => string,
  startMs: number,
): Promise<string> {
  const deadline = performance.now() + startMs;
  for (;;) {
    const url = /^Sergo is ready at (\S+)$/m.exec(stdout())?.[1];
    if (url !== undefined) return url;
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`sergo serve ended before it was ready:\n${all()}`);
    if (performance.now() > deadline) {
      child.kill('SIGKILL');
      throw new Error(`sergo serve was not ready after ${startMs} ms:\n${all()}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
