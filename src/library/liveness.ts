import type { DocumentRow, FolderRow, Stores } from '../storage/ports.ts';

/** Live means: neither it nor any folder above it is in the trash. Whoever writes index rows asks this, in the same transaction. */
export async function isDocumentLive(stores: Stores, document: DocumentRow): Promise<boolean> {
  return document.trashedAt === null && (await isFolderLive(stores, document.folder));
}

export async function isFolderLive(stores: Stores, folder: number): Promise<boolean> {
  const path = await stores.folders.ancestors(folder);
  return path.length > 0 && path.every((one) => one.trashedAt === null);
}

/** Shows or hides in search all documents of these live folders that are not in the trash themselves; how many. */
export async function setLiveInside(stores: Stores, folders: readonly FolderRow[], live: boolean): Promise<number> {
  return stores.index.setLiveInFolders(folders.map((folder) => folder.ref), live);
}
