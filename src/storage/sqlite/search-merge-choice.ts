/** Which segments are merged: neighbours of about a size, so that a posting is written about three times in its life. */
import type { Database } from 'better-sqlite3';
import { statementsOf } from './search-statements.ts';

export interface SegmentRow {
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

/** Largest segment that merging makes. Its lists fit the caches of a processor, and no merge rewrites more than this. */
const MAX_SLOTS = 131_072;
/**
 * Neighbours up to a size are merged once they are `run` and together larger than that, so that the result is of the next
 * tier; or once they are so many that looking into each costs searches more than merging them twice.
 */
const TIERS = [
  { upTo: 512, run: 32, most: 128 },
  { upTo: 8_192, run: 8, most: 24 },
  { upTo: MAX_SLOTS / 2, run: 4, most: 12 },
] as const;
/** A segment with fewer owned slots than this share is written anew. */
const KEEP_SHARE = 0.6;

/** Neighbouring segments worth merging; null when there are none. */
export function chooseRun(segments: readonly SegmentRow[]): SegmentRow[] | null {
  for (const { upTo, run: least, most } of TIERS) {
    let run: SegmentRow[] = [];
    let slots = 0;
    const isWorth = (): boolean => run.length >= least && (slots > upTo || run.length >= most);
    for (const segment of segments) {
      const isLarger = segment.slots > upTo;
      if (isLarger || slots + segment.slots > MAX_SLOTS || run.length === most) {
        if (isWorth()) return run;
        [run, slots] = [[], 0];
        if (isLarger) continue;
      }
      run.push(segment);
      slots += segment.slots;
    }
    if (isWorth()) return run;
  }
  return null;
}

/** A segment of which more is gone than is kept worth the room; null when there is none. Reads every document. */
export function chooseMostlyDead(db: Database, segments: readonly SegmentRow[]): SegmentRow[] | null {
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
