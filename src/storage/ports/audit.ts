/** What was done, and what a search should have found. Conventions: ../ports.ts. */

export interface AuditRow {
  /** 1, 2, 3, … without gaps. */
  seq: number;
  at: number;
  actorKind: 'user' | 'key' | 'system' | 'anonymous';
  actorId: string | null;
  /** Name as shown at that time. */
  actor: string;
  masked: string | null;
  endUser: string | null;
  action: string;
  objectKind: string | null;
  objectId: string | null;
  detail: string;
  outcome: 'ok' | 'denied' | 'error';
  requestId: string;
  /** HMAC over the previous row's hash and this row's canonical form, hex. */
  hash: string;
}

/** What a search in the log asked for, beside its row: not part of the chain. */
export interface AskedSearch {
  query: string;
  /** Names as given; null for everything in scope. */
  folders: string[] | null;
  limit: number;
  offset: number;
  /** Id of the key that a person searched as. */
  asKey: string | null;
  /** Excerpts in the answer; null when there was none. */
  found: number | null;
}

export interface AuditFilter {
  /** Only rows with a smaller seq. */
  before?: number;
  actorId?: string;
  action?: string;
  outcome?: AuditRow['outcome'];
  objectId?: string;
  endUser?: string;
}

export interface AuditStore {
  head(): Promise<{ seq: number; hash: string } | null>;
  append(rows: readonly (AuditRow & { asked?: AskedSearch })[]): Promise<void>;
  bySeq(seq: number): Promise<AuditRow | null>;
  /** Null for rows that are no search, and for searches from before this was kept. */
  asked(seq: number): Promise<AskedSearch | null>;
  /** Newest first. */
  list(filter: AuditFilter, limit: number): Promise<AuditRow[]>;
  /** Oldest first, for verify and export. */
  after(seq: number, limit: number): Promise<AuditRow[]>;
}

/** A page that its owner says a query should find; the queries of one scope are run together (search/judged-run.ts). */
export interface JudgedPageRow {
  ref: number;
  id: string;
  owner: number;
  query: string;
  /** Whose scope is searched: an agent key's, a folder's, or with neither the owner's own. At most one is set. */
  keyId: string | null;
  folderId: string | null;
  documentId: string;
  /** Null: any page of the document. */
  page: number | null;
  /** 1 helps, 2 answers, 3 is the one. */
  grade: number;
  createdAt: number;
  /** Place among the pages found by the last run, from 1; null when it was not among them. */
  lastRank: number | null;
  lastRunAt: number | null;
}

export interface JudgedPageStore {
  insert(row: Omit<JudgedPageRow, 'ref' | 'lastRank' | 'lastRunAt'>): Promise<number>;
  byId(id: string): Promise<JudgedPageRow | null>;
  /** Oldest first. */
  ofOwner(owner: number): Promise<JudgedPageRow[]>;
  setRank(ref: number, rank: number | null, at: number): Promise<void>;
  remove(ref: number): Promise<void>;
}
