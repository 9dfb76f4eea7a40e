/**
 * Merging of index segments: many small ones become few large ones, and postings that no document owns any more go away.
 * Runs beside searching and writing on a connection of its own, in short transactions; killed anywhere, it goes on from
 * where the last commit left it.
 */
import Sqlite, { type Database } from 'better-sqlite3';
import { createTermWriter, type TermWriter } from './search-blocks.ts';
import { compareTerms, decodeSlots, encodePostings, readSegment } from './search-postings.ts';
import { statementsOf } from './search-statements.ts';

/** Largest segment that merging makes. Its lists fit the caches of a processor, and no merge rewrites more than this. */
const MAX_SLOTS = 131_072;
/** How many neighbours up to this size are merged into one. */
const TIERS = [
  { upTo: 256, run: 24 },
  { upTo: 2_560, run: 8 },
  { upTo: 20_480, run: 6 },
  { upTo: MAX_SLOTS / 2, run: 4 },
] as const;
/** A segment with fewer owned slots than this share is written anew. */
const KEEP_SHARE = 0.6;
/** No merge reads more segments than this. */
const MAX_RUN = 64;
/** What is owned is counted at most this often. */
const COUNT_EVERY_MS = 60_000;
const ROWS_A_PAGE = 64;
const BLOCKS_A_PAGE = 8;
const DROPPED_ROWS_A_STEP = 1_000;

interface SegmentRow {
  segment: number;
  state: 'live' | 'building' | 'dropping';
  first: number;
  end: number;
  slots: number;
  bytes: number;
  sources: string | null;
  cursor: string | null;
  small: number;
}

interface PostingsRow {
  term: string;
  count: number;
  slots: Buffer;
  codes: Buffer;
}

export interface SearchMaintenance {
  /** One short transaction of work (about `budgetMs`, default 15). True when there is more to do now. */
  step(budgetMs?: number): boolean;
  close(): void;
}

/** Opens the maintenance of the index in this database file. One process does it: the worker. */
export function openSearchMaintenance(databasePath: string): SearchMaintenance {
  const db = new Sqlite(databasePath, { fileMustExist: true });
  db.pragma('busy_timeout = 5000');
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = NORMAL');
  db.pragma('cache_size = -8000');
  let merge: Merge | null = null;
  let counted = { change: -1, atMs: -Infinity };
  const work = db.transaction((budgetMs: number): boolean => {
    const segments = statementsOf(db).segments.all() as SegmentRow[];
    const dropping = segments.find((segment) => segment.state === 'dropping');
    if (dropping !== undefined) return dropSome(db, segments);
    const building = segments.find((segment) => segment.state === 'building');
    if (building !== undefined) {
      if (merge === null || merge.target.segment !== building.segment) merge = startMerge(db, building, segments);
      if (continueMerge(db, merge, budgetMs)) return true;
      merge = null;
      return true;
    }
    const chosen = chooseRun(segments) ?? chooseDead();
    if (chosen === null) return false;
    announceMerge(db, chosen);
    return true;
  });
  /** Counting what is owned reads every document: only after changes, and not for each of a flood of them. */
  const chooseDead = (): SegmentRow[] | null => {
    const { last } = statementsOf(db).lastChange.get() as { last: number };
    if (last === counted.change || performance.now() - counted.atMs < COUNT_EVERY_MS) return null;
    const dead = chooseMostlyDead(db, statementsOf(db).segments.all() as SegmentRow[]);
    if (dead === null) counted = { change: last, atMs: performance.now() };
    return dead;
  };
  return {
    step: (budgetMs = 15) => {
      try {
        return work.immediate(budgetMs);
      } catch (error) {
        merge = null;
        throw error;
      }
    },
    close: () => db.close(),
  };
}

function dropSome(db: Database, segments: readonly SegmentRow[]): boolean {
  const statements = statementsOf(db);
  let left = DROPPED_ROWS_A_STEP;
  for (const { segment, state, small } of segments) {
    if (state !== 'dropping') continue;
    if (left <= 0) break;
    if (!small) left -= statements.dropPostings.run(segment, segment, left).changes;
    if (!small && left > 0) left -= statements.dropBlocks.run(segment, segment, left).changes;
    if (small || left > 0) statements.dropSegment.run(segment);
  }
  return true;
}

