import type { FileTime } from '../formats/file-time.ts';
import { UnreadableFile, type ReadResult } from '../formats/types.ts';
import type { DocumentRow, JobRow } from '../storage/ports.ts';
import { endJob, preparePages, statusOfPages, writePages } from './commit.ts';
import { NO_COPY } from './copy-job.ts';
import { withDamage, type DamagedPages } from './damaged-pages.ts';
import { mergeDeck } from './deck.ts';
import { LeaseLost, type ProcessingDeps } from './deps.ts';
import { collectInnerFiles } from './inner-blobs.ts';
import { enqueueCopy } from '../library/new-document.ts';
import { presetOf } from '../library/presets.ts';
import { removeUnreferenced } from '../library/purging.ts';
import { copyState, dropFile, putFile } from './made-files.ts';
import { isForOcr, withOcr, type Reading } from './ocr-pages.ts';
import { progressWriter } from './progress.ts';
import { hasText } from './page-text.ts';
import type { ReadSettings, SourceFile } from './ports.ts';
import { withBlobFile, withBytesAsFile } from './source-file.ts';
import { canRecognise, wayOf } from './ways.ts';

/**
 * Reads one document from blob to searchable: sniff, read, mark, chunk, index, in one transaction at the end. What is wrong with
 * the file ends in `not_indexed` with a reason; anything else is thrown and tried again by the queue.
 */
export async function runReadJob(deps: ProcessingDeps, job: JobRow, signal: AbortSignal, time: FileTime): Promise<void> {
  const document = await deps.storage.documents.byRef(job.document);
  if (!document || document.generation !== job.generation) throw new LeaseLost();
  try {
    await withBlobFile(deps.blobs, { sha256: document.sha256, name: document.name, owner: document.owner }, async (file) => {
      const inside = await collectInnerFiles(deps, document);
      const read = await readFile(deps, document, file, { signal, time }, inside.take).catch(async (error: unknown) => {
        // An archive that is refused half-way must not leave a gigabyte of what it held so far.
        await removeUnreferenced(deps, await inside.discard());
        throw error;
      });
      read.result.notices = [...(read.result.notices ?? []), ...inside.notices()];
      const { type } = read.result;
      const { copy } = wayOf(type);
      // Pages that are pictures are recognised in the copy: the file itself cannot be drawn.
      const isRecognisedLater = (copy === 'after' || copy === 'asked') && canRecognise(type) && presetOf(document.preset).ocr && read.result.pages.some(isForOcr);
      const withoutCopies = deps.copies.missing(type);
      if (isRecognisedLater && withoutCopies !== null) read.result.notices.push(withoutCopies);
      const prepared = await preparePages(deps, document, read.result);
      const copyBlob = read.copy ? await deps.blobs.putBytes(read.copy) : null;
      const inner = await inside.files();
      const freed = await deps.storage.transaction(async (stores) => {
        await endJob(stores, deps, job, 'done', null);
        const change = await writePages(stores, document, prepared);
        const at = { document: document.ref, createdAt: deps.clock.now(), mime: 'application/pdf' };
        const hadCopy = (await stores.files.get(document.ref, 'pdf-copy')) !== null;
        const old = [
          ...(await dropFile(stores, document.ref, 'replaced')),
          ...(copyBlob ? await putFile(stores, { ...at, kind: 'pdf-copy', name: `${document.name}.pdf`, ...copyBlob }) : await dropFile(stores, document.ref, 'pdf-copy')),
          ...(read.ocr ? await putFile(stores, { ...at, kind: 'ocr', name: `${document.name}.ocr.pdf`, ...read.ocr }) : await dropFile(stores, document.ref, 'ocr')),
        ];
        const state = await copyState(stores, document.ref);
        // A copy that a person asked for is made again.
        const isWanted = copy === 'after' || (copy === 'asked' && (hadCopy || isRecognisedLater));
        const makeCopy = state === 'none' && isWanted && withoutCopies === null;
        const pdfCopy = makeCopy ? 'making' : state;
        const isWaiting = isRecognisedLater && pdfCopy === 'making' && change.status === 'not_indexed';
        await stores.documents.update(document.ref, { pdfCopy, ...(isWaiting && { status: 'processing', reason: null }) });
        if (makeCopy) await enqueueCopy(stores, document, deps.clock.now());
        if (inner.length > 0) await deps.placeInnerFiles(stores, { ...document, type }, inner);
        await deps.audit(stores, {
          action: 'document processed',
          documentId: document.id,
          detail: `${document.name}, ${isWaiting ? 'pages to be recognised in its PDF copy' : change.status}, ${read.result.pages.length} pages`,
          outcome: 'ok',
        });
        if (read.copyFailed) await stores.documents.update(document.ref, { pdfCopy: 'failed' });
        return old;
      });
      await removeUnreferenced(deps, freed);
    });
  } catch (error) {
    if (!(error instanceof UnreadableFile)) throw error;
    await giveUp(deps, job, document, 'not_indexed', error.reason);
  }
}

