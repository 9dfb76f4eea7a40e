import type { ReadPage } from '../formats/types.ts';
import type { DocumentRow, PageRow, Stores } from '../storage/ports.ts';
import type { Excerpts } from './ports.ts';

/** Stored pages as a reading would have handed them over. */
export const toReadPage = (row: PageRow): ReadPage => ({
  number: row.number,
  text: row.text,
  fate: row.fate,
  toView: row.toView,
  sections: row.sections,
  ...(row.width === null || row.height === null ? {} : { width: row.width, height: row.height }),
  ...(row.notes === null ? {} : { notes: row.notes }),
  ...(row.hidden === null ? {} : { hidden: row.hidden }),
});

/**
 * Makes excerpts and index rows anew from the stored pages, inside the caller's transaction: after a rename, since a document is
 * found by its name too. A document that has no pages yet is left to its first reading.
 */
export async function reindexDocument(stores: Stores, excerpts: Excerpts, document: DocumentRow, live: boolean): Promise<void> {
  if (document.pages === null) return;
  const pages = (await stores.pages.range(document.ref, 1, document.pages)).map(toReadPage);
  const chunks = excerpts.chunk({ type: document.type, pages, pagesEstimated: document.pagesEstimated });
  const folder = await stores.folders.byRef(document.folder);
  const analysed = await excerpts.analyse({ name: document.name, folderName: folder?.name ?? '' }, chunks);
  await stores.index.replace({
    document: document.ref,
    documentId: document.id,
    folder: document.folder,
    live,
    title: document.name,
    chunks: chunks.map(({ position, page, section, text }) => ({ position, page, section, text })),
    analysed,
  });
}
