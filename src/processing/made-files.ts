import { forgetDrawings } from '../library/purging.ts';
import type { FileKind, FileRow, PdfCopyState, Stores } from '../storage/ports.ts';

type MadeKind = Exclude<FileKind, 'original'>;

/** Puts a file that was made of a document. Answers the blobs that nothing names any more: its predecessor and what was drawn of that. */
export async function putFile(stores: Stores, file: Omit<FileRow, 'ref'> & { kind: MadeKind }): Promise<string[]> {
  const before = await stores.files.get(file.document, file.kind);
  await stores.files.put(file);
  return before === null ? [] : forgetDrawings(stores, [before.sha256]);
}

/** The same for a file that is not made any more. */
export async function dropFile(stores: Stores, document: number, kind: MadeKind): Promise<string[]> {
  const before = await stores.files.get(document, kind);
  if (before === null) return [];
  await stores.files.removeKind(document, kind);
  return forgetDrawings(stores, [before.sha256]);
}

/** What is true of the PDF copy once the job at hand has ended: one is waited for, there is one, or none. */
export async function copyState(stores: Stores, document: number): Promise<PdfCopyState> {
  if ((await stores.jobs.openOfDocument(document)).some((job) => job.kind === 'pdf-copy')) return 'making';
  return (await stores.files.get(document, 'pdf-copy')) === null ? 'none' : 'ready';
}
