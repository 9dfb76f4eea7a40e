import type { Kysely } from 'kysely';
import type { JudgedPageStore } from '../ports.ts';
import type { Schema } from './schema.ts';

export function createJudgedPageStore(db: Kysely<Schema>): JudgedPageStore {
  const pages = () => db.selectFrom('judgedPages').selectAll();
  return {
    async insert(row) {
      return Number((await db.insertInto('judgedPages').values({ ...row, lastRank: null, lastRunAt: null }).executeTakeFirstOrThrow()).insertId);
    },
    async byId(id) {
      return (await pages().where('id', '=', id).executeTakeFirst()) ?? null;
    },
    async ofOwner(owner) {
      return pages().where('owner', '=', owner).orderBy('ref').execute();
    },
    async setRank(ref, rank, at) {
      await db.updateTable('judgedPages').set({ lastRank: rank, lastRunAt: at }).where('ref', '=', ref).execute();
    },
    async remove(ref) {
      await db.deleteFrom('judgedPages').where('ref', '=', ref).execute();
    },
  };
}
