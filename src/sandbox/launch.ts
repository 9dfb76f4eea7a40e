import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import type { Readable, Writable } from 'node:stream';
import { buildSeccompFilter } from './seccomp.ts';
import { wrapCommand, type Wrapping } from './argv.ts';
import { Watchdog } from './watchdog.ts';

/** Starts one wrapped program in a process group of its own. */

export interface Launched {
  process: ChildProcess;
  pid: number;
  stdin: Writable;
  stdout: Readable;
  watchdog: Watchdog;
  /** At most 16 KiB. */
  stderr(): string;
  /** Resolves on `exit`, not on `close`: a left-over grandchild holding a pipe must not keep us waiting. */
  exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

const STDERR_BYTES = 16 * 1024;
const DRAIN_MS = 250;
const MARK = 'SERGO_SANDBOX_RUN';

export async function launch(wrapping: Wrapping, cwd: string, descriptors: number[] = []): Promise<Launched> {
  const id = randomUUID();
  const env = { ...wrapping.env, [MARK]: id };
  const filter = wrapping.mode === 'bubblewrap' ? buildSeccompFilter(process.arch) : undefined;
  const seccompDescriptor = 3 + descriptors.length;
  const { command, args } = wrapCommand({ ...wrapping, env, ...(filter ? { seccompDescriptor } : {}) });
  const child = spawn(command, args, {
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe', ...descriptors, ...(filter ? ['pipe' as const] : [])],
    cwd: wrapping.mode === 'bubblewrap' ? '/' : cwd,
    // Bubblewrap clears the environment and sets its own; PATH is for finding bwrap.
    env: wrapping.mode === 'bubblewrap' ? { PATH: '/usr/bin:/bin:/usr/local/bin' } : env,
  });
  if (filter !== undefined) {
    const pipe = child.stdio[seccompDescriptor] as Writable;
    pipe.on('error', () => undefined);
    pipe.end(filter);
  }
  const chunks: Buffer[] = [];
  let kept = 0;
  child.stderr!.on('data', (chunk: Buffer) => {
    if (kept < STDERR_BYTES) chunks.push(chunk.subarray(0, STDERR_BYTES - kept));
    kept += chunk.length;
  });
  // A child that dies while we write to it: the exit says so, the pipe's error adds nothing.
  child.stdin!.on('error', () => undefined);
  child.stdout!.on('error', () => undefined);
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', reject);
  });
  const pid = child.pid!;
  const watchdog = new Watchdog(pid, wrapping.mode === 'limits-only' ? `${MARK}=${id}` : undefined);
  const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    let ended: { code: number | null; signal: NodeJS.Signals | null } | undefined;
    child.once('exit', (code, signal) => {
      watchdog.pause();
      watchdog.killAll();
      ended = { code, signal };
      // What is in the pipe still has to be read; what never closes it is cut off.
      const cut = setTimeout(() => {
        child.stdout!.destroy();
        child.stderr!.destroy();
        child.stdin!.destroy();
      }, DRAIN_MS);
      child.once('close', () => {
        clearTimeout(cut);
        resolve(ended!);
      });
    });
  });
  return {
    process: child,
    pid,
    stdin: child.stdin!,
    stdout: child.stdout!,
    watchdog,
    stderr: () => Buffer.concat(chunks).toString('utf8'),
    exited,
  };
}
