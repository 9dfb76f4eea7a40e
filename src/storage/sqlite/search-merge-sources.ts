/** What a merge reads: the terms of its source segments in order. */
import type { Database } from 'better-sqlite3';
import { BlobCursor, CursorHeap, RowCursor, type PostingsRow, type TermCursor } from './search-cursor.ts';
import type { SegmentRow } from './search-merge-choice.ts';
import { statementsOf } from './search-statements.ts';

const ROWS_A_PAGE = 64;
const BLOCKS_A_PAGE = 8;

/** The terms of some segments, from after one on (or from the start). */
export function readSources(db: Database, sources: readonly SegmentRow[], target: SegmentRow, after: string | null): CursorHeap {
  const cursors: TermCursor[] = [];
  for (const source of sources) {
    const base = source.first - target.first;
    if (source.small) cursors.push(new BlobCursor(base, onlyOnce(db, source.segment)));
    else cursors.push(new RowCursor(base, longLists(db, source.segment, after)), new BlobCursor(base, blocks(db, source.segment, after)));
  }
  const from = after === null ? null : Buffer.from(after);
  return new CursorHeap(cursors.filter((cursor) => (from === null ? cursor.next() : cursor.skip(from))));
}

function onlyOnce(db: Database, segment: number): () => Uint8Array[] {
  let isRead = false;
  return () => {
    if (isRead) return [];
    isRead = true;
    return [(statementsOf(db).segmentData.get(segment) as { data: Buffer }).data];
  };
}

function longLists(db: Database, segment: number, after: string | null): () => PostingsRow[] {
  let last: string | Uint8Array = after ?? '';
  return () => {
    const rows = statementsOf(db).postingsAfter.all(segment, last.toString(), ROWS_A_PAGE) as PostingsRow[];
    last = rows.at(-1)?.term ?? last;
    return rows;
  };
}

function blocks(db: Database, segment: number, after: string | null): () => Uint8Array[] {
  let last: string | null = null;
  return () => {
    // The block that holds the first term wanted begins at or before it.
    const read = (
      last === null
        ? statementsOf(db).blocksFrom.all(segment, segment, after ?? '', BLOCKS_A_PAGE)
        : statementsOf(db).blocksAfter.all(segment, last, BLOCKS_A_PAGE)
    ) as { term: string; data: Buffer }[];
    last = read.at(-1)?.term ?? last;
    return read.map((row) => row.data);
  };
}
