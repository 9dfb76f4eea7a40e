/** Tables of the embedded search index (docs/decisions, "own postings"). All carry the prefix `search_`. */
import type { Database } from 'better-sqlite3';

/**
 * Creates the index's tables; part of the first migration.
 *
 * Excerpts are numbered by *slots*, handed out in order of commit and never again: a document has consecutive slots for its
 * excerpts, and one slot for its title that changes when it is renamed. Segments hold postings of disjoint slot ranges and
 * never change; what is gone is gone because no live document owns its slots any more.
 */
export function createSearchTables(db: Database): void {
  db.exec(`
    CREATE TABLE search_documents (
      document INTEGER PRIMARY KEY,
      id TEXT NOT NULL,
      folder INTEGER NOT NULL,
      live INTEGER NOT NULL,
      first_slot INTEGER NOT NULL,
      slots INTEGER NOT NULL,
      title_slot INTEGER NOT NULL,
      language TEXT NOT NULL,
      -- Words per excerpt, 16 bits each.
      lengths BLOB NOT NULL,
      -- Per excerpt: chunk ref, page (0: none) and position as varints of differences.
      layout BLOB NOT NULL
    ) STRICT;
    CREATE INDEX search_documents_by_slot ON search_documents (first_slot);
    CREATE INDEX search_documents_by_title ON search_documents (title_slot);

    -- state: live, building (a merge is writing it), dropping (replaced; its rows are being removed).
    CREATE TABLE search_segments (
      segment INTEGER PRIMARY KEY AUTOINCREMENT,
      state TEXT NOT NULL,
      first_slot INTEGER NOT NULL,
      end_slot INTEGER NOT NULL,
      -- Slots with postings when written, for the choice of merges.
      slots INTEGER NOT NULL,
      bytes INTEGER NOT NULL,
      -- Merges: the segments that become this one, and the last term written.
      sources TEXT,
      cursor TEXT,
      -- Small segments whole; larger ones are rows of search_postings.
      data BLOB
    ) STRICT;

    CREATE TABLE search_postings (
      segment INTEGER NOT NULL,
      term TEXT NOT NULL,
      count INTEGER NOT NULL,
      slots BLOB NOT NULL,
      codes BLOB NOT NULL,
      PRIMARY KEY (segment, term)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE search_folders (folder INTEGER PRIMARY KEY, terms TEXT NOT NULL) STRICT;

    -- What searching threads must read again: documents by change, in order; segments and folders as a whole.
    CREATE TABLE search_changes (seq INTEGER PRIMARY KEY AUTOINCREMENT, document INTEGER NOT NULL) STRICT;
    CREATE TABLE search_state (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    INSERT INTO search_state (name, value) VALUES ('next_slot', 0), ('segments', 0), ('folders', 0);
  `);
}
