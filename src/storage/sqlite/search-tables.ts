/** Tables of the embedded search index (docs/decisions, "own postings"). All carry the prefix `search_`. */
import type { Database } from 'better-sqlite3';

/**
 * Excerpts are numbered by *slots*, handed out in order of commit and never again: a document has consecutive slots for its
 * excerpts, and one slot for its title that changes when it is renamed. Segments hold postings of disjoint slot ranges and
 * never change; what is gone is gone because no live document owns its slots any more.
 */
export const searchTables: readonly string[] = [
  // lengths: words per excerpt, 16 bits each. layout: per excerpt chunk ref, page (0: none), position, as differences.
  `create table search_documents (
    document integer primary key, id text not null, folder integer not null, live integer not null,
    first_slot integer not null, slots integer not null, title_slot integer not null, language text not null,
    lengths blob not null, layout blob not null) strict`,
  `create index search_documents_by_slot on search_documents (first_slot)`,
  `create index search_documents_by_title on search_documents (title_slot)`,
  // state: live, building (a merge is writing it), dropping (replaced, its rows are being removed). slots: how many had an
  // owner when it was written. sources and cursor: what a merge reads, and the last term it wrote. data: small segments
  // whole; larger ones are rows of search_postings (long lists) and search_blocks (several terms each, keyed by the
  // first), with a Bloom filter of their terms.
  `create table search_segments (
    segment integer primary key autoincrement, state text not null, first_slot integer not null, end_slot integer not null,
    slots integer not null, bytes integer not null, sources text, cursor text, filter blob, data blob) strict`,
  `create table search_postings (
    segment integer not null, term text not null, count integer not null, slots blob not null, codes blob not null,
    primary key (segment, term)) strict, without rowid`,
  `create table search_blocks (
    segment integer not null, term text not null, data blob not null, primary key (segment, term)) strict, without rowid`,
  // terms: a JSON object, of each term of the name the languages that write it so.
  `create table search_folders (folder integer primary key, terms text not null) strict`,
  // What searching threads must read again: documents by change, in order; segments and folders as a whole (search_state).
  `create table search_changes (seq integer primary key autoincrement, document integer not null) strict`,
  `create table search_state (name text primary key, value integer not null) strict, without rowid`,
  `insert into search_state (name, value) values ('next_slot', 0), ('segments', 0), ('folders', 0)`,
];

/** Creates the index's tables; the first migration runs the same statements. */
export function createSearchTables(db: Database): void {
  for (const statement of searchTables) db.exec(statement);
}
