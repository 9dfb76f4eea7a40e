import type { Actor } from '../access/actor.ts';
import type { LibraryDeps } from './deps.ts';
import type { FolderContents, FolderView, TrashView } from './views.ts';

/** Needs edit on the parent. AppError not_found, invalid (name, field `name`; deeper than 32), conflict (name taken there). */
export async function createFolder(deps: LibraryDeps, actor: Actor, input: { name: string; parentId: string }): Promise<FolderView> {
  throw new Error(`not landed yet ${[deps, actor, input].length}`);
}

/** A folder with what is directly in it. Documents by name, `limit` at a time (default 500, at most 1,000). */
export async function getFolder(deps: LibraryDeps, actor: Actor, id: string, page?: { limit?: number; offset?: number }): Promise<FolderContents> {
  throw new Error(`not landed yet ${[deps, actor, id, page].length}`);
}

/** The roots the actor starts from: the own one and shared folders. */
export async function listRoots(deps: LibraryDeps, actor: Actor): Promise<FolderView[]> {
  throw new Error(`not landed yet ${[deps, actor].length}`);
}

/** Rename and/or move (within its owner's tree). AppError not_found, invalid, conflict (taken name, into itself, too deep). */
export async function changeFolder(deps: LibraryDeps, actor: Actor, id: string, change: { name?: string; parentId?: string }): Promise<FolderView> {
  throw new Error(`not landed yet ${[deps, actor, id, change].length}`);
}

/** To the trash with all inside: gone from every search, list and key at once. */
export async function trashFolder(deps: LibraryDeps, actor: Actor, id: string): Promise<void> {
  throw new Error(`not landed yet ${[deps, actor, id].length}`);
}

/** Back where it was, or into the owner's root when that place is gone (`said` tells so). */
export async function restoreFolder(deps: LibraryDeps, actor: Actor, id: string): Promise<FolderView & { said?: string }> {
  throw new Error(`not landed yet ${[deps, actor, id].length}`);
}

/** For good: the folder, all folders and documents inside, their pages, index rows and blobs. Owner only. */
export async function purgeFolder(deps: LibraryDeps, actor: Actor, id: string): Promise<void> {
  throw new Error(`not landed yet ${[deps, actor, id].length}`);
}

/** What this user threw away, newest first. */
export async function listTrash(deps: LibraryDeps, actor: Actor): Promise<TrashView> {
  throw new Error(`not landed yet ${[deps, actor].length}`);
}
