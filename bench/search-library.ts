/** A database that holds nothing but excerpts, names and notes, and their index: what the search benchmarks and tests fill and ask. */
import Sqlite, { type Database } from 'better-sqlite3';
import { analyseDocument } from '../src/search/analysis/document.ts';
import { chunkPages } from '../src/search/chunk.ts';
import type { IndexedChunk } from '../src/search/types.ts';
import { openSearchMaintenance } from '../src/storage/sqlite/search-merge.ts';
import { createSearchTables } from '../src/storage/sqlite/search-tables.ts';
import { addDocument, removeDocument } from '../src/storage/sqlite/search-writer.ts';

export interface LibraryDocument {
  ref: number;
  id: string;
  folder: number;
  /** As a reader finds it in the file; empty: it has none, and goes by its name. */
  title: string;
  name?: string;
  text?: string;
  chunks?: IndexedChunk[];
  live?: boolean;
}

export interface SearchLibrary {
  db: Database;
  path: string;
  /** Adds or replaces documents in one transaction. */
  add(documents: readonly LibraryDocument[]): void;
  remove(ref: number): void;
  /** Merges until there is nothing to merge. */
  settle(): void;
  close(): void;
}

/** Makes a new database at a path with the tables searching needs. */
export function createSearchLibrary(path: string): SearchLibrary {
  const db = new Sqlite(path);
  db.pragma('journal_mode = WAL');
  db.exec(`CREATE TABLE chunks (ref INTEGER PRIMARY KEY, document INTEGER NOT NULL, position INTEGER NOT NULL, page INTEGER,
    section TEXT, text TEXT NOT NULL) STRICT; CREATE INDEX chunks_of ON chunks (document)`);
  createSearchTables(db);
  db.close();
  return openSearchLibrary(path);
}

/** Opens one that was made before. */
export function openSearchLibrary(path: string): SearchLibrary {
  const db = new Sqlite(path, { fileMustExist: true });
  db.pragma('synchronous = NORMAL');
  // A kept one may be from before there were names in it.
  db.exec(`CREATE TABLE IF NOT EXISTS documents (ref INTEGER PRIMARY KEY, name TEXT NOT NULL, title TEXT) STRICT;
    CREATE TABLE IF NOT EXISTS pages (document INTEGER NOT NULL, number INTEGER NOT NULL, notes TEXT, PRIMARY KEY (document, number)) STRICT;
    CREATE INDEX IF NOT EXISTS pages_notes ON pages (document, number) WHERE notes IS NOT NULL`);
  const addNotes = db.prepare('INSERT INTO pages (document, number, notes) VALUES (?, ?, ?)');
  const dropNotes = db.prepare('DELETE FROM pages WHERE document = ?');
  const addNames = db.prepare('INSERT OR REPLACE INTO documents (ref, name, title) VALUES (?, ?, ?)');
  const addChunk = db.prepare('INSERT INTO chunks (document, position, page, section, text) VALUES (?, ?, ?, ?, ?)');
  const dropNames = db.prepare('DELETE FROM documents WHERE ref = ?');
  const dropChunks = db.prepare('DELETE FROM chunks WHERE document = ?');
  const write = db.transaction((prepared: readonly { entry: LibraryDocument; chunks: IndexedChunk[] }[]) => {
    for (const { entry, chunks } of prepared) {
      const name = entry.name ?? '';
      const analysed = analyseDocument({ title: entry.title || name, name: entry.name }, chunks);
      addNames.run(entry.ref, name, entry.title || null);
      dropChunks.run(entry.ref);
      dropNotes.run(entry.ref);
      for (const { page, extra } of chunks) if (extra !== undefined) addNotes.run(entry.ref, page, extra);
      const chunkRefs = chunks.map((chunk) =>
        Number(addChunk.run(entry.ref, chunk.position, chunk.page, chunk.section, chunk.text).lastInsertRowid),
      );
      addDocument(db, { document: entry.ref, documentId: entry.id, folder: entry.folder, live: entry.live ?? true, analysed, chunkRefs });
    }
  });
  return {
    db,
    path,
    add: (documents) =>
      write(documents.map((entry) => ({ entry, chunks: entry.chunks ?? chunkText(entry.text ?? '') }))),
    remove: (ref) => {
      db.transaction(() => {
        removeDocument(db, ref);
        dropNames.run(ref);
        dropNotes.run(ref);
        dropChunks.run(ref);
      })();
    },
    settle: () => {
      const maintenance = openSearchMaintenance(path);
      while (maintenance.step(200));
      maintenance.close();
    },
    close: () => db.close(),
  };
}

/** Text as a txt file becomes excerpts: estimated pages are cut as one. */
export function chunkText(text: string): IndexedChunk[] {
  return chunkPages([{ number: 1, text, fate: 'text', toView: false }], { pagesEstimated: true });
}
