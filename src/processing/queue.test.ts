/** Who waits for whom, and what a worker's death costs the files that were not its cause. */
import { Readable } from 'node:stream';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openTestLibrary, type TestLibrary } from '../../test/support/library.ts';
import type { UserActor } from '../access/actor.ts';
import type { ReadResult } from '../formats/types.ts';
import { analyseDocument } from '../search/analysis/document.ts';
import type { ProcessingDeps } from './deps.ts';
import { startWorker, type Worker } from './worker.ts';

let lib: TestLibrary;
let ava: UserActor & { rootId: string };
let worker: Worker | undefined;
beforeEach(async () => {
  lib = await openTestLibrary({ realIndex: true });
  ava = await lib.person('Ava Bennett');
});
afterEach(async () => {
  await worker?.stop();
  worker = undefined;
  await lib.close();
});

const text = (name: string): ReadResult => ({ type: 'txt', pages: [{ number: 1, text: name, fate: 'text', toView: false }], pagesEstimated: true });

/** Readers and converters that take as long as the test says. */
function makeDeps(more: { read?: (name: string, signal: AbortSignal) => Promise<ReadResult>; toPdf?: (name: string) => Promise<Uint8Array> }): ProcessingDeps {
  return {
    storage: lib.storage, blobs: lib.blobs, clock: lib.clock,
    reader: { sniff: async (file) => file.name.split('.').pop() ?? null, read: async (type, file, { signal }) => ({ ...(await (more.read ?? (async (name) => text(name)))(file.name, signal)), type }) },
    copies: { missing: () => null, toPdf: async (file) => (more.toPdf ? more.toPdf(file.name) : Buffer.from('%PDF-')) },
    ocr: { missing: async () => undefined, read: async () => new Map(), searchablePdf: async (_file, _pages, _signal, keep) => keep(Readable.from([])) },
    placeInnerFiles: async () => 0,
    roomInside: async () => ({ files: 10_000, bytes: 1 << 30 }),
    excerpts: { chunk: () => [], analyse: async ({ name }, chunks) => analyseDocument({ title: name }, chunks) },
    audit: async () => {},
    limits: { pages: 5_000, unpackedBytes: 1 << 30 },
    log: { info() {}, warn() {} },
  };
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 10));
}
const statusOf = async (id: string): Promise<string | undefined> => (await lib.storage.documents.byId(id))?.status;
const untilAborted = (signal: AbortSignal): Promise<never> => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }));

test('while large files hold every slot, a small one is read beside them', async () => {
  const begun: string[] = [];
  worker = startWorker(
    makeDeps({
      read: async (name, signal) => {
        begun.push(name);
        return name.startsWith('large') ? untilAborted(signal) : text(name);
      },
    }),
    { slots: 2 },
  );
  await lib.upload(ava, ava.rootId, 'large-1.txt');
  await lib.upload(ava, ava.rootId, 'large-2.txt');
  await until(() => begun.length === 2);
  const huge = await lib.upload(ava, ava.rootId, 'large-3.txt', 'x'.repeat(3 * 1024 ** 2));
  const small = await lib.upload(ava, ava.rootId, 'small.txt');
  await until(async () => (await statusOf(small.id)) === 'ready');
  // Which of the first two begins first is up to their slots.
  expect([begun.slice(0, 2).toSorted(), begun.slice(2)]).toEqual([['large-1.txt', 'large-2.txt'], ['small.txt']]);
  expect(await statusOf(huge.id)).toBe('processing');
});

/** A converter of which each conversion ends when the test says so. */
function heldCopies(): { toPdf: () => Promise<Uint8Array>; free: (() => void)[]; running(): number; most(): number } {
  let running = 0;
  let most = 0;
  const free: (() => void)[] = [];
  return {
    free,
    running: () => running,
    most: () => most,
    toPdf: async () => {
      most = Math.max(most, ++running);
      await new Promise<void>((resolve) => free.push(resolve));
      running -= 1;
      return Buffer.from('%PDF-');
    },
  };
}