/** Neighbouring segments worth merging; null when there are none. */
function chooseRun(segments: readonly SegmentRow[]): SegmentRow[] | null {
  for (const tier of TIERS) {
    let run: SegmentRow[] = [];
    let slots = 0;
    for (const segment of segments) {
      const fits = segment.slots <= tier.upTo && slots + segment.slots <= MAX_SLOTS && run.length < MAX_RUN;
      if (!fits) {
        if (run.length >= tier.run) return run;
        [run, slots] = [[], 0];
        if (segment.slots > tier.upTo) continue;
      }
      run.push(segment);
      slots += segment.slots;
    }
    if (run.length >= tier.run) return run;
  }
  return null;
}

function chooseMostlyDead(db: Database, segments: readonly SegmentRow[]): SegmentRow[] | null {
  for (const segment of segments) {
    const owned = countOwned(db, segment);
    if (owned < segment.slots * KEEP_SHARE) return [segment];
  }
  return null;
}

function countOwned(db: Database, segment: Pick<SegmentRow, 'first' | 'end'>): number {
  const statements = statementsOf(db);
  let owned = (statements.ownedTitles.all(segment.first, segment.end) as unknown[]).length;
  for (const row of statements.ownedSlots.all(segment.first, segment.end) as { slots: number }[]) owned += row.slots;
  return owned;
}

function announceMerge(db: Database, sources: readonly SegmentRow[]): void {
  const [first, end] = [sources[0]!.first, sources.at(-1)!.end];
  const ids = JSON.stringify(sources.map((source) => source.segment));
  statementsOf(db).addSegment.run({ state: 'building', first, end, slots: 0, bytes: 0, sources: ids, data: null });
}

/** One source's postings of a term; `base` is where the source starts in the target. */
interface Part extends PostingsRow {
  base: number;
}

/** Reads terms in order, from after a term on, with the postings of each in order of slot. */
interface Reader {
  term: string | null;
  parts: Part[];
  next(): void;
}

interface Merge {
  target: SegmentRow;
  sources: number[];
  readers: Reader[];
  /** One byte a slot of the target: does a document own it? */
  owned: Uint8Array;
  ownedCount: number;
  writer: TermWriter;
}

function startMerge(db: Database, target: SegmentRow, segments: readonly SegmentRow[]): Merge {
  const sources = JSON.parse(target.sources!) as number[];
  const statements = statementsOf(db);
  const owned = new Uint8Array(target.end - target.first);
  for (const row of statements.ownedSlots.all(target.first, target.end) as { first: number; slots: number }[]) {
    owned.fill(1, row.first - target.first, row.first - target.first + row.slots);
  }
  for (const row of statements.ownedTitles.all(target.first, target.end) as { slot: number }[]) owned[row.slot - target.first] = 1;
  const after = target.cursor ?? '';
  const rows = sources.map((id) => segments.find((segment) => segment.segment === id)!);
  const readers = rows
    .filter((source) => !source.small)
    .flatMap((source) => [readPages(longLists(db, source), source, target, after), readPages(blocks(db, source), source, target, after)]);
  const small = rows.filter((source) => source.small);
  if (small.length > 0) readers.push(readSmall(db, small, target, after));
  const writer = createTermWriter(db, target.segment);
  if (target.cursor !== null) {
    // Terms that an interrupted merge has written already.
    for (const { term } of statements.termsOf.all(target.segment) as { term: string }[]) writer.filter.add(term);
    for (const { data } of statements.blocksOf.all(target.segment) as { data: Buffer }[]) readSegment(data, (term) => writer.filter.add(term));
  }
  return { target, sources, readers, owned, ownedCount: owned.reduce((sum, one) => sum + one, 0), writer };
}

/** Small segments are read whole, all into one reader. */
function readSmall(db: Database, sources: readonly SegmentRow[], target: SegmentRow, after: string): Reader {
  const byTerm = new Map<string, Part[]>();
  for (const source of sources) {
    const { data } = statementsOf(db).segmentData.get(source.segment) as { data: Buffer };
    readSegment(data, (term, count, slots, codes) => {
      if (after !== '' && compareTerms(term, after) <= 0) return;
      const part = { term, count, slots, codes, base: source.first - target.first };
      const parts = byTerm.get(term);
      if (parts === undefined) byTerm.set(term, [part]);
      else parts.push(part);
    });
  }
  const terms = [...byTerm.keys()].toSorted(compareTerms);
  let at = -1;
  const reader: Reader = {
    term: null,
    parts: [],
    next: () => {
      at++;
      reader.term = terms[at] ?? null;
      reader.parts = reader.term === null ? [] : byTerm.get(reader.term)!;
    },
  };
  reader.next();
  return reader;
}

