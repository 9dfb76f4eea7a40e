import { userOf, type Actor } from '../access/actor.ts';
import { AppError } from '../errors.ts';
import type { LibraryDeps } from '../library/deps.ts';
import { createFolder, getFolder } from '../library/folders.ts';
import { cleanLine, foldName } from '../library/names.ts';
import type { FolderView } from '../library/views.ts';

/** As the library compares names, cleaned as it cleans them: a second run finds what the first one made. */
const sameName = (a: string, b: string): boolean => foldName(cleanLine(a)) === foldName(cleanLine(b));

/** `Energy outlooks/Basic`, with or without the owner's root in front, as the names below the root. */
function namesOf(path: string, rootName: string): string[] {
  const names = path
    .split('/')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  return names[0] !== undefined && sameName(names[0], rootName) ? names.slice(1) : names;
}

async function rootOf(deps: LibraryDeps, actor: Actor): Promise<FolderView> {
  const user = userOf(actor);
  const row = user === null ? null : await deps.storage.folders.byRef(user.rootFolder);
  if (row === null) throw new AppError('internal', 'This user has no root folder.');
  return getFolder(deps, actor, row.id, { limit: 1 });
}

/** The folder of that path in the user's own tree; AppError not_found names the part that is missing and what is there. */
export async function findFolder(deps: LibraryDeps, actor: Actor, path: string): Promise<FolderView> {
  let folder = await rootOf(deps, actor);
  for (const name of namesOf(path, folder.name)) {
    const { folders } = await getFolder(deps, actor, folder.id, { limit: 1 });
    const next = folders.find((child) => sameName(child.name, name));
    if (next === undefined) {
      const there = folders.map((child) => child.name).join(', ') || 'no folders';
      throw new AppError('not_found', `There is no folder '${name}' in ${folder.path}; it has ${there}.`);
    }
    folder = next;
  }
  return folder;
}

/** The child folder of that name, made when it is missing. */
export async function ensureChild(
  deps: LibraryDeps,
  actor: Actor,
  parentId: string,
  name: string,
): Promise<FolderView> {
  const existing = async (): Promise<FolderView | undefined> => {
    const { folders } = await getFolder(deps, actor, parentId, { limit: 1 });
    return folders.find((child) => sameName(child.name, name));
  };
  const found = await existing();
  if (found !== undefined) return found;
  try {
    return await createFolder(deps, actor, { name, parentId });
  } catch (error) {
    // Somebody made it in the meantime.
    const made = error instanceof AppError && error.code === 'conflict' ? await existing() : undefined;
    if (made === undefined) throw error;
    return made;
  }
}

/** The folder of that path in the user's own tree, with the parts that are missing made. */
export async function ensureFolder(deps: LibraryDeps, actor: Actor, path: string): Promise<FolderView> {
  let folder = await rootOf(deps, actor);
  for (const name of namesOf(path, folder.name)) folder = await ensureChild(deps, actor, folder.id, name);
  return folder;
}
