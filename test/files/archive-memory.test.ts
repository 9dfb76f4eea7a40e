/** Unpacking is a stream: what an archive or a mail holds passes through the worker in pieces, however much it is. */
import { Readable } from 'node:stream';
import { Zip, ZipDeflate } from 'fflate';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { firstAdmin, processed, type Admin, type Json } from '../support/api-client.ts';
import { mib, mostResidentBytes, workerOf } from '../support/process-watch.ts';
import { startSergo, type RunningSergo } from '../support/running-sergo.ts';

const FILES = 4;
const FILE_BYTES = 100 * 2 ** 20;

let sergo: RunningSergo;
let admin: Admin;
beforeAll(async () => {
  sergo = await startSergo();
  admin = await firstAdmin(sergo);
});
afterAll(() => sergo.stop());

/** Each file is other bytes of its size, and packs about 100 to 1: a small upload that is much when it is unpacked. */
function packedPieces(): Uint8Array[] {
  const packed: Uint8Array[] = [];
  const zip = new Zip((error, piece) => {
    if (error) throw error;
    packed.push(piece);
  });
  for (let number = 0; number < FILES; number++) {
    const entry = new ZipDeflate(`measurements-${number}.bin`, { level: 1 });
    zip.add(entry);
    const piece = new Uint8Array(2 ** 20).fill(number + 1);
    for (let at = 0; at < piece.length; at += 512) piece[at] = at % 251;
    // A byte that no text has: the files are told to be of no kind that is read, at once.
    piece.set([0, 1, 2, 0, 255]);
    for (let bytes = 0; bytes < FILE_BYTES; bytes += piece.length) entry.push(piece, bytes + piece.length >= FILE_BYTES);
  }
  zip.end();
  return packed;
}

test(`an archive that unpacks to ${mib(FILES * FILE_BYTES)} never lies in the worker's memory`, { timeout: 180_000 }, async () => {
  const worker = workerOf(sergo.pid)!;
  const before = mostResidentBytes(worker);
  const archive = Buffer.concat(packedPieces());
  const { status, body } = await admin.api.upload(admin.folderId, { 'measurements.zip': archive });
  expect(status).toBe(202);
  expect(await processed(admin.api, body.documents[0].id)).toMatchObject({ type: 'zip', status: 'ready' });
  const { body: root } = await admin.api.get(`/folders/${admin.folderId}`);
  const { body: inside } = await admin.api.get(`/folders/${root.folders[0].id}`);
  expect(inside.documents.map((document: Json) => [document.name, document.bytes])).toEqual(
    Array.from({ length: FILES }, (_, number) => [`measurements-${number}.bin`, FILE_BYTES]),
  );
  for (const { id } of inside.documents) expect((await processed(admin.api, id)).status).toBe('not_indexed');
  expect(workerOf(sergo.pid)).toBe(worker);
  const most = mostResidentBytes(worker);
  console.log(`Archive of ${mib(archive.length)} that unpacks to ${mib(FILES * FILE_BYTES)}: worker ${mib(before)} before, ${mib(most)} at most`);
  // Less than two of its files: a worker that held even one whole, and its copy, would be over it.
  expect(most).toBeLessThan(before + 1.5 * FILE_BYTES);

  const response = await admin.api.raw(`/documents/${inside.documents[2].id}/file`);
  let bytes = 0;
  for await (const piece of Readable.fromWeb(response.body as never) as AsyncIterable<Uint8Array>) bytes += piece.length;
  expect(bytes).toBe(FILE_BYTES);
});
