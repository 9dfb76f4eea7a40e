import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createFileTime, type FileTime } from '../formats/file-time.ts';
import type { JobKind, JobRow } from '../storage/ports.ts';
import { giveUpCopy, runCopyJob } from './copy-job.ts';
import { LeaseLost, type ProcessingDeps } from './deps.ts';
import { giveUp, runReadJob } from './read-job.ts';

const LEASE_MS = 30_000;
const HEARTBEAT_MS = 2_000;
/** Between two looks while there is nothing to do: what comes then waits half as long. */
const IDLE_MS = 60;
const ATTEMPTS = 3;
const READ_MS = 108_000;
/** What is small enough for the express lane, and how long all others must have been at one file each before it opens. */
const LIGHT_BYTES = 2 * 1024 ** 2;
const EXPRESS_AFTER_MS = 1_500;
/** Waits before the second and third attempt: what failed for want of memory or a warm child often works a moment later. */
const RETRY_MS = [0, 500, 3_000];

export interface Worker {
  /** Looks for work now instead of at the next tick. */
  wake(): void;
  /** Takes no new work, lets go of what runs (it is dealt again) and resolves when all slots are idle. */
  stop(): Promise<void>;
}

const handlers: Record<JobKind, (deps: ProcessingDeps, job: JobRow, signal: AbortSignal, time: FileTime, onConverted: () => void) => Promise<void>> = {
  read: runReadJob,
  'pdf-copy': runCopyJob,
};

/**
 * Works through the queue with `slots` jobs at a time. Each job is held by a lease with a token: whoever lost it (cancelled, or
 * this process was away too long) cannot write its results. A process that dies loses nothing but the work under way.
 *
 * Nobody waits behind somebody's large files: of the copies made in the background, for which LibreOffice may need minutes, the slots
 * make as many at a time as leaves another slot to read. Those they make first: LibreOffice takes one file after the other, and would be
 * idle while all is read and waited for afterwards. While a slot has nothing to read, a lane beside them makes a second copy (one is read
 * and indexed while LibreOffice is at the next). And while every slot has been at its file for a while, an express lane reads small ones.
 */
export function startWorker(deps: ProcessingDeps, options: { slots: number }): Worker {
  const stopping = new AbortController();
  let wakeUp = (): void => {};
  const most = mostCopies(options.slots);
  let copying = 0;
  const times = new Map<number, FileTime>();
  /** When each slot began what it is at; undefined while it has nothing. */
  const busySince: (number | undefined)[] = Array.from({ length: options.slots }, () => undefined);
  /** Slots that last looked for work found none. */
  const without = new Set<number>();

  const work = async (number: number): Promise<boolean> => {
    let holdsCopying = copying < most;
    const kinds: JobKind[][] = !holdsCopying ? [['read']] : options.slots > 1 ? [['pdf-copy'], ['read']] : [['read', 'pdf-copy']];
    if (holdsCopying) copying++;
    const letOthersCopy = (): void => {
      if (holdsCopying) copying--;
      holdsCopying = false;
    };
    try {
      return await workOnce(deps, stopping.signal, {
        kinds,
        times,
        onJob(job) {
          busySince[number] = performance.now();
          if (job === null) without.add(number);
          else without.delete(number);
          if (job?.kind !== 'pdf-copy') letOthersCopy();
        },
        onConverted: letOthersCopy,
      });
    } finally {
      busySince[number] = undefined;
      letOthersCopy();
    }
  };
  const workExpress = async (): Promise<boolean> => {
    const now = performance.now();
    if (!busySince.every((since) => since !== undefined && now - since > EXPRESS_AFTER_MS)) return false;
    return workOnce(deps, stopping.signal, { kinds: [['read']], mostBytes: LIGHT_BYTES, times });
  };
  const workSecondCopy = async (): Promise<boolean> => {
    if (copying !== 1 || without.size === 0) return false;
    return workOnce(deps, stopping.signal, { kinds: [['pdf-copy']], times });
  };
  const slot = async (once: () => Promise<boolean>): Promise<void> => {
    while (!stopping.signal.aborted) {
      let worked = false;
      try {
        worked = await once();
      } catch (error) {
        deps.log.warn({ err: error }, 'the queue could not be read');
        await sleep(1_000, undefined, { signal: stopping.signal }).catch(() => {});
      }
      if (!worked && !stopping.signal.aborted) await idle();
    }
  };
  let waiting: Promise<void> | null = null;
  const idle = (): Promise<void> =>
    (waiting ??= new Promise<void>((resolve) => {
      const timer = setTimeout(done, IDLE_MS);
      function done(): void {
        clearTimeout(timer);
        waiting = null;
        resolve();
      }
      wakeUp = done;
    }));
  const running = [...busySince.map((_, number) => slot(() => work(number))), slot(workExpress), slot(workSecondCopy)];
  return {
    wake: () => wakeUp(),
    async stop() {
      stopping.abort();
      wakeUp();
      await Promise.all(running);
    },
  };
}

