import type { Actor } from '../access/actor.ts';
import { change } from '../access/guard.ts';
import { requireDocument } from '../access/policy.ts';
import { AppError } from '../errors.ts';
import type { LibraryDeps } from './deps.ts';
import { canHavePdfCopy, isPicture } from './file-types.ts';
import { presetOf } from './presets.ts';
import { enqueueCopy, enqueueRead } from './new-document.ts';
import { requireRoomInQueue } from './queue-room.ts';
import { documentView, type DocumentView } from './views.ts';

/** Reads the document again; the old pages serve until the new ones commit. AppError not_found, invalid (names the presets), busy. */
export async function reprocessDocument(deps: LibraryDeps, actor: Actor, id: string, preset: string): Promise<DocumentView> {
  const attempt = { action: 'document reprocessed', object: { kind: 'document', id } } as const;
  return change(deps, actor, attempt, async (stores) => {
    const document = await requireDocument(stores, actor, 'edit', id);
    const chosen = presetOf(preset).id;
    await requireRoomInQueue(deps, stores, document.owner);
    const now = deps.clock.now();
    await stores.jobs.cancelOfDocument(document.ref, now);
    const update = { preset: chosen, status: 'processing' as const, reason: null, progress: null, generation: document.generation + 1 };
    await stores.documents.update(document.ref, update);
    await enqueueRead(stores, { ...document, ...update }, now);
    await deps.audit.append(stores, { actor, ...attempt, detail: `${document.name}, ${document.preset} → ${chosen}` });
    return documentView(stores, { ...document, ...update });
  });
}

/** "Make a PDF copy". AppError invalid where the type has none (PDFs are drawn as they are, an archive has no pages to draw). */
export async function makePdfCopy(deps: LibraryDeps, actor: Actor, id: string): Promise<DocumentView> {
  const attempt = { action: 'pdf copy asked for', object: { kind: 'document', id } } as const;
  return change(deps, actor, attempt, async (stores) => {
    const document = await requireDocument(stores, actor, 'edit', id);
    // Asking twice is the same as once; while it is being read, the copy waits for the reading. A picture has its copy from being read.
    if (document.pdfCopy === 'ready' || document.pdfCopy === 'making') return documentView(stores, document);
    if (document.type === 'pdf') throw new AppError('invalid', 'This is a PDF already: its pages are drawn as they are');
    if (isPicture(document.type)) throw new AppError('invalid', 'The PDF copy of a picture is made while it is read — process it again to have one');
    if (!canHavePdfCopy(document.type)) {
      throw new AppError('invalid', `A ${document.type} file has no pages to draw — PDF copies are made of office files, web pages, books, mails and text`);
    }
    await requireRoomInQueue(deps, stores, document.owner);
    await enqueueCopy(stores, document, deps.clock.now());
    await stores.documents.update(document.ref, { pdfCopy: 'making' });
    await deps.audit.append(stores, { actor, ...attempt, detail: document.name });
    return documentView(stores, { ...document, pdfCopy: 'making' });
  });
}

/** Stops queued and running work on the document; what it had before goes on serving. */
export async function cancelProcessing(deps: LibraryDeps, actor: Actor, id: string): Promise<DocumentView> {
  const attempt = { action: 'document cancelled', object: { kind: 'document', id } } as const;
  return change(deps, actor, attempt, async (stores) => {
    const document = await requireDocument(stores, actor, 'edit', id);
    const open = await stores.jobs.openOfDocument(document.ref);
    if (open.length === 0) return documentView(stores, document);
    await stores.jobs.cancelOfDocument(document.ref, deps.clock.now());
    const update: Pick<typeof document, 'status' | 'reason' | 'progress' | 'pdfCopy'> = {
      status: document.status,
      reason: document.reason,
      progress: null,
      pdfCopy: document.pdfCopy,
    };
    if (document.status === 'processing') {
      const pages = await stores.pages.range(document.ref, 1, document.pages ?? 0);
      const searchable = pages.some((page) => page.text.trim() !== '' || (page.notes ?? '').trim() !== '');
      update.status = searchable ? 'ready' : 'not_indexed';
      update.reason = searchable ? null : 'Processing was cancelled — process it again to make it searchable';
    }
    if (document.pdfCopy === 'making') {
      const hasCopy = (await stores.files.get(document.ref, 'pdf-copy')) !== null;
      // Only the reading is cancelled: the copy that it had ended before, of the pages that serve again, is made after all.
      const isGoneOn = !hasCopy && document.pages !== null && open.every((job) => job.kind === 'read');
      update.pdfCopy = hasCopy ? 'ready' : isGoneOn ? 'making' : 'none';
      if (isGoneOn) await enqueueCopy(stores, document, deps.clock.now());
    }
    await stores.documents.update(document.ref, update);
    await deps.audit.append(stores, { actor, ...attempt, detail: `${document.name}, ${open.map((job) => job.kind).join(', ')}` });
    return documentView(stores, { ...document, ...update });
  });
}
