/** One merge: its sources' terms written into the target segment, a piece at a time. */
import type { Database } from 'better-sqlite3';
import { createTermWriter, type TermWriter } from './search-blocks.ts';
import type { SegmentRow } from './search-merge-choice.ts';
import { readSources, type Part, type SourceReader } from './search-merge-sources.ts';
import { compareTerms, decodeSlots, readSegment } from './search-postings.ts';
import { statementsOf } from './search-statements.ts';

export interface Merge {
  target: SegmentRow;
  sources: number[];
  readers: SourceReader[];
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
  const readers = readSources(db, rows, target, target.cursor ?? '');
  const writer = createTermWriter(db, target.segment, span);
  if (target.cursor !== null) {
    // Terms that an interrupted merge has written already.
    for (const { term } of statements.termsOf.all(target.segment) as { term: string }[]) writer.filter.add(term);
    for (const { data } of statements.blocksOf.all(target.segment) as { data: Buffer }[]) readSegment(data, (term) => writer.filter.add(term));
  }
  const ownedCount = owned.reduce((sum, one) => sum + one, 0);
  return { target, sources, readers, owned, ownedCount, writer, slots: new Int32Array(span), codes: new Uint8Array(span) };
}

/** Writes terms until the budget is used up; false when the merge is complete and its sources are replaced. */
export function continueMerge(db: Database, merge: Merge, budgetMs: number): boolean {
  const statements = statementsOf(db);
  const { target, readers } = merge;
  const until = performance.now() + budgetMs;
  for (let n = 1; ; n++) {
    const term = smallestTerm(readers);
    if (term === null) break;
    writeTerm(merge, term);
    if (n % 64 === 0 && performance.now() > until) {
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

function smallestTerm(readers: readonly SourceReader[]): string | null {
  let smallest: string | null = null;
  for (const { term } of readers) {
    if (term !== null && (smallest === null || compareTerms(term, smallest) < 0)) smallest = term;
  }
  return smallest;
}

function writeTerm(merge: Merge, term: string): void {
  let parts: Part[] | null = null;
  let together = false;
  for (const reader of merge.readers) {
    if (reader.term !== term) continue;
    if (parts === null) parts = reader.parts;
    else {
      parts = [...parts, ...reader.parts];
      together = true;
    }
    reader.next();
  }
  if (together) parts!.sort((a, b) => a.base - b.base);
  const { owned, slots, codes } = merge;
  const all = merge.ownedCount === owned.length;
  let kept = 0;
  for (const part of parts!) {
    const end = decodeSlots(part.slots, part.slotsAt, part.count, part.base, slots, kept);
    if (all && part.plain) {
      codes.fill(1, kept, end);
      kept = end;
      continue;
    }
    for (let i = kept, code = part.codesAt; i < end; i++, code++) {
      const slot = slots[i]!;
      if (owned[slot] === 0) continue;
      slots[kept] = slot;
      codes[kept++] = part.plain ? 1 : part.codes[code]!;
    }
  }
  if (kept > 0) merge.writer.put(term, merge, 0, kept);
}
