/** Keeps one child process running: restarts it when it ends, slower each time, and stops it on demand. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** What a supervised worker sends once it takes work. */
export const WORKER_READY = 'ready';

export interface SupervisorDeps {
  /** Starts the child; called for each (re)start. */
  start(): ChildProcess;
  note(line: string): void;
  /** First wait before a restart; doubles up to `longestWaitMs`, and starts over once a worker was at work, or lived for a minute. */
  firstWaitMs?: number;
  longestWaitMs?: number;
  /** Default 500 ms. */
  atWorkAfterMs?: number;
}

export interface Supervisor {
  /** SIGTERM, and SIGKILL after `patienceMs`. Resolves when the child is gone; it is not restarted. */
  stop(patienceMs: number): Promise<void>;
  readonly pid: number | undefined;
}

const HEALTHY_AFTER_MS = 60_000;
/** A worker that said it was at work and stayed so long: what ends it then is what it was given, not how it starts. */
const AT_WORK_AFTER_MS = 500;

export function supervise(deps: SupervisorDeps): Supervisor {
  const firstWaitMs = deps.firstWaitMs ?? 500;
  const longestWaitMs = deps.longestWaitMs ?? 30_000;
  let waitMs = firstWaitMs;
  let stopping = false;
  let timer: NodeJS.Timeout | undefined;
  let child: ChildProcess;

  const run = (): void => {
    const startedAt = performance.now();
    let readyAt = Infinity;
    child = deps.start();
    child.on('message', (message) => {
      if (message === WORKER_READY) readyAt = performance.now();
    });
    child.once('exit', (code, signal) => {
      if (stopping) return;
      const now = performance.now();
      if (now - startedAt > HEALTHY_AFTER_MS || now - readyAt > (deps.atWorkAfterMs ?? AT_WORK_AFTER_MS)) waitMs = firstWaitMs;
      deps.note(`The worker ended (${signal ?? `exit code ${code}`}); starting it again in ${waitMs / 1000} s.`);
      timer = setTimeout(run, waitMs);
      waitMs = Math.min(waitMs * 2, longestWaitMs);
    });
    child.once('error', (error) => deps.note(`The worker could not be started: ${error.message}`));
  };
  run();

  return {
    get pid() {
      return child.pid;
    },
    async stop(patienceMs) {
      stopping = true;
      clearTimeout(timer);
      if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      const lastResort = setTimeout(() => child.kill('SIGKILL'), patienceMs);
      await gone;
      clearTimeout(lastResort);
    },
  };
}

/**
 * The worker as a child of `serve`. The channel between them is how it learns that the server died without a word: it
 * ends at once then, so that two process trees never work on one data folder.
 */
export function spawnWorker(mainPath: string): ChildProcess {
  return spawn(process.execPath, [mainPath, 'worker', '--supervised'], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
}
