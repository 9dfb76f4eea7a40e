/**
 * How a large segment's terms lie in tables: terms with long lists are rows of their own (`search_postings`), all others share
 * rows of a few kilobytes (`search_blocks`, keyed by the first term). Most terms are rare: a row for each would make merging
 * ten times as slow.
 */
import type { Database } from 'better-sqlite3';
import { createFilterBuilder, type FilterBuilder } from './search-filter.ts';
import { encodeSegment, type EncodedPostings } from './search-postings.ts';
import { statementsOf } from './search-statements.ts';

/** Lists of more bytes than this have a row of their own. */
const OWN_ROW_BYTES = 1_024;
const BLOCK_BYTES = 3_500;

export interface TermWriter {
  /** Terms come in order. */
  put(term: string, postings: EncodedPostings): void;
  /** Writes what is pending; called before each commit. */
  flush(): void;
  /** Bytes written since the writer was made. */
  bytes(): number;
  filter: FilterBuilder;
}

export function createTermWriter(db: Database, segment: number): TermWriter {
  const statements = statementsOf(db);
  const filter = createFilterBuilder();
  let pending: { term: string; postings: EncodedPostings }[] = [];
  let [pendingBytes, bytes] = [0, 0];
  const flush = (): void => {
    if (pending.length === 0) return;
    statements.addBlock.run(segment, pending[0]!.term, encodeSegment(pending));
    pending = [];
    pendingBytes = 0;
  };
  return {
    put: (term, postings) => {
      filter.add(term);
      const size = postings.slots.length + postings.codes.length;
      bytes += size + term.length + 4;
      if (size > OWN_ROW_BYTES) {
        statements.addPostings.run(segment, term, postings.count, postings.slots, postings.codes);
        return;
      }
      pending.push({ term, postings });
      pendingBytes += size + term.length + 4;
      if (pendingBytes >= BLOCK_BYTES) flush();
    },
    flush,
    bytes: () => bytes,
    filter,
  };
}
