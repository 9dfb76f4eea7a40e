import type { Actor } from '../access/actor.ts';
import { change, guarded } from '../access/guard.ts';
import { requireFolder } from '../access/policy.ts';
import { newId } from '../access/random-text.ts';
import { scopeOf } from '../access/scope.ts';
import { AppError } from '../errors.ts';
import type { FolderRow, Stores } from '../storage/ports.ts';
import type { LibraryDeps } from './deps.ts';
import { cleanFolderName, foldName } from './names.ts';
import { heightOf, parentOf, requireDepth, requireFreeFolderName } from './placing.ts';
import { documentViews, folderView, folderViews, type FolderContents, type FolderView } from './views.ts';

export { listTrash, purgeFolder, restoreFolder, trashFolder } from './folder-trash.ts';

const defaultPage = 500;
const largestPage = 1_000;

/** Needs edit on the parent. AppError not_found, invalid (name, field `name`; deeper than 32), conflict (name taken there). */
export async function createFolder(deps: LibraryDeps, actor: Actor, input: { name: string; parentId: string }): Promise<FolderView> {
  const attempt = { action: 'folder created', object: { kind: 'folder', id: input.parentId }, detail: input.name } as const;
  return change(deps, actor, attempt, async (stores) => {
    const parent = await requireFolder(stores, actor, 'edit', input.parentId);
    const name = cleanFolderName(input.name);
    await requireDepth(stores, parent, 1);
    await requireFreeFolderName(stores, parent, name, null);
    const id = newId(deps.random);
    const row = { id, parent: parent.ref, owner: parent.owner, name, nameKey: foldName(name), createdAt: deps.clock.now() };
    const ref = await stores.folders.insert(row);
    const made = { ...row, ref, trashedAt: null };
    await deps.indexFolderName(stores, made);
    const view = await folderView(stores, actor, made);
    await deps.audit.append(stores, { actor, action: 'folder created', object: { kind: 'folder', id }, detail: view.path });
    return view;
  });
}

/** A folder with what is directly in it. Documents by name, `limit` at a time (default 500, at most 1,000). */
export async function getFolder(
  deps: LibraryDeps,
  actor: Actor,
  id: string,
  page: { limit?: number; offset?: number } = {},
): Promise<FolderContents> {
  return guarded(deps, actor, { action: 'folder read', object: { kind: 'folder', id } }, async () => {
    const stores = deps.storage;
    const folder = await requireFolder(stores, actor, 'read', id);
    const limit = Math.min(Math.max(page.limit ?? defaultPage, 1), largestPage);
    const documents = await stores.documents.inFolder(folder.ref, limit, Math.max(page.offset ?? 0, 0));
    return {
      ...(await folderView(stores, actor, folder)),
      folders: await folderViews(stores, actor, await stores.folders.children(folder.ref)),
      documents: await documentViews(stores, documents),
      documentCount: await stores.documents.countInFolder(folder.ref),
    };
  });
}

/** The roots the actor starts from: the own one and shared folders. */
export async function listRoots(deps: LibraryDeps, actor: Actor): Promise<FolderView[]> {
  const { roots } = await scopeOf(deps.storage, actor);
  return folderViews(deps.storage, actor, roots);
}

/** Every folder the actor can read, the roots first of each tree, by path. */
export async function listTree(deps: LibraryDeps, actor: Actor): Promise<FolderView[]> {
  const { tree } = await scopeOf(deps.storage, actor);
  const views = await folderViews(deps.storage, actor, tree);
  return views.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
}

/** Rename and/or move (within its owner's tree). AppError not_found, invalid, conflict (taken name, into itself, too deep). */
export async function changeFolder(
  deps: LibraryDeps,
  actor: Actor,
  id: string,
  wanted: { name?: string; parentId?: string },
): Promise<FolderView> {
  const action = wanted.parentId === undefined ? 'folder renamed' : 'folder moved';
  return change(deps, actor, { action, object: { kind: 'folder', id } }, async (stores) => {
    const folder = await requireFolder(stores, actor, 'edit', id);
    const currentParent = await parentOf(stores, folder);
    const before = (await stores.folders.paths([folder.ref])).get(folder.ref) ?? folder.name;
    const target = wanted.parentId === undefined ? currentParent : await requireNewParent(stores, actor, folder, wanted.parentId);
    const name = wanted.name === undefined ? folder.name : cleanFolderName(wanted.name);
    await requireFreeFolderName(stores, target, name, folder.ref);
    const update = { name, nameKey: foldName(name), parent: target.ref };
    await stores.folders.update(folder.ref, update);
    if (name !== folder.name) await deps.indexFolderName(stores, { ...folder, ...update });
    const view = await folderView(stores, actor, { ...folder, ...update });
    await deps.audit.append(stores, { actor, action, object: { kind: 'folder', id }, detail: `${before} → ${view.path}` });
    return view;
  });
}

async function requireNewParent(stores: Stores, actor: Actor, folder: FolderRow, parentId: string): Promise<FolderRow> {
  const target = await requireFolder(stores, actor, 'edit', parentId);
  if (target.owner !== folder.owner) {
    throw new AppError('invalid', "A folder stays with its owner — move it to another of its owner's folders", { field: 'parentId' });
  }
  if ((await stores.folders.ancestors(target.ref)).some((above) => above.ref === folder.ref)) {
    throw new AppError('conflict', `'${folder.name}' cannot be moved into itself — choose a folder outside it`, { field: 'parentId' });
  }
  if (target.ref !== folder.parent) await requireDepth(stores, target, heightOf(folder, await stores.folders.everythingBelow(folder.ref)));
  return target;
}
