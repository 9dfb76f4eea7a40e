import { AppError } from '../errors.ts';
import { UnreadableFile } from '../formats/types.ts';
import type { BlobStore, DocumentRow, Storage } from '../storage/ports.ts';
import type { PageDrawer } from './ports.ts';
import { createRecentDrawings } from './recent-drawings.ts';
import { fileOfPages, withBlobFile } from './source-file.ts';
import { wayOf } from './ways.ts';

export interface ViewDeps {
  storage: Storage;
  blobs: BlobStore;
  drawer: PageDrawer;
}

/** Of pictures that were just looked at, beside which they are kept as base64: about 40 pages, 14 MiB in all. */
const RECENT_BYTES = 6 * 1024 ** 2;

/** Sentences of the contract (seeds/000 view_page, DESIGN.md section 5). */
export const NO_PAGE_VIEW = 'No page view for this file — it was read without a PDF copy. A person can make one in the console (Make a PDF copy).';
export const COPY_STILL_MADE = 'The PDF copy of this file is still being made — try again in a moment';

export type PageViewState = 'ready' | 'making' | 'none';

/** The blob of the PDF that pages are drawn from (the file itself, or its copy), or null. */
async function drawableFile(storage: Storage, document: DocumentRow): Promise<string | null> {
  const read = await fileOfPages(storage, document);
  if (wayOf(read.type).copy === 'itself') return read.sha256;
  return (await storage.files.get(document.ref, 'pdf-copy'))?.sha256 ?? null;
}

/** Whether there is something to look at: now, in a moment, or not at all. */
export async function pageViewState(storage: Storage, document: DocumentRow): Promise<PageViewState> {
  if ((await drawableFile(storage, document)) !== null) return 'ready';
  const coming = document.pdfCopy === 'making' || (document.status === 'processing' && !['none', 'asked'].includes(wayOf(document.type).copy));
  return coming ? 'making' : 'none';
}

export interface PageViewer {
  /** AppError not_ready with the contract's sentence when there is no PDF to draw from. */
  view(document: DocumentRow, page: number, kind: 'png' | 'pdf'): Promise<Uint8Array>;
}

/**
 * One page as a PNG (110 dpi, longer side at most 1,568 px) or as a one-page PDF. Drawn once per (file, page, kind) and kept
 * as a blob; callers that ask for the same page at the same time share one drawing. Rights are the caller's to check first.
 */
export function createPageViewer(deps: ViewDeps): PageViewer {
  const underWay = new Map<string, Promise<Uint8Array>>();
  const recent = createRecentDrawings(RECENT_BYTES);
  const viewer: PageViewer = {
    async view(document, page, kind) {
      const file = await drawableFile(deps.storage, document);
      if (file === null) {
        throw new AppError('not_ready', (await pageViewState(deps.storage, document)) === 'making' ? COPY_STILL_MADE : NO_PAGE_VIEW);
      }
      const cached = await deps.storage.drawnPages.get(file, page, kind);
      const seen = cached === null ? undefined : recent.get(cached);
      if (seen) return seen;
      // A cached drawing that has gone is drawn again: the cache may be dropped at any time.
      const kept = cached === null ? null : await deps.blobs.read(cached).catch(() => null);
      if (cached !== null && kept) {
        recent.keep(cached, kept);
        return kept;
      }
      const name = `${file}/${page}/${kind}`;
      const drawing = underWay.get(name) ?? draw(deps, document, file, page, kind).finally(() => underWay.delete(name));
      underWay.set(name, drawing);
      try {
        return await drawing;
      } catch (error) {
        // Another copy, or another file, took its place between the look-up and the drawing. A blob that is simply gone is an alarm.
        const now = (error as NodeJS.ErrnoException).code === 'ENOENT' ? await deps.storage.documents.byRef(document.ref) : null;
        const newer = now === null ? null : await drawableFile(deps.storage, now);
        if (now === null || newer === null || newer === file) throw error;
        return viewer.view(now, page, kind);
      }
    },
  };
  return viewer;
}

async function draw(deps: ViewDeps, document: DocumentRow, sha256: string, page: number, kind: 'png' | 'pdf'): Promise<Uint8Array> {
  const bytes = await withBlobFile(deps.blobs, { sha256, name: document.name, owner: document.owner }, (file) =>
    kind === 'png' ? deps.drawer.draw(file, page) : deps.drawer.cut(file, page),
  ).catch((error: unknown) => {
    // What is wrong with the file, or a page that the copy has not got, is for the caller to hear.
    if (error instanceof UnreadableFile) throw new AppError('not_ready', `This page cannot be drawn: ${error.reason}`);
    if (error instanceof RangeError) throw new AppError('invalid', error.message);
    throw error;
  });
  try {
    const blob = await deps.blobs.putBytes(bytes);
    await deps.storage.drawnPages.put(sha256, page, kind, blob.sha256, blob.bytes);
  } catch (error) {
    // On a full disk pages are still looked at, only not kept.
    if (!(error instanceof AppError && error.code === 'disk_full')) throw error;
  }
  return bytes;
}
