/**
 * P21: hostile files through a whole running server. Each ends with pages or with a reason that its owner can act on, its original comes
 * back as it was, and nothing is left behind: no program, no folder, no mount. What it costs others is printed; `npm run bench:hostile`
 * sets it beside the idle server. With HOSTILE_ALL=1 the files that hold LibreOffice until its time is up are there as well.
 */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { firstAdmin, processed, type Admin } from '../support/api-client.ts';
import { makeDocx, makePptx } from '../support/office-fixtures.ts';
import { makePdf } from '../support/pdf-fixture.ts';
import { descendants, mib, residentBytes, workerOf } from '../support/process-watch.ts';
import { startSergo, type RunningSergo } from '../support/running-sergo.ts';
import { percentile } from '../../bench/table.ts';
import { hostileFiles } from './generate.ts';
import { png } from './raw-pictures.ts';
import { leftovers, makeFiles, queueEmpty, runHostile, watchLatency, type HostileEnd } from './run.ts';

const whole = process.env.HOSTILE_ALL === '1';
const MOST_GROWTH_BYTES = 100 * 2 ** 20;
const MOST_SECONDS = 120;

const temporary = mkdtempSync(join(tmpdir(), 'sergo-hostile-'));
let sergo: RunningSergo;
let admin: Admin;
beforeAll(async () => {
  // Shorter than the defaults, so that a file that never ends costs the test less; every end is the same.
  const limits: Record<string, string> = whole ? {} : { SERGO_READ_WALL_SECONDS: '30', SERGO_READ_CPU_SECONDS: '20' };
  sergo = await startSergo({ env: { TMPDIR: temporary, SERGO_RATE_SIGNED_IN: '1000000', ...limits } });
  admin = await firstAdmin(sergo);
});
afterAll(async () => {
  await sergo.stop();
  rmSync(temporary, { recursive: true, force: true });
});

const files = makeFiles(hostileFiles.filter((file) => whole || file.slow !== true));

test(`${files.length} hostile files end with pages or a reason, and leave nothing behind`, { timeout: 900_000 }, async () => {
  // Everything that is kept warm is warm before: what is there afterwards may not be more.
  const warm = { 'warm.pdf': makePdf(['warm']), 'warm.docx': makeDocx(['warm']), 'warm.pptx': makePptx(['warm']), 'warm.png': png(64, 64, 64), 'warm.txt': 'warm words' };
  const { body } = await admin.api.upload(admin.folderId, warm);
  for (const { id } of body.documents) await processed(admin.api, id);
  await queueEmpty(admin.api);
  const before = leftovers(sergo.pid, temporary);
  const worker = workerOf(sergo.pid)!;
  const idleProbe = watchLatency(admin.api);
  await sleep(2_000);
  const idle = await idleProbe.stop();
  const residentBefore = residentBytes(sergo.pid);

  const probe = watchLatency(admin.api);
  const ends: HostileEnd[] = await runHostile(admin.api, admin.folderId, files, 3);
  await queueEmpty(admin.api, 300_000);
  const during = await probe.stop();

  const wrong = ends.filter(({ file, end, seconds, whole: same, status }) => !file.ends.test(end) || seconds > MOST_SECONDS || !same || status === 'failed' || status === 'processing');
  expect(wrong.map(({ file, status, end, seconds, whole: same }) => ({ name: file.name, status, end, seconds, same }))).toEqual([]);
  // Nothing of the machine, the programs or our code is in what people are told.
  for (const { end, notices } of ends) expect([end, ...notices].join(' ')).not.toMatch(/\/(tmp|usr|home|root|work)\b|node_modules|Error:|SIG[A-Z]{3,}|undefined|\bat \S+:\d+/);

  const growth = residentBytes(sergo.pid) - residentBefore;
  const slowest = ends.toSorted((a, b) => b.seconds - a.seconds)[0]!;
  console.log(
    `P21: ${ends.length} hostile files, ${ends.filter((end) => end.status === 'ready').length} ready, slowest ${slowest.file.name} ${slowest.seconds.toFixed(1)} s; ` +
      `server grew by ${mib(growth)}; light request p99 ${percentile(idle, 0.99).toFixed(1)} ms idle, ${percentile(during, 0.99).toFixed(1)} ms during (${during.length} requests, most ${Math.max(...during).toFixed(0)} ms)`,
  );
  expect(growth).toBeLessThan(MOST_GROWTH_BYTES);
  // The worker lived through all of it.
  expect(workerOf(sergo.pid)).toBe(worker);

  const after = leftovers(sergo.pid, temporary);
  // A second LibreOffice and a second picture reader may still be warm for the moment.
  expect(after.sandboxes).toBeLessThanOrEqual(before.sandboxes + 2);
  expect(after.folders.length).toBeLessThanOrEqual(after.sandboxes);
  expect(after.mounts).toBe(before.mounts);
  expect(readdirSync(join(sergo.dataFolder, 'blobs/incoming'))).toEqual([]);
  const all = descendants(sergo.pid).map((each) => each.pid);
  await sergo.stop();
  expect(readdirSync(temporary)).toEqual([]);
  const alive = all.filter((pid) => descendants(1).some((each) => each.pid === pid));
  expect(alive).toEqual([]);
});
