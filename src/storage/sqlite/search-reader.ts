/** What a searching thread reads of the embedded index: a read-only connection, prepared statements, one snapshot a search. */
import Sqlite, { type Database, type Statement } from 'better-sqlite3';
import { mayContain, readFilter } from './search-filter.ts';
import { BlobCursor, compareBytes } from './search-cursor.ts';
import { compareTerms, findInSegment, someSlot } from './search-postings.ts';
import { openSmall, type SmallTerms } from './search-small.ts';

export interface SegmentInfo {
  segment: number;
  first: number;
  end: number;
  small: boolean;
}

export interface Postings {
  count: number;
  slots: Uint8Array;
  /** Empty: every code is 1. Undefined: not read yet (`codesOf`). */
  codes: Uint8Array | undefined;
}

export interface DocumentEntry {
  document: number;
  id: string;
  folder: number;
  live: boolean;
  first: number;
  slots: number;
  titleSlot: number;
  language: string;
  /** Words per excerpt. */
  lengths: Uint16Array;
}

export interface ExcerptPlace {
  chunk: number;
  page: number | null;
  position: number;
}

export interface TermsBound {
  most: number;
  /** Called now and then while terms are looked at; throws when the search was given up. */
  check: () => void;
}

export interface SearchReader {
  /** Runs `work` on one snapshot of the database. */
  snapshot<T>(work: () => T): T;
  /** Changes with every commit of another connection. */
  dataVersion(): number;
  state(): { nextSlot: number; segments: number; folders: number; lastChange: number; firstChange: number };
  /** Documents changed after a place in the log of changes: refs, each once. */
  changedAfter(seq: number): number[];
  allDocuments(each: (entry: DocumentEntry) => void): void;
  document(ref: number): DocumentEntry | null;
  segments(): SegmentInfo[];
  /** Terms of folders' names, each with the languages that write it so. */
  folders(): { folder: number; terms: Record<string, string[]> }[];
  /** Postings of a term in a segment. Long lists come without codes. */
  postings(segment: SegmentInfo, term: string): Postings | null;
  codesOf(segment: SegmentInfo, term: string): Uint8Array;
  /** False: the segment does not have the term. Costs next to nothing. */
  mayHave(segment: SegmentInfo, term: string): boolean;
  /** Terms of a segment that start so and have a slot that passes: the first `most` in order, and some more. */
  termsFrom(segment: SegmentInfo, prefix: string, bound: TermsBound, test: (slot: number) => boolean): string[];
  /** Where a document's excerpts are, in order. */
  layout(document: number): ExcerptPlace[];
  /** Shown text and heading of an excerpt, or null when its row is gone. */
  text(chunk: number): { text: string; section: string | null } | null;
  /** What a document is called, or null when its row is gone. */
  called(document: number): { name: string; title: string | null } | null;
  /** Notes of a page, or null when it has none. */
  notes(document: number, page: number): string | null;
  close(): void;
}

/** Lists longer than this are read without their codes first: often they only have to be counted. */
const LONG_LIST = 8_192;

const TEXT = `SELECT text, section FROM chunks WHERE ref = ?`;
const CALLED = `SELECT name, title FROM documents WHERE ref = ?`;
/** By the index of pages that have some: most have none, and the text of such a page need not be read to know it. */
const NOTES = `SELECT notes FROM pages INDEXED BY pages_notes WHERE document = ? AND number = ? AND notes IS NOT NULL`;

/** Terms that are looked at between two checks: about a millisecond. */
const CHECK_EVERY = 4_096;

/** Terms of a segment that have rows of their own, with how many slots each has. */
interface LongTerms {
  counts: ReadonlyMap<string, number>;
  /** As SQLite orders them. */
  inOrder: string[];
}

/** The place of the first of some terms in order that is not before one. */
function firstFrom(terms: readonly string[], term: string): number {
  let [from, end] = [0, terms.length];
  while (from < end) {
    const middle = (from + end) >> 1;
    if (compareTerms(terms[middle]!, term) < 0) from = middle + 1;
    else end = middle;
  }
  return from;
}

/** Opens a database file for searching. Throws when the file or the index's tables are not there. */
export function openSearchReader(databasePath: string): SearchReader {
  const db = new Sqlite(databasePath, { readonly: true, fileMustExist: true });
  db.pragma('query_only = ON');
  db.pragma('cache_size = -12000');
  db.pragma('busy_timeout = 2000');
  return readerOver(db);
}

