import { killPid, listMarked, listTree, measureProcesses, measureTree } from './process-tree.ts';
import type { KilledBy } from './types.ts';

/** Watches one process tree while it works, and ends it whole. */

const TICK_MS = 50;
/** Folder sizes are slower to find than /proc, so they are looked at less often. */
const TICKS_PER_FOLDER_CHECK = 5;
/** So is who belongs to the tree: that asks every thread for its children. */
const TICKS_PER_LISTING = 4;

export interface WatchRules {
  memoryBytes: number;
  /** CPU of the tree since `start()`. */
  cpuMs: number;
  wallMs: number;
  signal?: AbortSignal | undefined;
  /** Bytes written to the output folder so far, against `folderBytes`. */
  folderSize?: (() => number) | undefined;
  folderBytes?: number;
}

export class Watchdog {
  readonly #pid: number;
  /** Set in limits-only mode: processes carry it in their environment. */
  readonly #mark: string | undefined;
  #seen = new Set<number>();
  #timer: NodeJS.Timeout | undefined;
  #stopWatching: (() => void) | undefined;
  #heldSince: number | undefined;
  #heldMs = 0;
  peakBytes = 0;

  constructor(pid: number, mark: string | undefined) {
    this.#pid = pid;
    this.#mark = mark;
  }

  /** `onLimit` is called at most once; the tree has been killed by then. */
  start(rules: WatchRules, onLimit: (why: KilledBy) => void): void {
    this.pause();
    this.#heldMs = 0;
    this.#heldSince = undefined;
    const startedAt = performance.now();
    const atStart = measureTree(this.#pid);
    const cpuAtStart = atStart.cpuMs;
    let pids = atStart.pids;
    let ticks = 0;
    const end = (why: KilledBy): void => {
      this.pause();
      this.killAll();
      onLimit(why);
    };
    const onAbort = (): void => end('cancel');
    if (rules.signal?.aborted === true) {
      end('cancel');
      return;
    }
    rules.signal?.addEventListener('abort', onAbort, { once: true });
    this.#stopWatching = () => rules.signal?.removeEventListener('abort', onAbort);
    this.#timer = setInterval(() => {
      ticks += 1;
      if (ticks % TICKS_PER_LISTING === 0) pids = listTree(this.#pid);
      const use = measureProcesses(pids);
      if (this.#mark !== undefined) for (const pid of use.pids) this.#seen.add(pid);
      if (use.residentBytes > this.peakBytes) this.peakBytes = use.residentBytes;
      if (use.residentBytes > rules.memoryBytes) end('memory');
      else if (performance.now() - startedAt - this.#heldForMs() > rules.wallMs) end('time');
      else if (rules.cpuMs > 0 && use.cpuMs - cpuAtStart > rules.cpuMs) end('time');
      else if (rules.folderSize !== undefined && ticks % TICKS_PER_FOLDER_CHECK === 0) {
        if (rules.folderSize() > (rules.folderBytes ?? Infinity)) end('output');
      }
    }, TICK_MS);
  }

  /** The process waits for us, not we for it: the time until `resume()` does not count against its wall clock. */
  hold(): void {
    this.#heldSince ??= performance.now();
  }

  resume(): void {
    this.#heldMs = this.#heldForMs();
    this.#heldSince = undefined;
  }

  #heldForMs(): number {
    return this.#heldMs + (this.#heldSince === undefined ? 0 : performance.now() - this.#heldSince);
  }

  pause(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#stopWatching?.();
    this.#stopWatching = undefined;
  }

  /**
   * Kills everything. In bubblewrap mode the death of the outer process takes the whole pid namespace along; without it a
   * `setsid` grandchild would live on (measured, trust.md section 2), so the tree, what was seen of it, and what carries
   * its mark are killed one by one.
   */
  killAll(): void {
    const tree = listTree(this.#pid);
    try {
      process.kill(-this.#pid, 'SIGKILL');
    } catch {
      // The group is gone already.
    }
    for (const pid of tree) killPid(pid);
    if (this.#mark === undefined) return;
    // Twice: a process may fork between the listing and the kill.
    for (let round = 0; round < 2; round += 1) for (const pid of listMarked(this.#mark)) killPid(pid);
    this.#seen.clear();
  }
}
