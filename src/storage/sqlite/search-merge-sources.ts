/** What a merge reads: the terms of its source segments in order, with where their postings lie. Nothing is decoded here. */
import type { Database } from 'better-sqlite3';
import { sortTerms } from './search-encoding.ts';
import type { SegmentRow } from './search-merge-choice.ts';
import { compareTerms, readSegment } from './search-postings.ts';
import { statementsOf } from './search-statements.ts';

const ROWS_A_PAGE = 64;
const BLOCKS_A_PAGE = 16;

/** One source's postings of a term, in bytes that they may share with others; `base` is where the source starts in the target. */
export interface Part {
  count: number;
  base: number;
  slots: Uint8Array;
  slotsAt: number;
  codes: Uint8Array;
  codesAt: number;
  /** Every code is 1, and none is kept. */
  plain: boolean;
}

/** Reads terms in order with the postings of each, in order of slot. */
export interface SourceReader {
  term: string | null;
  parts: Part[];
  next(): void;
}

/** Readers of some segments from after a term on. */
export function readSources(db: Database, sources: readonly SegmentRow[], target: SegmentRow, after: string): SourceReader[] {
  const readers = sources
    .filter((source) => !source.small)
    .flatMap((source) => {
      const base = source.first - target.first;
      return [readPages(longLists(db, source, base), after), readPages(blocks(db, source, base), after)];
    });
  const small = sources.filter((source) => source.small);
  if (small.length > 0) readers.push(readSmall(db, small, target, after));
  return readers;
}

/** Small segments are read whole, all into one reader. */
function readSmall(db: Database, sources: readonly SegmentRow[], target: SegmentRow, after: string): SourceReader {
  const byTerm = new Map<string, Part[]>();
  for (const source of sources) {
    const { data } = statementsOf(db).segmentData.get(source.segment) as { data: Buffer };
    readSegment(data, (term, count, slotsAt, slotBytes, codeBytes) => {
      const part = partOf(data, source.first - target.first, count, slotsAt, slotBytes, codeBytes);
      const parts = byTerm.get(term);
      if (parts !== undefined) parts.push(part);
      else if (after === '' || compareTerms(term, after) > 0) byTerm.set(term, [part]);
    });
  }
  const terms = sortTerms([...byTerm.keys()]);
  let at = -1;
  const reader: SourceReader = {
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

function partOf(data: Buffer, base: number, count: number, slotsAt: number, slotBytes: number, codeBytes: number): Part {
  return { count, base, slots: data, slotsAt, codes: data, codesAt: slotsAt + slotBytes, plain: codeBytes === 0 };
}

interface Page {
  terms: string[];
  parts: Part[];
  more: boolean;
}

/** Terms after one, in order. */
type Pages = (after: string) => Page;

function longLists(db: Database, source: SegmentRow, base: number): Pages {
  return (after) => {
    const rows = statementsOf(db).postingsAfter.all(source.segment, after, ROWS_A_PAGE) as {
      term: string; count: number; slots: Buffer; codes: Buffer;
    }[];
    const parts = rows.map(({ count, slots, codes }): Part => ({ count, base, slots, slotsAt: 0, codes, codesAt: 0, plain: codes.length === 0 }));
    return { terms: rows.map((row) => row.term), parts, more: rows.length === ROWS_A_PAGE };
  };
}

function blocks(db: Database, source: SegmentRow, base: number): Pages {
  return (after) => {
    const read = statementsOf(db).blocksFrom.all(source.segment, source.segment, after, BLOCKS_A_PAGE) as { data: Buffer }[];
    const page: Page = { terms: [], parts: [], more: read.length === BLOCKS_A_PAGE };
    for (const { data } of read) {
      readSegment(data, (term, count, slotsAt, slotBytes, codeBytes) => {
        if (after !== '' && compareTerms(term, after) <= 0) return;
        page.terms.push(term);
        page.parts.push(partOf(data, base, count, slotsAt, slotBytes, codeBytes));
      });
    }
    return page;
  };
}

function readPages(pages: Pages, after: string): SourceReader {
  let page = pages(after);
  let at = -1;
  const reader: SourceReader = {
    term: null,
    parts: [],
    next: () => {
      at++;
      if (at === page.terms.length && page.more && at > 0) {
        page = pages(page.terms.at(-1)!);
        at = 0;
      }
      reader.term = page.terms[at] ?? null;
      reader.parts = reader.term === null ? [] : [page.parts[at]!];
    },
  };
  reader.next();
  return reader;
}
