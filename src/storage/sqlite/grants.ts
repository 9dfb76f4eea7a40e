import type { Kysely } from 'kysely';
import type { GrantStore } from '../ports.ts';
import type { Schema } from './schema.ts';

export function createGrantStore(db: Kysely<Schema>): GrantStore {
  const grants = () => db.selectFrom('grants').selectAll();
  return {
    async insert(row) {
      return Number((await db.insertInto('grants').values(row).executeTakeFirstOrThrow()).insertId);
    },
    async byId(id) {
      return (await grants().where('id', '=', id).executeTakeFirst()) ?? null;
    },
    async ofUser(user) {
      return grants().where('user', '=', user).orderBy('ref').execute();
    },
    async onFolder(folder) {
      return grants().where('folder', '=', folder).orderBy('ref').execute();
    },
    async onDocument(document) {
      return grants().where('document', '=', document).orderBy('ref').execute();
    },
    async remove(ref) {
      await db.deleteFrom('grants').where('ref', '=', ref).execute();
    },
  };
}
