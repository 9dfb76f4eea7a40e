import type { Actor } from '../access/actor.ts';
import type { LibraryDeps } from './deps.ts';
import type { DocumentView } from './views.ts';

export async function getDocument(deps: LibraryDeps, actor: Actor, id: string): Promise<DocumentView> {
  throw new Error(`not landed yet ${[deps, actor, id].length}`);
}

/** Everything the actor can read, newest first; `folderId` narrows to one folder with all inside. */
export async function listDocuments(
  deps: LibraryDeps,
  actor: Actor,
  options: { limit: number; offset: number; folderId?: string },
): Promise<{ total: number; documents: DocumentView[] }> {
  throw new Error(`not landed yet ${[deps, actor, options].length}`);
}

/** Documents of exactly that name directly in a folder: what a resumed import skips. Needs edit on the folder. */
export async function findByName(deps: LibraryDeps, actor: Actor, folderId: string, name: string): Promise<DocumentView[]> {
  throw new Error(`not landed yet ${[deps, actor, folderId, name].length}`);
}

/** Rename and/or move (within its owner's tree). */
export async function changeDocument(deps: LibraryDeps, actor: Actor, id: string, change: { name?: string; folderId?: string }): Promise<DocumentView> {
  throw new Error(`not landed yet ${[deps, actor, id, change].length}`);
}

export async function trashDocument(deps: LibraryDeps, actor: Actor, id: string): Promise<void> {
  throw new Error(`not landed yet ${[deps, actor, id].length}`);
}

/** Back into its folder, or the owner's root when that is gone (`said` tells so). */
export async function restoreDocument(deps: LibraryDeps, actor: Actor, id: string): Promise<DocumentView & { said?: string }> {
  throw new Error(`not landed yet ${[deps, actor, id].length}`);
}

/** For good, trashed before or not. Owner only. */
export async function purgeDocument(deps: LibraryDeps, actor: Actor, id: string): Promise<void> {
  throw new Error(`not landed yet ${[deps, actor, id].length}`);
}