/**
 * Ends a reading without pages. A document that was read before (reprocessing, replacing) keeps its old pages, its copy and what
 * searches find, with a notice: a failed reading never takes away what was there.
 */
export async function giveUp(deps: ProcessingDeps, job: JobRow, document: DocumentRow, status: 'not_indexed' | 'failed', reason: string): Promise<void> {
  await deps.storage.transaction(async (stores) => {
    await endJob(stores, deps, job, 'failed', reason);
    const now = await stores.documents.byRef(document.ref);
    if (!now || now.generation !== document.generation) throw new LeaseLost();
    const state = await copyState(stores, document.ref);
    // A copy that was being made when it was read again: the pages that serve are the ones it belongs to.
    const isCopyLost = now.pages !== null && now.pdfCopy === 'making' && state === 'none';
    const pdfCopy = isCopyLost ? 'making' : state;
    if (isCopyLost) await enqueueCopy(stores, now, deps.clock.now());
    if (now.pages === null) await stores.documents.update(document.ref, { status, reason, progress: null, pdfCopy });
    else {
      await stores.documents.update(document.ref, {
        ...(await statusOfPages(stores, now)),
        pdfCopy,
        notices: [`The last reading did not succeed, so the pages from before still serve: ${reason}`],
      });
    }
    await deps.audit(stores, { action: 'document processed', documentId: document.id, detail: `${document.name}, ${status}: ${reason}`, outcome: 'error' });
  });
}

async function readFile(
  deps: ProcessingDeps,
  document: DocumentRow,
  file: SourceFile,
  running: { signal: AbortSignal; time: FileTime },
  onAttachment: ReadSettings['onAttachment'],
): Promise<Reading> {
  const type = await deps.reader.sniff(file);
  if (type === null) {
    throw new UnreadableFile('Sergo does not read this kind of file — upload it as PDF, an Office or OpenDocument file, text, a web page, a mail, a picture or a ZIP of these');
  }
  const { copy: when } = wayOf(type);
  if (when === 'first' || when === 'after') deps.copies.warm?.(type, file.owner);
  const settings: ReadSettings = {
    name: document.name,
    maxPages: deps.limits.pages,
    maxUnpackedBytes: deps.limits.unpackedBytes,
    onProgress: progressWriter(deps, document),
    ...(onAttachment ? { onAttachment } : {}),
    ...running,
  };
  const own = await deps.reader.read(type, file, settings);
  if (when === 'itself') return withOcr(deps, document.preset, file, { result: own }, settings);
  if (when !== 'first') return { result: own };
  const missing = deps.copies.missing(type);
  if (missing !== null) return { result: { ...own, notices: [...(own.notices ?? []), missing] } };
  return readCopy(deps, document, file, type, own, settings).catch(async (error: unknown) => {
    if (!(error instanceof UnreadableFile) || !hasText(own) || (await hasCopyOfSameFile(deps, document))) throw error;
    const notices = [...(own.notices ?? []), `${NO_COPY}${error.reason}`];
    return { result: { ...own, notices }, copyFailed: true };
  });
}

/** Then the pages from before and their pictures are better than the text alone. */
async function hasCopyOfSameFile(deps: ProcessingDeps, document: DocumentRow): Promise<boolean> {
  const [copy, replaced] = [await deps.storage.files.get(document.ref, 'pdf-copy'), await deps.storage.files.get(document.ref, 'replaced')];
  return copy !== null && replaced === null;
}

async function readCopy(deps: ProcessingDeps, document: DocumentRow, file: SourceFile, type: string, own: ReadResult, settings: ReadSettings): Promise<Reading> {
  const { signal, time } = settings;
  const damaged: DamagedPages = new Map();
  const copy = await deps.copies.toPdf(file, type, { signal, time, onDamage: (page, damage) => damaged.set(page, damage) });
  return withBytesAsFile(copy, file.owner, `${document.name}.pdf`, async (copyFile) => {
    const drawn = await deps.reader.read('pdf', copyFile, settings);
    return withOcr(deps, document.preset, copyFile, { result: withDamage(mergeDeck(own, drawn), damaged), copy }, settings);
  });
}