/** The same over an open connection, for tests and one-off reports. */
export function readerOver(db: Database): SearchReader {
  const begin = db.prepare('BEGIN');
  const end = db.prepare('COMMIT');
  const documentColumns = `SELECT document, id, folder, live, first_slot AS first, slots, title_slot AS titleSlot, language, lengths FROM search_documents`;
  const sql = {
    state: db.prepare(`SELECT name, value FROM search_state`),
    // Asked one by one: both ends in one question would read all rows between.
    changes: db.prepare(`SELECT COALESCE((SELECT MIN(seq) FROM search_changes), 0) AS first, COALESCE((SELECT MAX(seq) FROM search_changes), 0) AS last`),
    changed: db.prepare(`SELECT DISTINCT document FROM search_changes WHERE seq > ?`).pluck(),
    all: db.prepare(`${documentColumns} ORDER BY first_slot`),
    one: db.prepare(`${documentColumns} WHERE document = ?`),
    segments: db.prepare(
      `SELECT segment, first_slot AS first, end_slot AS "end", data IS NOT NULL AS small FROM search_segments WHERE state = 'live' ORDER BY first_slot`,
    ),
    filter: db.prepare(`SELECT filter FROM search_segments WHERE segment = ?`).pluck(),
    data: db.prepare(`SELECT data FROM search_segments WHERE segment = ?`).pluck(),
    folders: db.prepare(`SELECT folder, terms FROM search_folders`),
    long: db.prepare(`SELECT term, count FROM search_postings WHERE segment = ? ORDER BY term`).raw(true),
    slots: db.prepare(`SELECT count, slots FROM search_postings WHERE segment = ? AND term = ?`),
    both: db.prepare(`SELECT count, slots, codes FROM search_postings WHERE segment = ? AND term = ?`),
    codes: db.prepare(`SELECT codes FROM search_postings WHERE segment = ? AND term = ?`).pluck(),
    block: db.prepare(`SELECT term, data FROM search_blocks WHERE segment = ? AND term <= ? ORDER BY term DESC LIMIT 1`).raw(true),
    blocksAfter: db.prepare(`SELECT data FROM search_blocks WHERE segment = ? AND term > ? ORDER BY term`).pluck(),
    layout: db.prepare(`SELECT slots, layout FROM search_documents WHERE document = ?`),
  };
  // Prepared when first used: these tables are not the index's own.
  const prepared = new Map<string, Statement<number[]>>();
  const lookUp = (statement: string, ...refs: number[]): unknown => {
    let known = prepared.get(statement);
    if (known === undefined) prepared.set(statement, (known = db.prepare<number[]>(statement)));
    return known.get(...refs);
  };
  const smallSegments = new Map<number, SmallTerms>();

  const filters = new Map<number, Uint32Array>();
  const mayHave = (segment: SegmentInfo, term: string): boolean => {
    if (segment.small) return smallTerms(segment.segment).has(term);
    let filter = filters.get(segment.segment);
    if (filter === undefined) filters.set(segment.segment, (filter = readFilter(sql.filter.get(segment.segment) as Buffer)));
    return mayContain(filter, term);
  };
  const longTerms = new Map<number, LongTerms>();
  /** Some hundred terms have rows of their own: looking in the table for one goes through long rows (SQLite compares whole ones). */
  const longTermsOf = (segment: SegmentInfo): LongTerms => {
    let terms = longTerms.get(segment.segment);
    if (terms === undefined) {
      const counts = new Map(sql.long.all(segment.segment) as [string, number][]);
      longTerms.set(segment.segment, (terms = { counts, inOrder: [...counts.keys()] }));
    }
    return terms;
  };
  const inBlock = (segment: SegmentInfo, term: string): Postings | null => {
    const block = sql.block.get(segment.segment, term) as [string, Buffer] | undefined;
    return block === undefined ? null : findInSegment(block[1], term);
  };
  const termsInBlocks = (segment: SegmentInfo, prefix: string, bound: TermsBound, test: (slot: number) => boolean): string[] => {
    const found: string[] = [];
    // The block that holds the first may begin before it. Mostly it holds all.
    const first = sql.block.get(segment.segment, prefix) as [string, Buffer] | undefined;
    let rest: IterableIterator<unknown> | null = null;
    let begun = false;
    const cursor = new BlobCursor(segment.first, () => {
      if (!begun && first !== undefined) {
        begun = true;
        return [first[1]];
      }
      rest ??= sql.blocksAfter.iterate(segment.segment, first?.[0] ?? '');
      const { done, value } = rest.next();
      return done ? [] : [value as Buffer];
    });
    const start = Buffer.from(prefix);
    try {
      for (let looked = 1; found.length < bound.most && cursor.next(); looked++) {
        if (looked % CHECK_EVERY === 0) bound.check();
        const { name, nameAt, nameEnd } = cursor;
        const order = compareBytes(name, nameAt, Math.min(nameEnd, nameAt + start.length), start, 0, start.length);
        if (order > 0) break;
        if (order < 0 || !someSlot(cursor.slots, cursor.slotsAt, cursor.count, segment.first, test)) continue;
        found.push(Buffer.from(name.subarray(nameAt, nameEnd)).toString());
      }
    } finally {
      (rest as IterableIterator<unknown> | null)?.return?.();
    }
    return found;
  };
  const smallTerms = (segment: number): SmallTerms => {
    let terms = smallSegments.get(segment);
    if (terms === undefined) smallSegments.set(segment, (terms = openSmall(sql.data.get(segment) as Buffer | null | undefined)));
    return terms;
  };

  return {
    snapshot: (work) => {
      begin.run();
      try {
        return work();
      } finally {
        end.run();
      }
    },
    dataVersion: () => db.pragma('data_version', { simple: true }) as number,
    state: () => {
      const values = new Map((sql.state.all() as { name: string; value: number }[]).map((row) => [row.name, row.value]));
      const changes = sql.changes.get() as { first: number; last: number };
      return {
        nextSlot: values.get('next_slot')!,
        segments: values.get('segments')!,
        folders: values.get('folders')!,
        lastChange: changes.last,
        firstChange: changes.first,
      };
    },
    changedAfter: (seq) => sql.changed.all(seq) as number[],
    allDocuments: (each) => {
      for (const row of sql.all.iterate()) each(documentEntry(row as RawDocument));
    },
    document: (ref) => {
      const row = sql.one.get(ref) as RawDocument | undefined;
      return row === undefined ? null : documentEntry(row);
    },
    segments: () => {
      const rows = sql.segments.all() as { segment: number; first: number; end: number; small: number }[];
      const live = new Set(rows.map((row) => row.segment));
      for (const segment of smallSegments.keys()) if (!live.has(segment)) smallSegments.delete(segment);
      for (const known of [filters, longTerms]) for (const segment of known.keys()) if (!live.has(segment)) known.delete(segment);
      return rows.map((row) => ({ segment: row.segment, first: row.first, end: row.end, small: row.small === 1 }));
    },
    folders: () => {
      const rows = sql.folders.all() as { folder: number; terms: string }[];
      return rows.map((row) => ({ folder: row.folder, terms: JSON.parse(row.terms) as Record<string, string[]> }));
    },
    postings: (segment, term) => {
      if (segment.small) return smallTerms(segment.segment).get(term);
      if (!mayHave(segment, term)) return null;
      const count = longTermsOf(segment).counts.get(term);
      if (count === undefined) return inBlock(segment, term);
      const read = count > LONG_LIST ? sql.slots : sql.both;
      return read.get(segment.segment, term) as Postings;
    },
    codesOf: (segment, term) => {
      const codes = segment.small ? smallTerms(segment.segment).get(term)?.codes : sql.codes.get(segment.segment, term);
      return (codes as Buffer | undefined) ?? inBlock(segment, term)!.codes!;
    },
    mayHave,
    termsFrom: (segment, prefix, bound, test) => {
      if (segment.small) return smallTerms(segment.segment).startingWith(prefix, segment.first, test);
      const { inOrder } = longTermsOf(segment);
      const long: string[] = [];
      for (let at = firstFrom(inOrder, prefix); at < inOrder.length && inOrder[at]!.startsWith(prefix) && long.length < bound.most; at++) {
        const { count, slots } = sql.slots.get(segment.segment, inOrder[at]!) as { count: number; slots: Buffer };
        if (someSlot(slots, 0, count, segment.first, test)) long.push(inOrder[at]!);
      }
      return [...long, ...termsInBlocks(segment, prefix, bound, test)];
    },
    layout: (document) => {
      const row = sql.layout.get(document) as { slots: number; layout: Buffer } | undefined;
      return row === undefined ? [] : decodeLayout(row.layout, row.slots);
    },
    text: (chunk) => (lookUp(TEXT, chunk) as ReturnType<SearchReader['text']> | undefined) ?? null,
    called: (document) => (lookUp(CALLED, document) as ReturnType<SearchReader['called']> | undefined) ?? null,
    notes: (document, page) => (lookUp(NOTES, document, page) as { notes: string } | undefined)?.notes ?? null,
    close: () => db.close(),
  };
}

interface RawDocument {
  document: number;
  id: string;
  folder: number;
  live: number;
  first: number;
  slots: number;
  titleSlot: number;
  language: string;
  lengths: Buffer;
}

function documentEntry(row: RawDocument): DocumentEntry {
  const lengths = new Uint16Array(row.slots);
  Buffer.from(lengths.buffer).set(row.lengths);
  return { ...row, live: row.live === 1, lengths };
}

function decodeLayout(bytes: Buffer, count: number): ExcerptPlace[] {
  let at = 0;
  const difference = (): number => {
    let value = 0;
    let scale = 1;
    let byte: number;
    do {
      byte = bytes[at++]!;
      value += (byte & 127) * scale;
      scale *= 128;
    } while (byte > 127);
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  };
  const places: ExcerptPlace[] = [];
  let [chunk, page, position] = [0, 0, 0];
  for (let i = 0; i < count; i++) {
    chunk += difference();
    page += difference();
    position += difference();
    places.push({ chunk, page: page === 0 ? null : page, position });
  }
  return places;
}
