import type { Kysely } from 'kysely';
import type { GrantRow, GrantStore } from '../ports.ts';
import { rowsOf, type Connection } from './hot-query.ts';
import type { Schema } from './schema.ts';

export function createGrantStore(db: Kysely<Schema>, connection: Connection): GrantStore {
  const grants = () => db.selectFrom('grants').selectAll();
  return {
    async insert(row) {
      return Number((await db.insertInto('grants').values(row).executeTakeFirstOrThrow()).insertId);
    },
    async byId(id) {
      return (await grants().where('id', '=', id).executeTakeFirst()) ?? null;
    },
    async ofUser(user) {
      return rowsOf<GrantRow>(connection, 'select * from grants where user = ? order by ref', user);
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
