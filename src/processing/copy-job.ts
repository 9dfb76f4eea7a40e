import { alignToCopy } from '../formats/align.ts';
import type { FileTime } from '../formats/file-time.ts';
import { UnreadableFile, type ReadPage, type ReadResult } from '../formats/types.ts';
import { presetOf } from '../library/presets.ts';
import { removeUnreferenced } from '../library/purging.ts';
import type { DocumentRow, JobRow, PageRow, Stores } from '../storage/ports.ts';
import { endJob, preparePages, statusOfPages, writePages } from './commit.ts';
import { isOfCopy, pagesDiffer } from './deck.ts';
import { LeaseLost, type ProcessingDeps } from './deps.ts';
import { putFile } from './made-files.ts';
import { isForOcr, withOcr, type Reading } from './ocr-pages.ts';
import { progressWriter } from './progress.ts';
import { cutAtCopyPages, joinFlow } from './repage.ts';
import { addRunningLines } from './running-lines.ts';
import { fileOfPages, withBlobFile, withBytesAsFile } from './source-file.ts';
import { wayOf } from './ways.ts';

/** Begins the notice of a document whose copy could not be made; one that is made later takes it away. */
export const NO_COPY = 'No PDF copy could be made: ';

/**
 * Makes the PDF copy of a document that was read before, and gives its estimated pages the copy's numbers. Until it commits
 * the estimated pages serve; when it cannot be made they stay, and the document says why. Pages that are pictures are recognised in
 * the copy, where the preset says so; `onConverted` is called before, since that takes long and LibreOffice has nothing to do with it.
 */
export async function runCopyJob(deps: ProcessingDeps, job: JobRow, signal: AbortSignal, time: FileTime, onConverted: () => void): Promise<void> {
  const document = await deps.storage.documents.byRef(job.document);
  if (!document || document.generation !== job.generation) throw new LeaseLost();
  try {
    const { sha256, type } = await fileOfPages(deps.storage, document);
    const missing = deps.copies.missing(type);
    if (missing !== null) throw new UnreadableFile(missing);
    await withBlobFile(deps.blobs, { sha256, name: document.name, owner: document.owner }, async (file) => {
      const copy = await deps.copies.toPdf(file, type, { signal, time });
      const settings = { name: document.name, maxPages: deps.limits.pages, maxUnpackedBytes: deps.limits.unpackedBytes, signal, time };
      const read = await withBytesAsFile(copy, file.owner, `${document.name}.pdf`, async (copyFile): Promise<Partial<Reading> & { pages: number }> => {
        const drawn = await deps.reader.read('pdf', copyFile, settings);
        const result = (await alignPages(deps, document, drawn)) ?? (await pagesToRecognise(deps, document, drawn));
        if (result === null || !presetOf(document.preset).ocr || !result.pages.some(isForOcr)) return { pages: drawn.pages.length, ...(result && { result }) };
        onConverted();
        const recognised = await withOcr(deps, document.preset, copyFile, { result }, { signal, onProgress: progressWriter(deps, document) });
        return { pages: drawn.pages.length, ...recognised };
      });
      const prepared = read.result ? await preparePages(deps, document, read.result) : null;
      const blob = await deps.blobs.putBytes(copy);
      const freed = await deps.storage.transaction(async (stores) => {
        await endJob(stores, deps, job, 'done', null);
        if (prepared) await writePages(stores, document, prepared);
        const made = { document: document.ref, mime: 'application/pdf', createdAt: deps.clock.now() };
        const old = await putFile(stores, { ...made, kind: 'pdf-copy', name: `${document.name}.pdf`, ...blob });
        if (read.ocr) old.push(...(await putFile(stores, { ...made, kind: 'ocr', name: `${document.name}.ocr.pdf`, ...read.ocr })));
        const now = await stores.documents.byRef(document.ref);
        const notices = (now?.notices ?? []).filter((each) => !each.startsWith(NO_COPY) && !isOfCopy(each)).concat(mismatch(document, read.pages));
        await stores.documents.update(document.ref, { pdfCopy: 'ready', notices, ...(now && (await statusAfterWaiting(stores, now))) });
        await deps.audit(stores, { action: 'pdf copy made', documentId: document.id, detail: `${document.name}, ${read.pages} pages`, outcome: 'ok' });
        return old;
      });
      await removeUnreferenced(deps, freed);
    });
  } catch (error) {
    if (!(error instanceof UnreadableFile)) throw error;
    await giveUpCopy(deps, job, document, error.reason);
  }
}

