/** One merge: its sources' terms written into the target segment, a piece at a time. */
import type { Database } from 'better-sqlite3';
import { createTermWriter, type TermWriter } from './search-blocks.ts';
import { BlobCursor, type CursorHeap } from './search-cursor.ts';
import type { SegmentRow } from './search-merge-choice.ts';
import { readSources } from './search-merge-sources.ts';
import { decodeSlots } from './search-postings.ts';
import { statementsOf } from './search-statements.ts';

export interface Merge {
  target: SegmentRow;
  sources: number[];
  terms: CursorHeap;
  /** One byte a slot of the target: does a document own it? */
  owned: Uint8Array;
  ownedCount: number;
  writer: TermWriter;
  /** Room for the longest list. */
  slots: Int32Array;
  codes: Uint8Array;
}

/** Starts a merge, or goes on with one that was interrupted, from the last term it wrote. */
export function startMerge(db: Database, target: SegmentRow, segments: readonly SegmentRow[]): Merge {
  const sources = JSON.parse(target.sources!) as number[];
  const statements = statementsOf(db);
  const span = target.end - target.first;
  const owned = new Uint8Array(span);
  for (const row of statements.ownedSlots.all(target.first, target.end) as { first: number; slots: number }[]) {
    owned.fill(1, row.first - target.first, row.first - target.first + row.slots);
  }
  for (const row of statements.ownedTitles.all(target.first, target.end) as { slot: number }[]) owned[row.slot - target.first] = 1;
  const rows = sources.map((id) => segments.find((segment) => segment.segment === id)!);
  const terms = readSources(db, rows, target, target.cursor);
  const writer = createTermWriter(db, target.segment, span);
  if (target.cursor !== null) {
    // Terms that an interrupted merge has written already.
    for (const { term } of statements.termsOf.all(target.segment) as { term: Buffer }[]) writer.filter.add(term, 0, term.length);
    const blocks = (statements.blocksOf.all(target.segment) as { data: Buffer }[]).map((row) => row.data);
    const written = new BlobCursor(0, () => blocks.splice(0));
    while (written.next()) writer.filter.add(written.name, written.nameAt, written.nameEnd);
  }
  const ownedCount = owned.reduce((sum, one) => sum + one, 0);
  return { target, sources, terms, owned, ownedCount, writer, slots: new Int32Array(span), codes: new Uint8Array(span) };
}

/** Writes terms until the budget is used up; false when the merge is complete and its sources are replaced. */
export function continueMerge(db: Database, merge: Merge, budgetMs: number): boolean {
  const statements = statementsOf(db);
  const { target, terms } = merge;
  const until = performance.now() + budgetMs;
  for (let n = 1; terms.first() !== undefined; n++) {
    const { name, nameAt, nameEnd } = terms.first()!;
    writeTerm(merge, name, nameAt, nameEnd);
    if (n % 64 === 0 && performance.now() > until) {
      merge.writer.flush();
      statements.moveCursor.run(Buffer.from(name.subarray(nameAt, nameEnd)).toString(), merge.writer.bytes(), target.segment);
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

function writeTerm(merge: Merge, name: Uint8Array, nameAt: number, nameEnd: number): void {
  const { owned, slots, codes, terms } = merge;
  const isAllOwned = merge.ownedCount === owned.length;
  let kept = 0;
  for (let from = terms.first(); from !== undefined && from.isAt(name, nameAt, nameEnd); from = terms.first()) {
    const end = decodeSlots(from.slots, from.slotsAt, from.count, from.base, slots, kept);
    for (let i = kept, code = from.codesAt; i < end; i++, code++) {
      const slot = slots[i]!;
      if (!isAllOwned && owned[slot] === 0) continue;
      slots[kept] = slot;
      codes[kept++] = from.plain ? 1 : from.codes[code]!;
    }
    terms.next();
  }
  if (kept > 0) merge.writer.put(name, nameAt, nameEnd, merge, 0, kept);
}
