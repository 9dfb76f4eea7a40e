import { AppError } from '../errors.ts';
import type { FolderRow, Stores } from '../storage/ports.ts';
import { foldName } from './names.ts';

/** A path has at most this many folders, the root included. */
const depthLimit = 32;

/** AppError invalid for a root: it carries its owner's name and stays where it is. */
export async function parentOf(stores: Stores, folder: FolderRow): Promise<FolderRow> {
  const parent = folder.parent === null ? null : await stores.folders.byRef(folder.parent);
  if (parent === null) throw new AppError('invalid', "This is its owner's root folder, which stays as it is — change the folders inside");
  return parent;
}

/** The root folder of a tree's owner. */
export async function rootOf(stores: Stores, owner: number): Promise<FolderRow> {
  const user = await stores.users.byRef(owner);
  const root = user === null ? null : await stores.folders.byRef(user.rootFolder);
  if (root === null) throw new Error('every owner has a root folder');
  return root;
}

/** AppError invalid when something `height` folders high does not fit under the parent. */
export async function requireDepth(stores: Stores, parent: FolderRow, height: number): Promise<void> {
  if (!(await fits(stores, parent, height))) {
    throw new AppError('invalid', `Folders go at most ${depthLimit} deep — choose one further up`, { field: 'parentId' });
  }
}

export async function fits(stores: Stores, parent: FolderRow, height: number): Promise<boolean> {
  return (await stores.folders.ancestors(parent.ref)).length + height <= depthLimit;
}

/** AppError conflict when a live sibling has that name (by NFC and case folding). */
export async function requireFreeFolderName(stores: Stores, parent: FolderRow, name: string, except: number | null): Promise<void> {
  const holder = await stores.folders.childByKey(parent.ref, foldName(name));
  if (holder !== null && holder.ref !== except) {
    throw new AppError('conflict', `There is a folder named '${holder.name}' in '${parent.name}' already — choose another name`, { field: 'name' });
  }
}

/** The name, or the first of `name (2)`, `name (3)`, … that is free there: for restoring, where nobody can be asked. */
export async function freeFolderName(stores: Stores, parent: FolderRow, name: string): Promise<string> {
  for (let number = 1; ; number += 1) {
    const suffix = number === 1 ? '' : ` (${number})`;
    const candidate = Array.from(name).slice(0, 120 - suffix.length).join('').trimEnd() + suffix;
    if ((await stores.folders.childByKey(parent.ref, foldName(candidate))) === null) return candidate;
  }
}

/** How many folders lie on the longest way down from this one, itself included; trashed ones count, they may come back. */
export function heightOf(folder: FolderRow, below: readonly FolderRow[]): number {
  const depths = depthsFrom(folder.ref, below);
  return Math.max(1, ...depths.values());
}

/** Depth of each folder below the first (which is 1). */
export function depthsFrom(top: number, below: readonly FolderRow[]): Map<number, number> {
  const children = new Map<number, number[]>();
  for (const folder of below) {
    if (folder.parent === null || folder.ref === top) continue;
    children.set(folder.parent, [...(children.get(folder.parent) ?? []), folder.ref]);
  }
  const depths = new Map([[top, 1]]);
  const next = [top];
  for (let ref = next.pop(); ref !== undefined; ref = next.pop()) {
    for (const child of children.get(ref) ?? []) {
      depths.set(child, (depths.get(ref) ?? 0) + 1);
      next.push(child);
    }
  }
  return depths;
}
