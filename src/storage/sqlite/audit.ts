import type { Kysely } from 'kysely';
import type { AskedSearch, AuditRow, AuditStore } from '../ports.ts';
import { listAudit, markRows } from './audit-marks.ts';
import { askedCodec, decodeRow } from './encode.ts';
import { rowOf, run, type Connection } from './hot-query.ts';
import type { Schema } from './schema.ts';

/** Every column by name: one row at a time through one prepared statement is the fastest way in. */
const COLUMNS = [
  'seq', 'at', 'actorKind', 'actorId', 'actor', 'masked', 'endUser', 'action', 'objectKind', 'objectId', 'detail', 'outcome', 'requestId', 'hash',
] as const satisfies readonly (keyof AuditRow)[];
const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const INSERT = `insert into audit (${COLUMNS.map(snake).join(', ')}) values (${COLUMNS.map(() => '?').join(', ')})`;
const INSERT_ASKED = 'insert into asked_searches (seq, query, folders, "limit", "offset", as_key, found) values (?, ?, ?, ?, ?, ?, ?)';

export function createAuditStore(db: Kysely<Schema>, connection: Connection): AuditStore {
  return {
    async head() {
      return rowOf<{ seq: number; hash: string }>(connection, 'select seq, hash from audit order by seq desc limit 1');
    },
    async append(rows) {
      for (const row of rows) {
        // In the order of COLUMNS, each by its name: a list made by walking the names costs as much as half the insert.
        run(
          connection, INSERT, row.seq, row.at, row.actorKind, row.actorId, row.actor, row.masked, row.endUser, row.action,
          row.objectKind, row.objectId, row.detail, row.outcome, row.requestId, row.hash,
        );
        if (!row.asked) continue;
        const { query, folders, limit, offset, asKey, found } = row.asked;
        run(connection, INSERT_ASKED, row.seq, query, folders === null ? null : JSON.stringify(folders), limit, offset, asKey, found);
      }
      markRows(connection, rows);
    },
    async bySeq(seq) {
      return (await db.selectFrom('audit').selectAll().where('seq', '=', seq).executeTakeFirst()) ?? null;
    },
    async asked(seq) {
      const row = await db.selectFrom('askedSearches').selectAll().where('seq', '=', seq).executeTakeFirst();
      if (!row) return null;
      const { seq: _seq, ...asked } = row;
      return decodeRow<AskedSearch>(askedCodec, asked);
    },
    list: (filter, limit) => listAudit(db, filter, limit),
    async after(seq, limit) {
      return db.selectFrom('audit').selectAll().where('seq', '>', seq).orderBy('seq').limit(limit).execute();
    },
  };
}
