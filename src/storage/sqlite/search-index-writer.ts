/** The embedded engine as the index store drives it: documents in the store's form, on the connection of its transaction. */
import type { AnalysedDocument } from '../../search/types.ts';
import type { IndexWriter } from './index-store.ts';
import {
  addDocument, foldersWithoutTerms, languageOfDocument, moveDocument, removeDocument, removeDocuments, renameDocument, setDocumentLive, setDocumentsLive, setFolderTerms,
} from './search-writer.ts';

export const searchIndexWriter: IndexWriter = {
  addDocument: (db, entry, chunkRefs) =>
    addDocument(db, {
      document: entry.document,
      documentId: entry.documentId,
      folder: entry.folder,
      live: entry.live,
      // Made by `analyseDocument`: the store carries it without looking inside.
      analysed: entry.analysed as AnalysedDocument,
      chunkRefs,
    }),
  removeDocument,
  removeDocuments,
  moveDocument,
  setDocumentLive,
  setDocumentsLive,
  renameDocument,
  languageOfDocument,
  setFolderTerms,
  foldersWithoutTerms,
};
