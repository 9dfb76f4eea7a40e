import type { Kysely } from 'kysely';
import type { AuditStore } from '../ports.ts';
import type { Schema } from './schema.ts';

export function createAuditStore(db: Kysely<Schema>): AuditStore {
  return {
    async head() {
      return (await db.selectFrom('audit').select(['seq', 'hash']).orderBy('seq', 'desc').limit(1).executeTakeFirst()) ?? null;
    },
    async append(rows) {
      for (let start = 0; start < rows.length; start += 100) {
        await db.insertInto('audit').values(rows.slice(start, start + 100)).execute();
      }
    },
    async list(filter, limit) {
      let query = db.selectFrom('audit').selectAll();
      if (filter.before !== undefined) query = query.where('seq', '<', filter.before);
      if (filter.actorId !== undefined) query = query.where('actorId', '=', filter.actorId);
      if (filter.action !== undefined) query = query.where('action', '=', filter.action);
      if (filter.outcome !== undefined) query = query.where('outcome', '=', filter.outcome);
      if (filter.objectId !== undefined) query = query.where('objectId', '=', filter.objectId);
      if (filter.endUser !== undefined) query = query.where('endUser', '=', filter.endUser);
      return query.orderBy('seq', 'desc').limit(limit).execute();
    },
    async after(seq, limit) {
      return db.selectFrom('audit').selectAll().where('seq', '>', seq).orderBy('seq').limit(limit).execute();
    },
  };
}
