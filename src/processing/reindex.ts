import { analyseTitle } from '../search/analysis/document.ts';
import { analyseFolderName } from '../search/analysis/folder-name.ts';
import type { DocumentRow, FolderRow, Storage, Stores } from '../storage/ports.ts';

/**
 * After a rename, inside its transaction: a document is found by its name beside the title that its file has. One that is not indexed yet
 * is left to its reading.
 */
export async function reindexTitle(stores: Stores, document: DocumentRow): Promise<void> {
  const language = await stores.index.languageOf(document.ref);
  if (language !== null) await stores.index.setTitle(document.ref, analyseTitle(document.title ?? document.name, document.name, language));
}

/** Documents are found, a little, by the name of the folder they lie in. */
export async function indexFolderName(stores: Stores, folder: FolderRow): Promise<void> {
  await stores.index.setFolderWords(folder.ref, analyseFolderName(folder.name));
}

/** Read in one transaction: a tenth of a second. */
const FOLDERS_A_TURN = 200;

/** At a start: the names of folders that an upgrade left to be read. */
export async function indexUnreadFolderNames(storage: Storage): Promise<void> {
  while ((await storage.index.foldersWithoutWords(1)).length > 0) {
    await storage.transaction(async (stores) => {
      const unread = await stores.index.foldersWithoutWords(FOLDERS_A_TURN);
      const folders = new Map((await stores.folders.byRefs(unread)).map((folder) => [folder.ref, folder]));
      for (const ref of unread) {
        const folder = folders.get(ref);
        if (folder === undefined) await stores.index.setFolderWords(ref, new Map());
        else await indexFolderName(stores, folder);
      }
    });
  }
}
