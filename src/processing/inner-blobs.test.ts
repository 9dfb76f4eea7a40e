import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openDiskBlobs } from '../storage/blobs/disk.ts';
import type { BlobStore, DocumentRow } from '../storage/ports.ts';
import { collectInnerFiles } from './inner-blobs.ts';

let folder: string;
let blobs: BlobStore;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sergo-inner-'));
  blobs = await openDiskBlobs({ folder });
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Hands these files on as a reading does, in pieces of four bytes. */
async function collect(room: { files: number; bytes: number } | null, files: Record<string, string>) {
  const inside = await collectInnerFiles({ blobs, roomInside: async () => room }, {} as DocumentRow);
  for (const [name, content] of Object.entries(files)) {
    const taker = inside.take(name);
    for (let at = 0; at < content.length; at += 4) await taker.write(Buffer.from(content.slice(at, at + 4)));
    await taker.end(true);
  }
  const found = await inside.files();
  return { names: found.map((file) => file.path), bytes: found.map((file) => file.blob.bytes), notices: inside.notices() };
}

test('files are taken as long as there is room for files and bytes, the others are left with a notice', async () => {
  const files = { a: 'eight...', b: 'eight...', c: 'eight...' };
  expect(await collect({ files: 10, bytes: 100 }, files)).toEqual({ names: ['a', 'b', 'c'], bytes: [8, 8, 8], notices: [] });
  const one = [expect.stringMatching(/^1 files inside were left inside: with what else came out/)];
  expect(await collect({ files: 2, bytes: 100 }, files)).toEqual({ names: ['a', 'b'], bytes: [8, 8], notices: one });
  // The third passes the limit half-way: nothing of it stays.
  expect(await collect({ files: 10, bytes: 20 }, files)).toEqual({ names: ['a', 'b'], bytes: [8, 8], notices: one });
  expect((await collect({ files: 0, bytes: 20 }, files)).notices).toEqual([expect.stringMatching(/^3 files inside/)]);
  expect(await collect(null, files)).toEqual({ names: [], bytes: [], notices: [expect.stringMatching(/^3 files inside were left inside, because it came out of another file/)] });
});
