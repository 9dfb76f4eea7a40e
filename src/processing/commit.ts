import type { ReadResult } from '../formats/types.ts';
import type { DocumentRow, JobRow, PageRow, Stores } from '../storage/ports.ts';
import { isDocumentLive } from '../library/liveness.ts';
import { LeaseLost, type ProcessingDeps } from './deps.ts';
import { hasText, reasonWithoutText, summarisePages } from './page-text.ts';
import { reindexTitle } from './reindex.ts';

/** Everything a run wants to be true of its document, made ready before the transaction so that the lock is held briefly. */
export interface PreparedPages {
  result: ReadResult;
  chunks: ReturnType<ProcessingDeps['excerpts']['chunk']>;
  analysed: unknown;
}

export async function preparePages(deps: ProcessingDeps, document: DocumentRow, result: ReadResult): Promise<PreparedPages> {
  const folder = await deps.storage.folders.byRef(document.folder);
  const chunks = deps.excerpts.chunk(result);
  const title = result.title ? { title: result.title } : {};
  const analysed = await deps.excerpts.analyse({ name: document.name, folderName: folder?.name ?? '', ...title }, chunks);
  return { result, chunks, analysed };
}

/** Ends the job under its lease or throws LeaseLost, which rolls the whole transaction back. */
export async function endJob(stores: Stores, deps: ProcessingDeps, job: JobRow, state: 'done' | 'failed', error: string | null): Promise<void> {
  if (!(await stores.jobs.finish(job.ref, job.leaseToken ?? '', state, error, deps.clock.now()))) throw new LeaseLost();
}

/** Swaps in pages, excerpts, index rows and status: the old ones serve until this transaction commits. */
export async function writePages(stores: Stores, document: DocumentRow, prepared: PreparedPages): Promise<Partial<DocumentRow>> {
  const { result } = prepared;
  // Read again inside the transaction: it may have been renamed, moved or trashed while it was being read.
  const now = await stores.documents.byRef(document.ref);
  if (!now || now.generation !== document.generation) throw new LeaseLost();
  const live = await isDocumentLive(stores, now);
  const title = result.title || null;
  await stores.pages.replace(document.ref, result.pages.map(toPageRow));
  await stores.index.replace({
    document: document.ref,
    documentId: now.id,
    folder: now.folder,
    live,
    title: title ?? now.name,
    chunks: prepared.chunks.map(({ position, page, section, text }) => ({ position, page, section, text })),
    analysed: prepared.analysed,
  });
  // Its words were made of the name it had when the reading began.
  if (now.name !== document.name) await reindexTitle(stores, { ...now, title });
  const readable = hasText(result);
  const change: Partial<DocumentRow> = {
    type: result.type,
    title,
    status: readable ? 'ready' : 'not_indexed',
    reason: readable ? null : reasonWithoutText(result, now.preset),
    notices: result.notices ?? [],
    progress: null,
    pagesEstimated: result.pagesEstimated,
    ...summarisePages(result),
  };
  await stores.documents.update(document.ref, change);
  return change;
}

/** What the pages that are there make of a document whose work ended without new ones. */
export async function statusOfPages(stores: Pick<Stores, 'pages'>, document: DocumentRow): Promise<Pick<DocumentRow, 'status' | 'reason' | 'progress'>> {
  const old = { type: document.type, pages: await stores.pages.range(document.ref, 1, document.pages ?? 0) };
  const readable = hasText(old);
  return { status: readable ? 'ready' : 'not_indexed', reason: readable ? null : reasonWithoutText(old, document.preset), progress: null };
}

function toPageRow(page: ReadResult['pages'][number]): Omit<PageRow, 'document'> {
  return {
    number: page.number,
    text: page.text,
    fate: page.fate,
    toView: page.toView,
    width: page.width ?? null,
    height: page.height ?? null,
    sections: page.sections ?? [],
    notes: page.notes ?? null,
    hidden: page.hidden ?? null,
  };
}
