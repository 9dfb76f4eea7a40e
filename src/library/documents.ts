import type { Actor } from '../access/actor.ts';
import { change, guarded } from '../access/guard.ts';
import { requireDocument, requireFolder } from '../access/policy.ts';
import { scopeOf } from '../access/scope.ts';
import { AppError } from '../errors.ts';
import type { Scope } from '../search/types.ts';
import type { LibraryDeps } from './deps.ts';
import { cleanFileName } from './names.ts';
import { documentView, documentViews, type DocumentView } from './views.ts';

export { purgeDocument, restoreDocument, trashDocument } from './document-trash.ts';

export async function getDocument(deps: LibraryDeps, actor: Actor, id: string): Promise<DocumentView> {
  return guarded(deps, actor, { action: 'document read', object: { kind: 'document', id } }, async () =>
    documentView(deps.storage, await requireDocument(deps.storage, actor, 'read', id)),
  );
}

/** Everything the actor can read, newest first; `folderId` narrows to one folder with all inside. */
export async function listDocuments(
  deps: LibraryDeps,
  actor: Actor,
  options: { limit: number; offset: number; folderId?: string },
): Promise<{ total: number; documents: DocumentView[] }> {
  const stores = deps.storage;
  const scope = options.folderId === undefined ? await scopeOf(stores, actor) : await scopeBelow(deps, actor, options.folderId);
  const rows = await stores.documents.list(scope, options.limit, options.offset);
  return { total: await stores.documents.count(scope), documents: await documentViews(stores, rows) };
}

async function scopeBelow(deps: LibraryDeps, actor: Actor, folderId: string): Promise<Scope> {
  return guarded(deps, actor, { action: 'folder read', object: { kind: 'folder', id: folderId } }, async () => {
    const folder = await requireFolder(deps.storage, actor, 'read', folderId);
    const inside = await deps.storage.folders.subtree([folder.ref]);
    return { folders: inside.map((one) => one.ref), documents: [] };
  });
}

/** Documents of exactly that name directly in a folder: what a resumed import skips. Needs edit on the folder. */
export async function findByName(deps: LibraryDeps, actor: Actor, folderId: string, name: string): Promise<DocumentView[]> {
  return guarded(deps, actor, { action: 'folder read', object: { kind: 'folder', id: folderId } }, async () => {
    const folder = await requireFolder(deps.storage, actor, 'edit', folderId);
    return documentViews(deps.storage, await deps.storage.documents.byNameInFolder(folder.ref, cleanFileName(name)));
  });
}

/** Rename and/or move (within its owner's tree). AppError not_found (either id), invalid (another owner's folder). */
export async function changeDocument(
  deps: LibraryDeps,
  actor: Actor,
  id: string,
  wanted: { name?: string; folderId?: string },
): Promise<DocumentView> {
  const action = wanted.folderId === undefined ? 'document renamed' : 'document moved';
  return change(deps, actor, { action, object: { kind: 'document', id } }, async (stores) => {
    const before = await requireDocument(stores, actor, 'edit', id);
    const target = wanted.folderId === undefined ? null : await requireFolder(stores, actor, 'edit', wanted.folderId);
    if (target !== null && target.owner !== before.owner) {
      throw new AppError('invalid', "A document stays with its owner — move it to another of its owner's folders, or upload it there", { field: 'folderId' });
    }
    const update = {
      name: wanted.name === undefined ? before.name : cleanFileName(wanted.name),
      folder: target?.ref ?? before.folder,
    };
    const after = { ...before, ...update };
    await stores.documents.update(before.ref, update);
    if (after.folder !== before.folder) await stores.index.setFolder(before.ref, after.folder);
    if (after.name !== before.name) await deps.reindexTitle(stores, after);
    const [was, is] = [await documentView(stores, before), await documentView(stores, after)];
    await deps.audit.append(stores, {
      actor,
      action,
      object: { kind: 'document', id },
      detail: `${was.folder}/${was.name} → ${is.folder}/${is.name}`,
    });
    return is;
  });
}
