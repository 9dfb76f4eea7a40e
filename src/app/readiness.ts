import { statfs } from 'node:fs/promises';
import type { Readiness } from '../doors/http-health.ts';
import type { LibraryDeps } from '../library/deps.ts';
import type { SandboxMode } from '../sandbox/index.ts';

const LEAST_FREE_BYTES = 1 << 30;
const LEAST_FREE_SHARE = 0.05;
/** Work that has waited this long means that no worker is taking it. */
const STALE_QUEUE_MS = 15 * 60_000;

/** `/readyz` (trust.md section 6): nothing here names a version or a path. */
export async function checkReadiness(library: LibraryDeps, dataFolder: string, sandbox: SandboxMode, meaning: string): Promise<Readiness> {
  const database = await library.storage.check().then(
    () => ({ ok: true }),
    () => ({ ok: false, detail: 'the database cannot be written' }),
  );
  const disk = await statfs(dataFolder);
  const free = disk.bavail * disk.bsize;
  const enough = free >= LEAST_FREE_BYTES || free >= LEAST_FREE_SHARE * disk.blocks * disk.bsize;
  const oldest = await library.storage.jobs.oldestOpenAt();
  const waited = oldest === null ? 0 : library.clock.now() - oldest;
  const checks = {
    database,
    disk: enough ? { ok: true } : { ok: false, detail: `only ${Math.floor(free / 2 ** 20)} MiB free` },
    queue: waited < STALE_QUEUE_MS ? { ok: true } : { ok: false, detail: `the oldest work has waited ${Math.round(waited / 60_000)} minutes` },
    sandbox: { ok: true, detail: sandbox },
    meaning: { ok: true, detail: meaning },
  };
  return { ready: Object.values(checks).every((check) => check.ok), checks };
}