/** Of copies at a time: one is read and indexed while LibreOffice is at the next. */
const mostCopies = (slots: number): number => (slots > 2 ? 2 : 1);

export interface Taking {
  /** The first that there is work of; kinds beside each other in the queue's order. Default: all. */
  kinds?: JobKind[][];
  /** Only of files up to this size. */
  mostBytes?: number;
  /** Called with the job that was taken, before it is run, or null. */
  onJob?(job: JobRow | null): void;
  /** Called when a copy's job goes on without LibreOffice, for long. */
  onConverted?(): void;
  /** What jobs that will be tried again have used of their time, by job. */
  times?: Map<number, FileTime>;
}

/** One job from the queue to its end; false when there was none. Exported for tests that drive the queue by hand. */
export async function workOnce(deps: ProcessingDeps, stop: AbortSignal, { kinds = [['read', 'pdf-copy']], mostBytes, onJob, onConverted, times = new Map() }: Taking = {}): Promise<boolean> {
  const job = await takeJob(deps, kinds, mostBytes);
  onJob?.(job);
  return job === null ? false : runJob(deps, job, stop, times, () => onConverted?.());
}

async function takeJob(deps: ProcessingDeps, kinds: JobKind[][], mostBytes: number | undefined): Promise<JobRow | null> {
  if ((await deps.storage.jobs.countOpen()) === 0) return null;
  if (deps.hasRoom && !(await deps.hasRoom())) return null;
  const token = randomBytes(16).toString('hex');
  for (const each of kinds) {
    const job = await deps.storage.jobs.lease(each, deps.clock.now(), LEASE_MS, token, mostBytes);
    if (job !== null) return job;
  }
  return null;
}

async function runJob(deps: ProcessingDeps, job: JobRow, stop: AbortSignal, times: Map<number, FileTime>, onConverted: () => void): Promise<boolean> {
  const token = job.leaseToken ?? '';
  if (job.attempt > ATTEMPTS) {
    await endUnreadable(deps, job, 'three attempts');
    return true;
  }
  const time = times.get(job.ref) ?? createFileTime(deps.limits.readMs ?? READ_MS);
  times.delete(job.ref);
  const lost = new AbortController();
  const signal = AbortSignal.any([stop, lost.signal]);
  const heartbeat = setInterval(() => {
    deps.storage.jobs.extend(job.ref, token, deps.clock.now() + LEASE_MS).then(
      (ours) => {
        if (!ours) lost.abort(new LeaseLost());
      },
      (error: unknown) => deps.log.warn({ err: error, job: job.ref }, 'lease not extended'),
    );
  }, HEARTBEAT_MS);
  try {
    await handlers[job.kind](deps, job, signal, time, onConverted);
  } catch (error) {
    if (lost.signal.aborted || error instanceof LeaseLost) return true;
    if (stop.aborted) await deps.storage.jobs.putBack(job.ref, token, deps.clock.now());
    else if (await tryAgain(deps, job, error, time)) times.set(job.ref, time);
  } finally {
    clearInterval(heartbeat);
  }
  return true;
}

/** True when there will be another attempt: not after the third, nor when the attempts so far took the time that the file has. */
async function tryAgain(deps: ProcessingDeps, job: JobRow, error: unknown, time: FileTime): Promise<boolean> {
  deps.log.warn({ err: error, job: job.ref, kind: job.kind, attempt: job.attempt }, 'a job did not succeed');
  if (job.attempt >= ATTEMPTS || time.leftMs() === 0) {
    await endUnreadable(deps, job, job.attempt >= ATTEMPTS ? 'three attempts' : 'the time that one file may take');
    return false;
  }
  const message = error instanceof Error ? error.message : String(error);
  await deps.storage.jobs.retry(job.ref, job.leaseToken ?? '', deps.clock.now() + (RETRY_MS[job.attempt] ?? 0), message);
  return true;
}

/** Attempts or time are used up, by errors of ours or by a file that took the worker down each time. */
async function endUnreadable(deps: ProcessingDeps, job: JobRow, what: 'three attempts' | 'the time that one file may take'): Promise<void> {
  const document = await deps.storage.documents.byRef(job.document);
  if (!document) return;
  try {
    if (job.kind === 'read') {
      await giveUp(deps, job, document, 'failed', `It could not be read in ${what} — process it again, or upload it in another format`);
    } else {
      await giveUpCopy(deps, job, document, `the conversion did not succeed in ${what} — upload it as a PDF to see its pages`);
    }
  } catch (error) {
    // Replaced or cancelled meanwhile: whoever did that has queued what is to come.
    if (!(error instanceof LeaseLost)) throw error;
  }
}
