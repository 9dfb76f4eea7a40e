import type { Actor } from '../access/actor.ts';
import { change, guarded, requireUser } from '../access/guard.ts';
import { requireDocument, requireFolder } from '../access/policy.ts';
import { AppError } from '../errors.ts';
import type { DocumentRow, FolderRow, Stores } from '../storage/ports.ts';
import type { LibraryDeps } from './deps.ts';
import { mimeOf } from './file-types.ts';
import { cleanFileName, typeByName } from './names.ts';
import { enqueueRead, insertDocument, putOriginal, requireBlob } from './new-document.ts';
import { defaultPreset, presetOf } from './presets.ts';
import { forgetDrawings, removeUnreferenced } from './purging.ts';
import { requireRoomInQueue, reserveRoomInQueue } from './queue-room.ts';
import { documentView, type DocumentView } from './views.ts';

export interface UploadTarget {
  folderId: string;
  /** Default `basic`. */
  preset?: string;
}

/**
 * Asked before the body is read: may this actor put documents there, is the preset known, is there room in the queue for what waits
 * and what is on its way, is the announced size allowed? Answers a function to call when the request has ended. AppError not_found,
 * invalid (names the presets there are), busy (with Retry-After), too_large.
 */
export async function admitUpload(deps: LibraryDeps, actor: Actor, target: UploadTarget, announcedBytes?: number): Promise<() => void> {
  const folder = await checkUpload(deps, actor, target, announcedBytes);
  return reserveRoomInQueue(deps, folder.owner);
}

async function checkUpload(deps: LibraryDeps, actor: Actor, target: UploadTarget, announcedBytes?: number): Promise<FolderRow> {
  const attempt = { action: 'document uploaded', object: { kind: 'folder', id: target.folderId } } as const;
  const folder = await guarded(deps, actor, attempt, () => requireFolder(deps.storage, actor, 'edit', target.folderId));
  presetOf(target.preset ?? defaultPreset);
  requireSize(deps, announcedBytes ?? 0);
  return folder;
}

/** One file: blob, then row, job and audit row in one transaction. Resolves when durable. The document is `processing`. */
export async function uploadDocument(
  deps: LibraryDeps,
  actor: Actor,
  target: UploadTarget,
  file: { name: string; source: AsyncIterable<Uint8Array> },
): Promise<DocumentView> {
  const { owner } = await checkUpload(deps, actor, target);
  await requireRoomInQueue(deps, deps.storage, owner);
  const preset = presetOf(target.preset ?? defaultPreset).id;
  const blob = await deps.blobs.put(file.source, deps.limits.maxFileBytes);
  const attempt = { action: 'document uploaded', object: { kind: 'folder', id: target.folderId } } as const;
  return change(deps, actor, attempt, async (stores) => {
    // Asked again: the folder may have gone, or the right to it, while the bytes came in.
    const folder = await requireFolder(stores, actor, 'edit', target.folderId);
    const { user } = requireUser(actor);
    await requireRoomInQueue(deps, stores, folder.owner);
    const document = await insertDocument(stores, deps, { folder, name: file.name, blob, preset, uploadedBy: user.ref, container: null });
    const view = await documentView(stores, document);
    const detail = `${document.name} into ${view.folder}, ${blob.bytes} bytes`;
    await deps.audit.append(stores, { actor, action: 'document uploaded', object: { kind: 'document', id: document.id }, detail });
    return view;
  });
}

/** A new file for the same document (needs edit): the old pages serve until the new ones commit. */
export async function replaceDocument(
  deps: LibraryDeps,
  actor: Actor,
  documentId: string,
  file: { name?: string; source: AsyncIterable<Uint8Array> },
): Promise<DocumentView> {
  const attempt = { action: 'document replaced', object: { kind: 'document', id: documentId } } as const;
  const { owner } = await guarded(deps, actor, attempt, () => requireDocument(deps.storage, actor, 'edit', documentId));
  await requireRoomInQueue(deps, deps.storage, owner);
  const blob = await deps.blobs.put(file.source, deps.limits.maxFileBytes);
  const { view, freed } = await change(deps, actor, attempt, async (stores) => {
    const document = await requireDocument(stores, actor, 'edit', documentId);
    await requireBlob(deps.blobs, blob.sha256);
    const name = file.name === undefined ? document.name : cleanFileName(file.name);
    const now = deps.clock.now();
    const update = {
      name,
      type: typeByName(name),
      ...blob,
      status: 'processing' as const,
      reason: null,
      progress: null,
      generation: document.generation + 1,
    };
    const after: DocumentRow = { ...document, ...update };
    await stores.documents.update(document.ref, update);
    await keepReplaced(stores, document);
    await putOriginal(stores, after, now);
    if (name !== document.name) await deps.reindexTitle(stores, after);
    await stores.jobs.cancelOfDocument(document.ref, now);
    await enqueueRead(stores, after, now);
    const detail = `${document.name}, ${document.bytes} bytes → ${name}, ${blob.bytes} bytes`;
    await deps.audit.append(stores, { actor, ...attempt, detail });
    return { view: await documentView(stores, after), freed: await forgetDrawings(stores, [document.sha256]) };
  });
  await removeUnreferenced(deps, freed);
  return view;
}

/** Pages, pictures and their file belong together: until the new file is read, the old pages are drawn from the file they came from. */
async function keepReplaced(stores: Stores, document: DocumentRow): Promise<void> {
  if (document.pages === null || (await stores.files.get(document.ref, 'replaced')) !== null) return;
  const original = await stores.files.get(document.ref, 'original');
  if (original === null) return;
  const { ref: _ref, ...file } = original;
  await stores.files.put({ ...file, kind: 'replaced', mime: mimeOf(document.type) });
}

function requireSize(deps: LibraryDeps, bytes: number): void {
  if (bytes <= deps.limits.maxFileBytes) return;
  const limit = `${Math.floor(deps.limits.maxFileBytes / 1024 ** 2)} MiB`;
  throw new AppError('too_large', `This is ${Math.ceil(bytes / 1024 ** 2)} MiB — a file may have ${limit}`);
}
