import type { Actor } from '../access/actor.ts';
import { change } from '../access/guard.ts';
import { requireDocument } from '../access/policy.ts';
import { AppError } from '../errors.ts';
import type { LibraryDeps } from './deps.ts';
import { isFolderLive } from './liveness.ts';
import { rootOf } from './placing.ts';
import { removeDocuments, removeUnreferenced } from './purging.ts';
import { documentView, type DocumentView } from './views.ts';

/** Gone from every search, list and key at once; its file and pages stay until it is purged. */
export async function trashDocument(deps: LibraryDeps, actor: Actor, id: string): Promise<void> {
  const attempt = { action: 'document trashed', object: { kind: 'document', id } } as const;
  await change(deps, actor, attempt, async (stores) => {
    const document = await requireDocument(stores, actor, 'edit', id);
    await stores.documents.update(document.ref, { trashedAt: deps.clock.now() });
    await stores.index.setLive(document.ref, false);
    const { folder, name } = await documentView(stores, document);
    await deps.audit.append(stores, { actor, ...attempt, detail: `${folder}/${name}` });
  });
}

/** Back into its folder, or the owner's root when that is gone (`said` tells so). Restoring what is there already changes nothing. */
export async function restoreDocument(deps: LibraryDeps, actor: Actor, id: string): Promise<DocumentView & { said?: string }> {
  const attempt = { action: 'document restored', object: { kind: 'document', id } } as const;
  return change(deps, actor, attempt, async (stores) => {
    const document = await requireDocument(stores, actor, 'edit', id, true);
    const inPlace = await isFolderLive(stores, document.folder);
    if (document.trashedAt === null) {
      if (inPlace) return documentView(stores, document);
      throw new AppError('conflict', 'This document went to the trash inside a folder — restore the folder');
    }
    const root = inPlace ? null : await rootOf(stores, document.owner);
    const update = { trashedAt: null, folder: root?.ref ?? document.folder };
    await stores.documents.update(document.ref, update);
    if (root !== null) await stores.index.setFolder(document.ref, root.ref);
    await stores.index.setLive(document.ref, true);
    const view = await documentView(stores, { ...document, ...update });
    await deps.audit.append(stores, { actor, ...attempt, detail: `${view.folder}/${view.name}` });
    return root === null ? view : { ...view, said: `Its folder is not there any more: it is in '${root.name}' now` };
  });
}

/** For good, trashed before or not: rows, index, blobs nothing else names, and drawn pages. Owner only. */
export async function purgeDocument(deps: LibraryDeps, actor: Actor, id: string): Promise<void> {
  const attempt = { action: 'document purged', object: { kind: 'document', id } } as const;
  const freed = await change(deps, actor, attempt, async (stores) => {
    const document = await requireDocument(stores, actor, 'own', id, true);
    const { folder, name } = await documentView(stores, document);
    const blobs = await removeDocuments(stores, [document]);
    await deps.audit.append(stores, { actor, ...attempt, detail: `${folder}/${name}, sha256 ${document.sha256}` });
    return blobs;
  });
  await removeUnreferenced(deps, freed);
}
