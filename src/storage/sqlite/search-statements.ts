/** The write side's statements, prepared once a connection. */
import type { Database, Statement } from 'better-sqlite3';

const SQL = {
  takeSlots: `UPDATE search_state SET value = value + ? WHERE name = 'next_slot' RETURNING value`,
  bump: `UPDATE search_state SET value = value + 1 WHERE name = ?`,
  putDocument: `INSERT OR REPLACE INTO search_documents (document, id, folder, live, first_slot, slots, title_slot, language, lengths, layout)
    VALUES (@document, @id, @folder, @live, @first, @slots, @titleSlot, @language, @lengths, @layout)`,
  removeDocument: `DELETE FROM search_documents WHERE document = ?`,
  removeDocuments: `DELETE FROM search_documents WHERE document IN (SELECT value FROM json_each(?))`,
  moveDocument: `UPDATE search_documents SET folder = ? WHERE document = ?`,
  setLive: `UPDATE search_documents SET live = ? WHERE document = ?`,
  setAllLive: `UPDATE search_documents SET live = ? WHERE document IN (SELECT value FROM json_each(?))`,
  setTitleSlot: `UPDATE search_documents SET title_slot = ? WHERE document = ?`,
  language: `SELECT language FROM search_documents WHERE document = ?`,
  noteChange: `INSERT INTO search_changes (document) VALUES (?)`,
  noteChanges: `INSERT INTO search_changes (document) SELECT value FROM json_each(?)`,
  forgetChanges: `DELETE FROM search_changes WHERE seq <= ?`,
  putFolder: `INSERT OR REPLACE INTO search_folders (folder, terms) VALUES (?, ?)`,
  removeFolder: `DELETE FROM search_folders WHERE folder = ?`,
  emptyFolders: `SELECT folder FROM search_folders WHERE terms = '{}' LIMIT ?`,
  addSegment: `INSERT INTO search_segments (state, first_slot, end_slot, slots, bytes, sources, data)
    VALUES (@state, @first, @end, @slots, @bytes, @sources, @data)`,
  addPostings: `INSERT INTO search_postings (segment, term, count, slots, codes) VALUES (?, ?, ?, ?, ?)`,
  finishLarge: `UPDATE search_segments SET bytes = ?, filter = ? WHERE segment = ?`,
  addBlock: `INSERT INTO search_blocks (segment, term, data) VALUES (?, ?, ?)`,
  // Merging.
  segments: `SELECT segment, state, first_slot AS first, end_slot AS "end", slots, bytes, sources, cursor, data IS NOT NULL AS small
    FROM search_segments ORDER BY first_slot, segment`,
  lastChange: `SELECT COALESCE(MAX(seq), 0) AS last FROM search_changes`,
  segmentData: `SELECT data FROM search_segments WHERE segment = ?`,
  postingsAfter: `SELECT CAST(term AS BLOB) AS term, count, slots, codes FROM search_postings WHERE segment = ? AND term > ? ORDER BY term LIMIT ?`,
  // The block that holds a term begins at or before it.
  blocksFrom: `SELECT term, data FROM search_blocks WHERE segment = ? AND term >= COALESCE(
    (SELECT MAX(term) FROM search_blocks WHERE segment = ? AND term <= ?), '') ORDER BY term LIMIT ?`,
  blocksAfter: `SELECT term, data FROM search_blocks WHERE segment = ? AND term > ? ORDER BY term LIMIT ?`,
  termsOf: `SELECT CAST(term AS BLOB) AS term FROM search_postings WHERE segment = ?`,
  blocksOf: `SELECT data FROM search_blocks WHERE segment = ?`,
  moveCursor: `UPDATE search_segments SET cursor = ?, bytes = ? WHERE segment = ?`,
  dropBuilding: `UPDATE search_segments SET state = 'dropping' WHERE state = 'building'`,
  setState: `UPDATE search_segments SET state = ? WHERE segment = ?`,
  finishSegment: `UPDATE search_segments SET state = 'live', slots = ?, filter = ?, sources = NULL, cursor = NULL WHERE segment = ?`,
  dropPostings: `DELETE FROM search_postings WHERE segment = ? AND term IN (SELECT term FROM search_postings WHERE segment = ? LIMIT ?)`,
  dropBlocks: `DELETE FROM search_blocks WHERE segment = ? AND term IN (SELECT term FROM search_blocks WHERE segment = ? LIMIT ?)`,
  dropSegment: `DELETE FROM search_segments WHERE segment = ?`,
  ownedSlots: `SELECT first_slot AS first, slots FROM search_documents WHERE first_slot >= ? AND first_slot < ? ORDER BY first_slot`,
  ownedTitles: `SELECT title_slot AS slot FROM search_documents WHERE title_slot >= ? AND title_slot < ?`,
} as const;

export type SearchStatements = Record<keyof typeof SQL, Statement<unknown[], unknown>>;

const prepared = new WeakMap<Database, SearchStatements>();

export function statementsOf(db: Database): SearchStatements {
  let statements = prepared.get(db);
  if (statements === undefined) {
    const entries = Object.entries(SQL).map(([name, sql]) => [name, db.prepare(sql)]);
    statements = Object.fromEntries(entries) as SearchStatements;
    prepared.set(db, statements);
  }
  return statements;
}