export async function giveUpCopy(deps: ProcessingDeps, job: JobRow, document: DocumentRow, reason: string): Promise<void> {
  await deps.storage.transaction(async (stores) => {
    await endJob(stores, deps, job, 'failed', reason);
    const now = await stores.documents.byRef(document.ref);
    if (!now || now.generation !== document.generation) throw new LeaseLost();
    const notice = `${NO_COPY}${reason}`;
    const notices = [...now.notices.filter((each) => each !== notice), notice];
    await stores.documents.update(document.ref, { pdfCopy: 'failed', notices, ...(await statusAfterWaiting(stores, now)) });
    await deps.audit(stores, { action: 'pdf copy made', documentId: document.id, detail: `${document.name}: ${reason}`, outcome: 'error' });
  });
}

/** A sheet stays a sheet and a slide a slide: where the copy has more pages or fewer, what is looked at may not be what was read. */
const mismatch = ({ type, pages }: DocumentRow, copyPages: number): string[] =>
  wayOf(type).align || pages === null || pages === copyPages ? [] : [pagesDiffer(type, copyPages, pages)];

/** A document whose pages wait to be recognised in its copy is `processing` until then. */
async function statusAfterWaiting(stores: Stores, now: DocumentRow): Promise<Partial<DocumentRow>> {
  if (now.status !== 'processing' || now.pages === null) return {};
  const isRead = (await stores.jobs.openOfDocument(now.ref)).every((job) => job.kind !== 'read');
  return isRead ? statusOfPages(stores, now) : {};
}

/** The document's pages with the copy's numbers, or null for types whose own pages stand (a sheet stays a sheet). */
async function alignPages(deps: ProcessingDeps, document: DocumentRow, drawn: ReadResult): Promise<ReadResult | null> {
  if (!wayOf(document.type).align || document.pages === null || drawn.pages.length === 0) return null;
  const rows = await deps.storage.pages.range(document.ref, 1, document.pages);
  const { fromText = false } = wayOf(document.type);
  const flow = joinFlow(rows.map(({ text, sections, toView }) => ({ text, sections, toView: fromText && toView })));
  const starts = alignToCopy(flow.text, drawn.pages.map((page) => page.text));
  const apart = apartOf({ notes: joinApart(rows, 'notes'), hidden: joinApart(rows, 'hidden') });
  // Documents of before titles were kept have theirs in the copy, which carries it along.
  const title = document.title ?? drawn.title;
  return {
    type: document.type,
    pagesEstimated: false,
    ...(title === undefined ? {} : { title }),
    pages: markScans(addRunningLines(cutAtCopyPages(flow, starts, drawn.pages, apart), drawn.pages), drawn),
    notices: [...document.notices, ...(drawn.notices ?? [])],
  };
}

/** Pages that stand as they are (a sheet stays a sheet), where some of them are pictures that the copy shows at the same number. */
async function pagesToRecognise(deps: ProcessingDeps, document: DocumentRow, drawn: ReadResult): Promise<ReadResult | null> {
  if (!presetOf(document.preset).ocr || document.pages !== drawn.pages.length) return null;
  const rows = await deps.storage.pages.range(document.ref, 1, document.pages);
  const own = rows.map(({ number, text, fate, toView, width, height, sections, notes, hidden }): ReadPage => ({
    number, text, fate, toView, sections, ...apartOf({ notes, hidden }), ...(width === null || height === null ? {} : { width, height }),
  }));
  const pages = markScans(own, drawn);
  const title = document.title ?? drawn.title;
  return pages.some(isForOcr) ? { type: document.type, pagesEstimated: document.pagesEstimated, ...(title === undefined ? {} : { title }), pages, notices: document.notices } : null;
}

const markScans = (pages: readonly ReadPage[], drawn: ReadResult): ReadPage[] =>
  pages.map((page, at) => (drawn.pages[at]?.scan ? { ...page, scan: true } : page));

const joinApart = (rows: readonly PageRow[], which: 'notes' | 'hidden'): string | null =>
  rows.map((row) => row[which]).filter((text) => text !== null).join('\n') || null;

const apartOf = (apart: { notes: string | null; hidden: string | null }): Pick<ReadPage, 'notes' | 'hidden'> => ({
  ...(apart.notes === null ? {} : { notes: apart.notes }),
  ...(apart.hidden === null ? {} : { hidden: apart.hidden }),
});
