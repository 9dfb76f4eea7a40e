import { AppError } from '../errors.ts';
import type { Stores } from '../storage/ports.ts';
import type { LibraryDeps } from './deps.ts';

/** Room in the queue: better an early no than a queue that only grows (P31). */

const busySeconds = 30;
/** What came out of archives is counted once in so long, and only while much waits. */
const COUNT_MS = 1_000;

/** Requests that were let in and whose files are not in the queue yet: they count as waiting, or a thousand at once would all get in. */
const underWay = new WeakMap<LibraryDeps['storage'], number>();
const unpacked = new WeakMap<LibraryDeps['storage'], { jobs: number; at: number }>();

type RoomDeps = Pick<LibraryDeps, 'limits' | 'storage' | 'clock'>;

/** AppError busy with Retry-After when as much waits as may. `owner`: whose work it would be. */
export async function requireRoomInQueue(deps: RoomDeps, stores: Pick<Stores, 'jobs'>, owner: number): Promise<void> {
  await takeRoom(deps, stores, owner, () => 0, () => undefined);
}

/** The same for an upload that is on its way, which counts as waiting from here on; answers a function to call when it has ended. */
export async function reserveRoomInQueue(deps: RoomDeps, owner: number): Promise<() => void> {
  const { storage } = deps;
  const coming = (): number => underWay.get(storage) ?? 0;
  return takeRoom(deps, storage, owner, coming, () => {
    underWay.set(storage, coming() + 1);
    return once(() => underWay.set(storage, coming() - 1));
  });
}

/**
 * Runs `take` if there is room, without waiting for anything after the last count. What came out of archives and mails counts for its
 * owner alone: somebody's archives of thousands of files must not shut out everybody.
 */
async function takeRoom<T>(deps: RoomDeps, stores: Pick<Stores, 'jobs'>, owner: number, coming: () => number, take: () => T): Promise<T> {
  const most = deps.limits.maxOpenJobs;
  let open = await stores.jobs.countOpen();
  if (open + coming() >= most) {
    const [own, inner] = [await stores.jobs.countOpenOf(owner), await countUnpacked(deps, stores)];
    if (own >= most) throw queueFull(own);
    open = (await stores.jobs.countOpen()) - inner;
    if (open + coming() >= most) throw queueFull(open + coming());
  }
  return take();
}

async function countUnpacked({ storage, clock }: RoomDeps, stores: Pick<Stores, 'jobs'>): Promise<number> {
  const known = unpacked.get(storage);
  if (known && Math.abs(clock.now() - known.at) < COUNT_MS) return known.jobs;
  const jobs = await stores.jobs.countOpenUnpacked();
  unpacked.set(storage, { jobs, at: clock.now() });
  return jobs;
}

const queueFull = (waiting: number): AppError =>
  new AppError('busy', `${waiting} files are waiting to be processed, as many as may wait — try again later`, { retryAfterSeconds: busySeconds });

function once(work: () => void): () => void {
  let done = false;
  return () => {
    if (!done) work();
    done = true;
  };
}