/** Terms after one, in order; fewer than `ROWS_A_PAGE` rows read means there are no more. */
type Pages = (after: string) => { rows: PostingsRow[]; more: boolean };

function longLists(db: Database, source: SegmentRow): Pages {
  return (after) => {
    const rows = statementsOf(db).postingsAfter.all(source.segment, after, ROWS_A_PAGE) as PostingsRow[];
    return { rows, more: rows.length === ROWS_A_PAGE };
  };
}

function blocks(db: Database, source: SegmentRow): Pages {
  return (after) => {
    const read = statementsOf(db).blocksFrom.all(source.segment, source.segment, after, BLOCKS_A_PAGE) as { data: Buffer }[];
    const rows: PostingsRow[] = [];
    for (const { data } of read) {
      readSegment(data, (term, count, slots, codes) => {
        if (after === '' || compareTerms(term, after) > 0) rows.push({ term, count, slots, codes });
      });
    }
    return { rows, more: read.length === BLOCKS_A_PAGE };
  };
}

function readPages(pages: Pages, source: SegmentRow, target: SegmentRow, after: string): Reader {
  let page = pages(after);
  let at = -1;
  const reader: Reader = {
    term: null,
    parts: [],
    next: () => {
      at++;
      if (at === page.rows.length && page.more && at > 0) {
        page = pages(page.rows.at(-1)!.term);
        at = 0;
      }
      const row = page.rows[at];
      reader.term = row?.term ?? null;
      reader.parts = row === undefined ? [] : [{ ...row, base: source.first - target.first }];
    },
  };
  reader.next();
  return reader;
}

/** Writes terms until the budget is used up; false when the merge is complete and its sources are replaced. */
function continueMerge(db: Database, merge: Merge, budgetMs: number): boolean {
  const statements = statementsOf(db);
  const { target, readers, owned } = merge;
  const span = target.end - target.first;
  const until = performance.now() + budgetMs;
  for (let n = 1; ; n++) {
    const term = smallestTerm(readers);
    if (term === null) break;
    writeTerm(merge, term, owned, span);
    if (n % 16 === 0 && performance.now() > until) {
      merge.writer.flush();
      statements.moveCursor.run(term, merge.writer.bytes(), target.segment);
      return true;
    }
  }
  merge.writer.flush();
  statements.moveCursor.run(null, merge.writer.bytes(), target.segment);
  statements.finishSegment.run(merge.ownedCount, merge.writer.filter.build(), target.segment);
  for (const source of merge.sources) statements.setState.run('dropping', source);
  statements.bump.run('segments');
  return false;
}

function smallestTerm(readers: readonly Reader[]): string | null {
  let smallest: string | null = null;
  for (const { term } of readers) {
    if (term !== null && (smallest === null || compareTerms(term, smallest) < 0)) smallest = term;
  }
  return smallest;
}

function writeTerm(merge: Merge, term: string, owned: Uint8Array, span: number): void {
  const parts: Part[] = [];
  for (const reader of merge.readers) {
    if (reader.term !== term) continue;
    parts.push(...reader.parts);
    reader.next();
  }
  if (merge.readers.length > 1) parts.sort((a, b) => a.base - b.base);
  let room = 0;
  for (const part of parts) room += part.count;
  const slots = new Int32Array(room);
  const codes = new Uint8Array(room);
  let kept = 0;
  for (const part of parts) {
    const decoded = new Int32Array(part.count);
    decodeSlots(part.slots, part.count, part.base, decoded);
    for (let i = 0; i < part.count; i++) {
      if (owned[decoded[i]!] === 0) continue;
      slots[kept] = decoded[i]!;
      codes[kept] = part.codes.length === 0 ? 1 : part.codes[i]!;
      kept++;
    }
  }
  if (kept > 0) merge.writer.put(term, encodePostings(slots, codes, kept, span));
}
