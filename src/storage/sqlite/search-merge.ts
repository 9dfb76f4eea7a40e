/**
 * Merging of index segments: many small ones become few large ones, and postings that no document owns any more go away.
 * Runs beside searching and writing on a connection of its own, in short transactions; killed anywhere, it goes on from
 * where the last commit left it.
 */
import Sqlite, { type Database } from 'better-sqlite3';
import { chooseMostlyDead, chooseRun, type SegmentRow } from './search-merge-choice.ts';
import { continueMerge, startMerge, type Merge } from './search-merge-work.ts';
import { statementsOf } from './search-statements.ts';

/** What is owned is counted at most this often. */
const COUNT_EVERY_MS = 60_000;
const DROPPED_ROWS_A_STEP = 1_000;

export interface SearchMaintenance {
  /** One short transaction of work (about `budgetMs`, default 15). True when there is more to do now. */
  step(budgetMs?: number): boolean;
  /** Segments that searches look into. */
  segments(): number;
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
        // What was written does not go together with what is left: this merge is begun anew, its sources are all there.
        if (error instanceof Sqlite.SqliteError && error.code.startsWith('SQLITE_CONSTRAINT')) statementsOf(db).dropBuilding.run();
        throw error;
      }
    },
    segments: () => (statementsOf(db).segments.all() as SegmentRow[]).filter((segment) => segment.state === 'live').length,
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

function announceMerge(db: Database, sources: readonly SegmentRow[]): void {
  const [first, end] = [sources[0]!.first, sources.at(-1)!.end];
  const ids = JSON.stringify(sources.map((source) => source.segment));
  statementsOf(db).addSegment.run({ state: 'building', first, end, slots: 0, bytes: 0, sources: ids, data: null });
}
