import type { Actor } from '../access/actor.ts';
import type { AskedSearch, AuditFilter, AuditRow, Stores } from '../storage/ports.ts';
import type { AuditAction } from './actions.ts';

export interface AuditEntry {
  actor: Actor;
  /** From `actions.ts`, where the wording of each is kept. */
  action: AuditAction;
  object?: { kind: AuditObjectKind; id: string };
  /** What was asked and what came of it, in one line; cleaned and cut at 500 characters here. */
  detail?: string;
  /** Of a search: what it asked for, kept beside the row so that it can be asked again. */
  asked?: AskedSearch;
  /** Default `ok`. */
  outcome?: AuditRow['outcome'];
}

export type AuditObjectKind = 'document' | 'folder' | 'key' | 'user' | 'grant' | 'job' | 'setting' | 'judged page';

/** The first thing wrong with the chain. `seq` is the row to look at. */
export interface AuditFault {
  seq: number;
  problem: string;
}

export interface AuditVerdict {
  ok: boolean;
  rows: number;
  head: { seq: number; hash: string } | null;
  fault: AuditFault | null;
}

export interface Audit {
  /**
   * For reads and denials: resolves once the row is durable, rejects when it could not be written (then there is no answer:
   * trust.md P36). Rows that wait in the same turn share one commit.
   */
  record(entry: AuditEntry): Promise<void>;
  /** For changes: one more row in the change's own transaction. */
  append(stores: Stores, entry: AuditEntry): Promise<void>;
  /**
   * Walks the whole chain and names the first bad row. A cut tail shows only against a head that was exported earlier.
   */
  verify(exported?: { seq: number; hash: string }): Promise<AuditVerdict>;
  head(): Promise<{ seq: number; hash: string } | null>;
  /** Newest first. */
  list(filter: AuditFilter, limit: number): Promise<AuditRow[]>;
  /** Oldest first, one line each with its line end; CSV starts with a heading line and has formulas neutralised. */
  export(format: 'jsonl' | 'csv'): AsyncIterable<string>;
  /** Writes what waits. */
  close(): Promise<void>;
}
