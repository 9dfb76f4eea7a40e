import { setImmediate } from 'node:timers/promises';
import type Sqlite from 'better-sqlite3';
import type { IndexStore } from '../ports.ts';

/** What the embedded engine's own SQL offers (search-*.ts); runs on the connection whose transaction is open. */
export interface IndexWriter {
  addDocument(db: Sqlite.Database, document: Parameters<IndexStore['replace']>[0], chunkRefs: readonly number[]): void;
  removeDocument(db: Sqlite.Database, document: number): void;
  /** Many at once; left out, they go one by one. */
  removeDocuments?(db: Sqlite.Database, documents: readonly number[]): void;
  moveDocument(db: Sqlite.Database, document: number, folder: number): void;
  setDocumentLive(db: Sqlite.Database, document: number, live: boolean): void;
  setDocumentsLive?(db: Sqlite.Database, documents: readonly number[], live: boolean): void;
  /** An index that knows no titles and folder names leaves these out. */
  renameDocument?(db: Sqlite.Database, document: number, title: ReadonlyMap<string, number>): void;
  languageOfDocument?(db: Sqlite.Database, document: number): string | null;
  foldersWithoutTerms?(db: Sqlite.Database, limit: number): number[];
  setFolderTerms?(db: Sqlite.Database, folder: number, terms: ReadonlyMap<string, readonly string[]>): void;
}

/** Rows changed in one go: about ten milliseconds. */
const DOCUMENTS_A_TURN = 1_000;

interface ChunkStatements {
  insert: Sqlite.Statement;
  clear: Sqlite.Statement;
  clearAll: Sqlite.Statement;
  inFolders: Sqlite.Statement<[string], number>;
}

/** A store is made for each transaction; its statements are the connection's. */
const prepared = new WeakMap<Sqlite.Database, ChunkStatements>();

function chunkStatements(db: Sqlite.Database): ChunkStatements {
  let statements = prepared.get(db);
  if (statements === undefined) {
    statements = {
      insert: db.prepare('insert into chunks (document, position, page, section, text) values (?, ?, ?, ?, ?)'),
      clear: db.prepare('delete from chunks where document = ?'),
      clearAll: db.prepare('delete from chunks where document in (select value from json_each(?))'),
      inFolders: db
        .prepare<[string], number>('select ref from documents where folder in (select value from json_each(?)) and trashed_at is null')
        .pluck(),
    };
    prepared.set(db, statements);
  }
  return statements;
}

export function createIndexStore(db: Sqlite.Database, writer: IndexWriter): IndexStore {
  const clear = (document: number): void => {
    writer.removeDocument(db, document);
    chunkStatements(db).clear.run(document);
  };
  return {
    async replace(document) {
      clear(document.document);
      const { insert } = chunkStatements(db);
      const refs = document.chunks.map((chunk) =>
        Number(insert.run(document.document, chunk.position, chunk.page, chunk.section, chunk.text).lastInsertRowid),
      );
      writer.addDocument(db, document, refs);
    },
    async remove(documents) {
      if (writer.removeDocuments) writer.removeDocuments(db, documents);
      else for (const document of documents) writer.removeDocument(db, document);
      chunkStatements(db).clearAll.run(JSON.stringify(documents));
    },
    async setFolder(document, folder) {
      writer.moveDocument(db, document, folder);
    },
    async setLive(document, live) {
      writer.setDocumentLive(db, document, live);
    },
    async setLiveInFolders(folders, live) {
      const documents = chunkStatements(db).inFolders.all(JSON.stringify(folders));
      // One transaction, so that all is hidden at once; the event loop has its turns in between.
      for (let from = 0; from < documents.length; from += DOCUMENTS_A_TURN) {
        if (from > 0) await setImmediate();
        const some = documents.slice(from, from + DOCUMENTS_A_TURN);
        if (writer.setDocumentsLive) writer.setDocumentsLive(db, some, live);
        else for (const document of some) writer.setDocumentLive(db, document, live);
      }
      return documents.length;
    },
    async setTitle(document, title) {
      writer.renameDocument?.(db, document, title);
    },
    async languageOf(document) {
      return writer.languageOfDocument?.(db, document) ?? null;
    },
    async setFolderWords(folder, words) {
      writer.setFolderTerms?.(db, folder, words);
    },
    async foldersWithoutWords(limit) {
      return writer.foldersWithoutTerms?.(db, limit) ?? [];
    },
  };
}
