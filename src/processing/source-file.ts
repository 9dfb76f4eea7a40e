import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sweptPrefix } from '../sandbox/workspace.ts';
import { typeOfMime } from '../library/file-types.ts';
import type { BlobStore, DocumentRow, Stores } from '../storage/ports.ts';
import type { SourceFile } from './ports.ts';

/** The file that the document's present pages were read from: its own, or the one that it took the place of and whose pages still serve. */
export async function fileOfPages(stores: Pick<Stores, 'files'>, document: DocumentRow): Promise<{ sha256: string; type: string }> {
  const before = await stores.files.get(document.ref, 'replaced');
  return before === null ? document : { sha256: before.sha256, type: typeOfMime(before.mime, document.type) };
}

/** Runs `work` with a blob as a local file; released whatever happens. */
export async function withBlobFile<T>(
  blobs: BlobStore,
  file: { sha256: string; name: string; owner: number },
  work: (file: SourceFile) => Promise<T>,
): Promise<T> {
  const local = await blobs.localPath(file.sha256);
  try {
    const { size } = await stat(local.path);
    return await work({ path: local.path, bytes: size, name: file.name, owner: String(file.owner) });
  } finally {
    await local.release();
  }
}

/** The same for bytes that are no blob yet (a PDF copy that is read before it is stored). */
export async function withBytesAsFile<T>(bytes: Uint8Array, owner: string, name: string, work: (file: SourceFile) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), sweptPrefix()));
  try {
    const path = join(folder, 'file');
    await writeFile(path, bytes, { mode: 0o600 });
    return await work({ path, bytes: bytes.byteLength, name, owner });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