test('background copies are made two at a time at most, and a slow converter holds no reading up', async () => {
  const copies = heldCopies();
  worker = startWorker(makeDeps({ toPdf: copies.toPdf }), { slots: 2 });
  for (const name of ['a.docx', 'b.docx', 'c.docx']) await lib.upload(ava, ava.rootId, name);
  await until(() => copies.running() === 2);
  const late = await lib.upload(ava, ava.rootId, 'late.txt');
  await until(async () => (await statusOf(late.id)) === 'ready');
  for (let made = 1; made <= 3; made++) {
    await until(() => copies.free.length >= made);
    copies.free[made - 1]!();
  }
  await until(async () => (await lib.storage.jobs.countOpen()) === 0);
  expect(copies.most()).toBe(2);
});

test('while the other slot reads, one background copy is made at a time', async () => {
  const copies = heldCopies();
  let release = (): void => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  let reading = false;
  worker = startWorker(
    makeDeps({
      toPdf: copies.toPdf,
      read: async (name) => {
        if (name !== 'large.txt') return text(name);
        reading = true;
        await held;
        return text(name);
      },
    }),
    { slots: 2 },
  );
  await lib.upload(ava, ava.rootId, 'large.txt', 'x'.repeat(3 * 1024 ** 2));
  await until(() => reading);
  for (const name of ['a.docx', 'b.docx']) await lib.upload(ava, ava.rootId, name);
  await until(async () => copies.running() === 1 && (await lib.storage.jobs.countOpen()) === 3);
  // Longer than a lane waits before it looks again.
  await new Promise((resolve) => setTimeout(resolve, 400));
  expect(copies.running()).toBe(1);
  release();
  await until(() => copies.running() === 2);
  for (const end of copies.free) end();
  await until(async () => (await lib.storage.jobs.countOpen()) === 0);
});

const lease = (token: string) => lib.storage.jobs.lease(['read'], lib.clock.now(), 30_000, token);

test('a file that takes its worker along is found out; those beside it keep their attempts', async () => {
  const poison = await lib.upload(ava, ava.rootId, 'a-poison.txt');
  const innocents: string[] = [];
  for (const name of ['b.txt', 'c.txt', 'd.txt', 'e.txt']) innocents.push((await lib.upload(ava, ava.rootId, name)).id);
  const refOf = async (id: string): Promise<number> => (await lib.storage.documents.byId(id))!.ref;
  const poisonRef = await refOf(poison.id);
  const attempts = async (id: string): Promise<number> => (await lib.storage.jobs.openOfDocument(await refOf(id)))[0]?.attempt ?? 0;
  let deaths = 0;
  // Two slots; whenever the poison is among what runs, the worker dies, and else both end well.
  for (let round = 0; round < 40 && (await attempts(poison.id)) < 3; round++) {
    const running = [await lease(`x${round}`), await lease(`y${round}`)].filter((job) => job !== null);
    if (running.some((job) => job.document === poisonRef)) {
      deaths += 1;
      await lib.storage.jobs.retryAllRunning(lib.clock.now());
    } else for (const job of running) await lib.storage.jobs.finish(job.ref, job.leaseToken!, 'done', null, lib.clock.now());
  }
  expect(deaths).toBe(3);
  for (const id of innocents) expect(await attempts(id)).toBeLessThanOrEqual(1);
});

test('files under suspicion are run one at a time, and after the others', async () => {
  for (const name of ['a.txt', 'b.txt', 'c.txt']) await lib.upload(ava, ava.rootId, name);
  const [first, second] = [await lease('1'), await lease('2')];
  await lib.storage.jobs.retryAllRunning(lib.clock.now());
  const third = await lease('3');
  expect([first!.document, second!.document]).not.toContain(third!.document);
  const suspect = await lease('4');
  expect(suspect!.document).toBe(first!.document);
  expect(await lease('5')).toBeNull();
  await lib.storage.jobs.finish(suspect!.ref, '4', 'done', null, lib.clock.now());
  expect((await lease('6'))!.document).toBe(second!.document);
});
