/**
 * How a large segment's terms lie in tables: terms with long lists are rows of their own (`search_postings`), all others share
 * rows of a few kilobytes (`search_blocks`, keyed by the first term). Most terms are rare: a row for each would make merging
 * ten times as slow.
 */
import type { Database } from 'better-sqlite3';
import { encodePostings, TermBytes, type Postings } from './search-encoding.ts';
import { createFilterBuilder, type FilterBuilder } from './search-filter.ts';
import { statementsOf } from './search-statements.ts';

/** Lists of more bytes than this have a row of their own. */
const OWN_ROW_BYTES = 1_024;
const BLOCK_BYTES = 3_500;

export interface TermWriter {
  /** Adds `count` postings from a place on of a term, which is UTF-8 bytes. Terms come in order. */
  put(name: Uint8Array, nameAt: number, nameEnd: number, postings: Postings, from: number, count: number): void;
  /** Writes what is pending; called before each commit. */
  flush(): void;
  /** Bytes written since the writer was made. */
  bytes(): number;
  filter: FilterBuilder;
}

/** `span`: the segment's number of slots. */
export function createTermWriter(db: Database, segment: number, span: number): TermWriter {
  const statements = statementsOf(db);
  const filter = createFilterBuilder();
  const block = new TermBytes();
  let firstTerm = '';
  let bytes = 0;
  const flush = (): void => {
    if (block.length === 0) return;
    bytes += block.length;
    statements.addBlock.run(segment, firstTerm, block.take());
  };
  return {
    put: (name, nameAt, nameEnd, postings, from, count) => {
      filter.add(name, nameAt, nameEnd);
      if (block.length === 0) firstTerm = Buffer.from(name.subarray(nameAt, nameEnd)).toString();
      if (block.add(name, nameAt, nameEnd, postings, from, count, span, OWN_ROW_BYTES)) {
        if (block.length >= BLOCK_BYTES) flush();
        return;
      }
      const row = encodePostings(postings, from, count, span);
      bytes += row.slots.length + row.codes.length + nameEnd - nameAt + 4;
      statements.addPostings.run(segment, Buffer.from(name.subarray(nameAt, nameEnd)).toString(), count, row.slots, row.codes);
    },
    flush,
    bytes: () => bytes,
    filter,
  };
}
