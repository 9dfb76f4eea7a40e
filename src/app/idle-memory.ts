import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * How much the heap may grow between two collections of all of it, in percent of what is in use. By itself V8 collects a heap as small
 * as these (25 MB in use) three times a second while files go through: a tenth of the processor time of server and worker.
 */
const GROWTH_PERCENT = 200;

/**
 * Gives back what a burst of work left behind. V8 collects when it needs room, so a process with nothing to do keeps the garbage of
 * its last files for good: some 50 MB in the worker. Because all is given back afterwards, the heap may grow more meanwhile.
 */
export function memoryRelease(): () => void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (options: { type: 'major'; flavor: 'last-resort' }) => void;
  setFlagsFromString('--no-expose-gc');
  return () => collect({ type: 'major', flavor: 'last-resort' });
}

const LOOK_MS = 5_000;
/** Of a look's length: less is a process with nothing to do. */
const IDLE_SHARE = 0.02;
/** Processor time since the last release from which there is something to give back. */
const WORKED_MS = 250;

/** Does so each time the process has worked and then has nothing to do for five to ten seconds. */
export function releaseWhenIdle(lookMs = LOOK_MS): { stop(): void } {
  const release = memoryRelease();
  let before = process.cpuUsage();
  let workedMs = 0;
  const timer = setInterval(() => {
    const { user, system } = process.cpuUsage(before);
    before = process.cpuUsage();
    const usedMs = (user + system) / 1_000;
    if (usedMs > lookMs * IDLE_SHARE) workedMs += usedMs;
    else if (workedMs > WORKED_MS) {
      workedMs = 0;
      release();
      before = process.cpuUsage();
    }
  }, lookMs);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}
