import { alignToCopy } from '../formats/align.ts';
import type { FileTime } from '../formats/file-time.ts';
import { UnreadableFile, type ReadPage, type ReadResult } from '../formats/types.ts';
import { removeUnreferenced } from '../library/purging.ts';
import type { DocumentRow, JobRow, PageRow } from '../storage/ports.ts';
import { isOfCopy, pagesDiffer } from './deck.ts';
import { endJob, preparePages, writePages } from './commit.ts';
import { LeaseLost, type ProcessingDeps } from './deps.ts';
import { putFile } from './made-files.ts';
import { cutAtCopyPages, joinFlow } from './repage.ts';
import { addRunningLines } from './running-lines.ts';
import { fileOfPages, withBlobFile, withBytesAsFile } from './source-file.ts';
import { wayOf } from './ways.ts';

const NO_COPY = 'No PDF copy could be made: ';

/**
 * Makes the PDF copy of a document that was read before, and gives its estimated pages the copy's numbers. Until it commits
 * the estimated pages serve; when it cannot be made they stay, and the document says why.
 */
export async function runCopyJob(deps: ProcessingDeps, job: JobRow, signal: AbortSignal, time: FileTime): Promise<void> {
  const document = await deps.storage.documents.byRef(job.document);
  if (!document || document.generation !== job.generation) throw new LeaseLost();
  try {
    const { sha256, type } = await fileOfPages(deps.storage, document);
    const missing = deps.copies.missing(type);
    if (missing !== null) throw new UnreadableFile(missing);
    await withBlobFile(deps.blobs, { sha256, name: document.name, owner: document.owner }, async (file) => {
      const copy = await deps.copies.toPdf(file, type, { signal, time });
      const settings = { name: document.name, maxPages: deps.limits.pages, maxUnpackedBytes: deps.limits.unpackedBytes, signal, time };
      const drawn = await withBytesAsFile(copy, file.owner, `${document.name}.pdf`, (copyFile) => deps.reader.read('pdf', copyFile, settings));
      const aligned = await alignPages(deps, document, drawn);
      const prepared = aligned ? await preparePages(deps, document, aligned) : null;
      const blob = await deps.blobs.putBytes(copy);
      const freed = await deps.storage.transaction(async (stores) => {
        await endJob(stores, deps, job, 'done', null);
        if (prepared) await writePages(stores, document, prepared);
        const old = await putFile(stores, {
          document: document.ref, kind: 'pdf-copy', name: `${document.name}.pdf`, mime: 'application/pdf', createdAt: deps.clock.now(), ...blob,
        });
        const notices = ((await stores.documents.byRef(document.ref))?.notices ?? []).filter((each) => !each.startsWith(NO_COPY) && !isOfCopy(each));
        await stores.documents.update(document.ref, { pdfCopy: 'ready', notices: [...notices, ...mismatch(document, drawn)] });
        await deps.audit(stores, { action: 'pdf copy made', documentId: document.id, detail: `${document.name}, ${drawn.pages.length} pages`, outcome: 'ok' });
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
    await stores.documents.update(document.ref, { pdfCopy: 'failed', notices: [...now.notices.filter((each) => each !== notice), notice] });
    await deps.audit(stores, { action: 'pdf copy made', documentId: document.id, detail: `${document.name}: ${reason}`, outcome: 'error' });
  });
}

/** A sheet stays a sheet and a slide a slide: where the copy has more pages or fewer, what is looked at may not be what was read. */
const mismatch = ({ type, pages }: DocumentRow, drawn: ReadResult): string[] =>
  wayOf(type).align || pages === null || pages === drawn.pages.length ? [] : [pagesDiffer(type, drawn.pages.length, pages)];

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
    pages: addRunningLines(cutAtCopyPages(flow, starts, drawn.pages, apart), drawn.pages),
    notices: [...document.notices, ...(drawn.notices ?? [])],
  };
}

const joinApart = (rows: readonly PageRow[], which: 'notes' | 'hidden'): string | null =>
  rows.map((row) => row[which]).filter((text) => text !== null).join('\n') || null;

const apartOf = (apart: { notes: string | null; hidden: string | null }): Pick<ReadPage, 'notes' | 'hidden'> => ({
  ...(apart.notes === null ? {} : { notes: apart.notes }),
  ...(apart.hidden === null ? {} : { hidden: apart.hidden }),
});
