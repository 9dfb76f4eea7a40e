import { newId } from '../access/random-text.ts';
import { AppError } from '../errors.ts';
import type { BlobStore, DocumentRow, FolderRow, JobKind, Stores } from '../storage/ports.ts';
import type { LibraryDeps } from './deps.ts';
import { mimeOf } from './file-types.ts';
import { cleanFileName, typeByName } from './names.ts';

export interface NewDocument {
  folder: Pick<FolderRow, 'ref' | 'owner'>;
  /** As it came; cleaned here. */
  name: string;
  blob: { sha256: string; bytes: number };
  preset: string;
  uploadedBy: number;
  /** The archive or mail that it came out of. */
  container: number | null;
}

/** Row, original file and `read` job of a document whose blob is in place, inside the caller's transaction. */
export async function insertDocument(stores: Stores, deps: Pick<LibraryDeps, 'blobs' | 'clock' | 'random'>, file: NewDocument): Promise<DocumentRow> {
  await requireBlob(deps.blobs, file.blob.sha256);
  const name = cleanFileName(file.name);
  const now = deps.clock.now();
  const row: Omit<DocumentRow, 'ref' | 'title' | 'trashedAt'> = {
    id: newId(deps.random),
    folder: file.folder.ref,
    owner: file.folder.owner,
    name,
    type: typeByName(name),
    preset: file.preset,
    status: 'processing',
    reason: null,
    notices: [],
    progress: null,
    ...file.blob,
    pages: null,
    pagesEstimated: false,
    pagesToView: [],
    imageOnlyPages: [],
    pdfCopy: 'none',
    uploadedAt: now,
    uploadedBy: file.uploadedBy,
    generation: 1,
    container: file.container,
  };
  const document: DocumentRow = { ...row, ref: await stores.documents.insert(row), title: null, trashedAt: null };
  await putOriginal(stores, document, now);
  await enqueueRead(stores, document, now);
  return document;
}

/** A `read` job for the document's present file and generation. */
export const enqueueRead = (stores: Pick<Stores, 'jobs'>, document: DocumentRow, now: number): Promise<void> => enqueue(stores, 'read', document, now);

/** A job for its PDF copy; the caller says `making`. */
export const enqueueCopy = (stores: Pick<Stores, 'jobs'>, document: DocumentRow, now: number): Promise<void> => enqueue(stores, 'pdf-copy', document, now);

async function enqueue(stores: Pick<Stores, 'jobs'>, kind: JobKind, document: DocumentRow, now: number): Promise<void> {
  await stores.jobs.enqueue({
    kind,
    document: document.ref,
    generation: document.generation,
    owner: document.owner,
    weight: document.bytes,
    availableAt: now,
    createdAt: now,
  });
}

/** The same bytes may have been purged elsewhere between writing the blob and this transaction: never a row without a blob. */
export async function requireBlob(blobs: BlobStore, sha256: string): Promise<void> {
  if (await blobs.has(sha256)) return;
  throw new AppError('busy', 'The same file was being deleted at this moment — upload it again', { retryAfterSeconds: 1 });
}

export async function putOriginal(stores: Stores, document: DocumentRow, now: number): Promise<void> {
  await stores.files.put({
    document: document.ref,
    kind: 'original',
    name: document.name,
    mime: mimeOf(document.type),
    sha256: document.sha256,
    bytes: document.bytes,
    createdAt: now,
  });
}
