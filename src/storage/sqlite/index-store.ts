import type Sqlite from 'better-sqlite3';
import type { IndexStore } from '../ports.ts';

/** What the embedded engine's own SQL offers (search-*.ts); runs on the connection whose transaction is open. */
export interface IndexWriter {
  addDocument(db: Sqlite.Database, document: Parameters<IndexStore['replace']>[0], chunkRefs: readonly number[]): void;
  removeDocument(db: Sqlite.Database, document: number): void;
  moveDocument(db: Sqlite.Database, document: number, folder: number): void;
  setDocumentLive(db: Sqlite.Database, document: number, live: boolean): void;
  /** An index that knows no titles and folder names leaves these out. */
  renameDocument?(db: Sqlite.Database, document: number, title: ReadonlyMap<string, number>): void;
  languageOfDocument?(db: Sqlite.Database, document: number): string | null;
  setFolderTerms?(db: Sqlite.Database, folder: number, terms: readonly string[]): void;
}

interface ChunkStatements {
  insert: Sqlite.Statement;
  clear: Sqlite.Statement;
}

/** A store is made for each transaction; its statements are the connection's. */
const prepared = new WeakMap<Sqlite.Database, ChunkStatements>();

function chunkStatements(db: Sqlite.Database): ChunkStatements {
  let statements = prepared.get(db);
  if (statements === undefined) {
    statements = {
      insert: db.prepare('insert into chunks (document, position, page, section, text) values (?, ?, ?, ?, ?)'),
      clear: db.prepare('delete from chunks where document = ?'),
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
    async remove(document) {
      clear(document);
    },
    async setFolder(document, folder) {
      writer.moveDocument(db, document, folder);
    },
    async setLive(document, live) {
      writer.setDocumentLive(db, document, live);
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
  };
}
