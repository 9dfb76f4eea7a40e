import type { Storage } from '../storage/ports.ts';
import type { AccessDeps } from './deps.ts';

/**
 * Which keys and login tokens there are, by their hashes: asked only for addresses that have sent too many wrong ones, so that a flood
 * of guesses costs no look-up each (P19), and whoever has a good one is let in from there all the same. A hint only: a credential that
 * is known here is then looked up as always.
 */

/** A key that was made a moment ago may have to wait so long, and only behind an address that is being flooded. */
const LOAD_EVERY_MS = 5_000;
/** Rows are written a little after the time that they carry. */
const SLACK_MS = 60_000;
/** What has gone meanwhile is dropped so often. */
const START_OVER_MS = 3_600_000;

interface Known {
  hashes: Set<string>;
  startedAt: number;
  loadedAt: number;
  loading: Promise<void> | null;
}

const known = new WeakMap<Storage, Known>();

export async function isKnownCredential(deps: Pick<AccessDeps, 'storage' | 'clock'>, hash: string): Promise<boolean> {
  const { storage, clock } = deps;
  const now = clock.now();
  let state = known.get(storage);
  if (state === undefined || now - state.startedAt > START_OVER_MS || now < state.loadedAt) {
    state = { hashes: new Set(), startedAt: now, loadedAt: -Infinity, loading: null };
    known.set(storage, state);
  }
  const present = state;
  if (now - present.loadedAt >= LOAD_EVERY_MS) {
    present.loading ??= load(storage, present, now).finally(() => (present.loading = null));
    await present.loading;
  }
  return present.hashes.has(hash);
}

/** Revoked, ended, or of somebody who is disabled: no more welcome than one that never was. */
export function forgetCredential(storage: Storage, hash: string): void {
  known.get(storage)?.hashes.delete(hash);
}

async function load(storage: Storage, state: Known, now: number): Promise<void> {
  const since = Math.max(0, state.loadedAt - SLACK_MS);
  for (const hash of await storage.keys.hashesSince(since)) state.hashes.add(hash);
  for (const hash of await storage.sessions.hashesSince(since)) state.hashes.add(hash);
  state.loadedAt = now;
}
