import { setImmediate } from 'node:timers/promises';
import type { Actor } from '../access/actor.ts';
import { change, requireUser } from '../access/guard.ts';
import { requireFolder } from '../access/policy.ts';
import { AppError } from '../errors.ts';
import type { FolderRow, Stores } from '../storage/ports.ts';
import type { LibraryDeps } from './deps.ts';
import { isFolderLive, setLiveInside } from './liveness.ts';
import { foldName } from './names.ts';
import { depthsFrom, fits, freeFolderName, heightOf, parentOf, rootOf } from './placing.ts';
import { removeDocuments, removeUnreferenced } from './purging.ts';
import { documentViews, folderView, folderViews, type FolderView, type TrashView } from './views.ts';

/** To the trash with all inside: gone from every search, list and key at once. */
export async function trashFolder(deps: LibraryDeps, actor: Actor, id: string): Promise<void> {
  await change(deps, actor, { action: 'folder trashed', object: { kind: 'folder', id } }, async (stores) => {
    const folder = await requireFolder(stores, actor, 'edit', id);
    await parentOf(stores, folder);
    const path = (await stores.folders.paths([folder.ref])).get(folder.ref) ?? folder.name;
    const hidden = await setLiveInside(stores, await stores.folders.subtree([folder.ref]), false);
    await stores.folders.update(folder.ref, { trashedAt: deps.clock.now() });
    await deps.audit.append(stores, { actor, action: 'folder trashed', object: { kind: 'folder', id }, detail: `${path} with ${hidden} documents` });
  });
}

/** Back where it was, or into the owner's root when that place is gone (`said` tells so). */
export async function restoreFolder(deps: LibraryDeps, actor: Actor, id: string): Promise<FolderView & { said?: string }> {
  return change(deps, actor, { action: 'folder restored', object: { kind: 'folder', id } }, async (stores) => {
    const folder = await requireFolder(stores, actor, 'edit', id, true);
    if (folder.trashedAt === null) {
      if (await isFolderLive(stores, folder.ref)) return folderView(stores, actor, folder);
      throw new AppError('conflict', 'This folder went to the trash inside another one — restore that one');
    }
    const { parent, said: moved } = await placeFor(stores, folder);
    const name = await freeFolderName(stores, parent, folder.name);
    const update = { trashedAt: null, parent: parent.ref, name, nameKey: foldName(name) };
    await stores.folders.update(folder.ref, update);
    if (name !== folder.name) await deps.indexFolderName(stores, { ...folder, ...update });
    const shown = await setLiveInside(stores, await stores.folders.subtree([folder.ref]), true);
    const view = await folderView(stores, actor, { ...folder, ...update });
    await deps.audit.append(stores, { actor, action: 'folder restored', object: { kind: 'folder', id }, detail: `${view.path} with ${shown} documents` });
    const said = [moved, name === folder.name ? undefined : `The name was taken meanwhile: it is '${name}' now`].filter((one) => one !== undefined);
    return said.length === 0 ? view : { ...view, said: said.join('. ') };
  });
}

async function placeFor(stores: Stores, folder: FolderRow): Promise<{ parent: FolderRow; said?: string }> {
  const before = await parentOf(stores, folder);
  const height = heightOf(folder, await stores.folders.everythingBelow(folder.ref));
  if ((await isFolderLive(stores, before.ref)) && (await fits(stores, before, height))) return { parent: before };
  const root = await rootOf(stores, folder.owner);
  return { parent: root, said: `Its place '${before.name}' is not there any more: it is in '${root.name}' now` };
}

/** So many documents are purged in one transaction, and so many in one statement of it: others wait for a tenth of a second, not for all. */
const PURGED_AT_ONCE = 100;
const REMOVED_AT_ONCE = 10;

/**
 * For good: the folder, all folders and documents inside, their pages, index rows and blobs. Owner only. A large folder goes in
 * parts, each with its audit row, hidden from the first on; interrupted, the rest is in the trash and can be purged again.
 */
export async function purgeFolder(deps: LibraryDeps, actor: Actor, id: string): Promise<void> {
  const attempt = { action: 'folder purged', object: { kind: 'folder', id } } as const;
  for (let gone = 0, more = true; more; ) {
    const part = await change(deps, actor, attempt, (stores) => purgePart(stores, deps, actor, id, gone));
    await removeUnreferenced(deps, part.freed);
    gone += part.documents;
    more = part.more;
  }
}

async function purgePart(
  stores: Stores,
  deps: LibraryDeps,
  actor: Actor,
  id: string,
  before: number,
): Promise<{ documents: number; freed: string[]; more: boolean }> {
  const folder = await requireFolder(stores, actor, 'own', id, true);
  await parentOf(stores, folder);
  const path = (await stores.folders.paths([folder.ref])).get(folder.ref) ?? folder.name;
  const folders = await stores.folders.everythingBelow(folder.ref);
  const refs = folders.map((one) => one.ref);
  const found = await stores.documents.allInFolders(refs, PURGED_AT_ONCE + 1);
  const more = found.length > PURGED_AT_ONCE;
  const documents = found.slice(0, PURGED_AT_ONCE);
  if (more && folder.trashedAt === null) {
    await setLiveInside(stores, await stores.folders.subtree([folder.ref]), false);
    await stores.folders.update(folder.ref, { trashedAt: deps.clock.now() });
  }
  const freed: string[] = [];
  for (let from = 0; from < documents.length; from += REMOVED_AT_ONCE) {
    freed.push(...(await removeDocuments(stores, documents.slice(from, from + REMOVED_AT_ONCE))));
    await setImmediate();
  }
  const all = before + documents.length;
  const object = { kind: 'folder', id } as const;
  if (more) {
    await deps.audit.append(stores, { actor, action: 'folder purged', object, detail: `${path}: ${all} documents so far` });
    return { documents: documents.length, freed, more };
  }
  const depths = depthsFrom(folder.ref, folders);
  const deepestFirst = folders.toSorted((a, b) => (depths.get(b.ref) ?? 0) - (depths.get(a.ref) ?? 0));
  for (const one of deepestFirst) {
    await stores.index.setFolderWords(one.ref, new Map());
    await stores.folders.remove(one.ref);
  }
  await deps.audit.append(stores, { actor, action: 'folder purged', object, detail: `${path} with ${folders.length - 1} folders and ${all} documents` });
  return { documents: documents.length, freed, more };
}

/** What is in the trash of this user's own tree, newest first. */
export async function listTrash(deps: LibraryDeps, actor: Actor): Promise<TrashView> {
  const { user } = requireUser(actor);
  const stores = deps.storage;
  const folders = await stores.folders.trashed(user.ref);
  const documents = await stores.documents.trashed(user.ref);
  const iso = (time: number | null): string => new Date(time ?? 0).toISOString();
  return {
    folders: (await folderViews(stores, actor, folders)).map((view, at) => ({ ...view, trashed: iso(folders[at]?.trashedAt ?? null) })),
    documents: (await documentViews(stores, documents)).map((view, at) => ({ ...view, trashed: iso(documents[at]?.trashedAt ?? null) })),
  };
}
