/**
 * A PDF of very many pages and a large scan, side by side, and a one-page file right behind them. 500 pages and a scan of 40 pages;
 * `npm run durability` takes the whole: 2,000 pages, and 184 pages of 80 MB.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { line, lines, makePdf, scanPage } from '../../src/formats/pdf/testing/pdf-writer.ts';
import { firstAdmin, processed, type Admin } from '../support/api-client.ts';
import { mib, residentBytes, sandboxed, workerOf } from '../support/process-watch.ts';
import { startSergo, type RunningSergo } from '../support/running-sergo.ts';

const whole = process.env.LARGE_PDFS === '1';
const [PAGES, SCANS] = whole ? [2_000, 184] : [500, 40];
const MOST_CHILD_BYTES = 2 ** 30;
const MOST_OURS_BYTES = 600 * 2 ** 20;

let sergo: RunningSergo;
let admin: Admin;
beforeAll(async () => {
  sergo = await startSergo();
  admin = await firstAdmin(sergo);
});
afterAll(() => sergo.stop());

const words = 'harbour tonnage forecast turbine auction reserve capacity outlook demand scenario price winter storage pipeline refinery'.split(' ');

function manyPages(): Buffer {
  return makePdf({
    pages: Array.from({ length: PAGES }, (_, number) => ({
      content: line(`Chapter of page ${number + 1}`, 72, 740, 16) + lines(Array.from({ length: 40 }, (_, row) => Array.from({ length: 11 }, (_, at) => words[(number * 7 + row * 3 + at * at) % words.length]).join(' '))),
    })),
  });
}

/** Each page a grey A4 picture of 150 dpi with the noise of a scanner: about 440 KB. */
async function scan(): Promise<Buffer> {
  const [width, height] = [1_240, 1_754];
  const pictures = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const grain = randomBytes(width * height);
      for (let at = 0; at < grain.length; at++) grain[at] = 200 + (grain[at]! >> 3);
      return sharp(grain, { raw: { width, height, channels: 1 } }).jpeg({ quality: 84 }).toBuffer();
    }),
  );
  return makePdf({ pages: Array.from({ length: SCANS }, (_, at) => scanPage(pictures[at % pictures.length]!, width, height, 150)) });
}

test(`${PAGES} pages and a scan of ${SCANS} pages go through, and a one-page file does not wait for them`, { timeout: 300_000 }, async () => {
  const files = { 'many.pdf': manyPages(), 'scan.pdf': await scan() };
  const worker = workerOf(sergo.pid)!;
  const most = { ours: 0, child: 0 };
  let watching = true;
  const watch = (async () => {
    for (; watching; await sleep(100)) {
      most.ours = Math.max(most.ours, residentBytes(sergo.pid) + residentBytes(worker));
      for (const { pid } of sandboxed(sergo.pid)) most.child = Math.max(most.child, residentBytes(pid));
    }
  })();
  const began = performance.now();
  const finish = async (name: string, bytes: Uint8Array | string) => {
    const { status, body } = await admin.api.upload(admin.folderId, { [name]: bytes });
    if (status !== 202) throw new Error(`${name} answered ${status}`);
    const sent = performance.now();
    return async () => {
      const document = await processed(admin.api, body.documents[0].id, 240_000);
      return { document, at: performance.now() - began, tookMs: performance.now() - sent };
    };
  };
  const waits = [await finish('many.pdf', files['many.pdf']), await finish('scan.pdf', files['scan.pdf']), await finish('one.pdf', makePdf({ pages: [{ content: line('One page only', 72, 700) }] }))];
  const [many, scanned, one] = await Promise.all(waits.map((wait) => wait()));
  watching = false;
  await watch;
  console.log(
    `Large PDFs: ${PAGES} pages (${mib(files['many.pdf'].length)}) ready after ${Math.round(many!.tookMs)} ms, a scan of ${SCANS} pages (${mib(files['scan.pdf'].length)}) after ${Math.round(scanned!.tookMs)} ms, ` +
      `one page uploaded behind them after ${Math.round(one!.tookMs)} ms; a child at most ${mib(most.child)}, serve and worker together ${mib(most.ours)}`,
  );
  expect(many!.document).toMatchObject({ status: 'ready', pages: PAGES, pagesEstimated: false, imageOnlyPages: [] });
  expect(scanned!.document).toMatchObject({ status: 'not_indexed', pages: SCANS, imageOnlyPages: Array.from({ length: SCANS }, (_, at) => at + 1) });
  expect(one!.document).toMatchObject({ status: 'ready', pages: 1 });
  for (const number of [1, Math.floor(PAGES / 2), PAGES]) {
    const { body } = await admin.api.get(`/documents/${many!.document.id}/pages/${number}`);
    expect(body).toMatchObject({ fate: 'text', text: expect.stringMatching(new RegExp(`^Chapter of page ${number}\n`)) });
  }
  const last = await admin.api.raw(`/documents/${scanned!.document.id}/pages/${SCANS}.png`);
  expect(last.status).toBe(200);
  expect(most.child).toBeLessThan(MOST_CHILD_BYTES);
  expect(most.ours).toBeLessThan(MOST_OURS_BYTES);
  // Both large ones have a slot each by then: without an express lane the small one would be the last.
  if (whole) expect(one!.at).toBeLessThan(many!.at);
});
