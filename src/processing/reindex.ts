import { analyseTitle } from '../search/analysis/document.ts';
import type { DocumentRow, FolderRow, Stores } from '../storage/ports.ts';

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
  await stores.index.setFolderWords(folder.ref, [...analyseTitle(folder.name, undefined, 'en').keys()]);
}
