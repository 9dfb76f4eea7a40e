import type { AuditStore } from '../storage/ports.ts';
import { chainHash, GENESIS, type ChainKey } from './chain.ts';
import type { AuditVerdict } from './types.ts';

const step = 1_000;

/** Walks the chain oldest first and stops at the first row that is missing, out of place or not as it was written (P37). */
export async function verifyChain(
  store: AuditStore,
  key: ChainKey,
  exported?: { seq: number; hash: string },
): Promise<AuditVerdict> {
  let seq = 0;
  let hash = GENESIS;
  const failed = (at: number, problem: string): AuditVerdict => ({ ok: false, rows: seq, head: null, fault: { seq: at, problem } });
  for (;;) {
    const rows = await store.after(seq === 0 ? Number.MIN_SAFE_INTEGER : seq, step);
    for (const row of rows) {
      if (row.seq !== seq + 1) return failed(seq + 1, `Entry ${seq + 1} is missing: the next one there is ${row.seq}`);
      const expected = chainHash(key, hash, row);
      if (expected !== row.hash) return failed(row.seq, `Entry ${row.seq} is not as it was written, or the one before it was changed`);
      seq = row.seq;
      hash = row.hash;
      if (exported !== undefined && exported.seq === seq && exported.hash !== hash) {
        return failed(seq, `Entry ${seq} is not the one in the exported head`);
      }
    }
    if (rows.length < step) break;
  }
  if (exported !== undefined && exported.seq > seq) {
    return failed(seq + 1, `The log ends at entry ${seq}, the exported head names entry ${exported.seq}: the end was cut`);
  }
  // The stored head must be the end of the walk, or an engine could keep a head that no row stands behind.
  const head = await store.head();
  if ((head?.seq ?? 0) < seq) return failed(seq, `The stored head is entry ${head?.seq ?? 0}, but there are ${seq} entries`);
  return { ok: true, rows: seq, head: seq === 0 ? null : { seq, hash }, fault: null };
}
