import type { Kysely } from 'kysely';
import type { SessionStore, UserRow, UserStore } from '../ports.ts';
import { rowOf, rowsOf, type Connection } from './hot-query.ts';
import type { Schema } from './schema.ts';

export function createUserStore(db: Kysely<Schema>, connection: Connection): UserStore {
  const one = async (column: 'id' | 'email', value: string): Promise<UserRow | null> =>
    ((await db.selectFrom('users').selectAll().where(column, '=', value as never).executeTakeFirst()) as UserRow | undefined) ?? null;
  return {
    async insert(row) {
      const result = await db.insertInto('users').values({ ...row, rootFolder: null, disabledAt: null }).executeTakeFirstOrThrow();
      return Number(result.insertId);
    },
    async setRootFolder(ref, folder) {
      await db.updateTable('users').set({ rootFolder: folder }).where('ref', '=', ref).execute();
    },
    byRef: async (ref) => rowOf<UserRow>(connection, 'select * from users where ref = ?', ref),
    byId: (id) => one('id', id),
    byEmail: (email) => one('email', email.toLowerCase()),
    async list() {
      return (await db.selectFrom('users').selectAll().orderBy('name').orderBy('ref').execute()) as UserRow[];
    },
    async countAdmins() {
      const row = await db
        .selectFrom('users')
        .select((eb) => eb.fn.countAll<number>().as('count'))
        .where('role', '=', 'admin')
        .executeTakeFirstOrThrow();
      return row.count;
    },
    async update(ref, change) {
      await db.updateTable('users').set(change).where('ref', '=', ref).execute();
    },
  };
}

export function createSessionStore(db: Kysely<Schema>, connection: Connection): SessionStore {
  return {
    async insert(row) {
      await db.insertInto('sessions').values(row).execute();
    },
    async byHash(tokenHash) {
      return rowOf(connection, 'select * from sessions where token_hash = ?', tokenHash);
    },
    async hashesSince(time) {
      return rowsOf<{ tokenHash: string }>(connection, 'select token_hash from sessions where created_at >= ?', time).map((row) => row.tokenHash);
    },
    async extend(tokenHash, expiresAt) {
      await db.updateTable('sessions').set({ expiresAt }).where('tokenHash', '=', tokenHash).execute();
    },
    async remove(tokenHash) {
      await db.deleteFrom('sessions').where('tokenHash', '=', tokenHash).execute();
    },
    async removeOfUser(user) {
      await db.deleteFrom('sessions').where('user', '=', user).execute();
    },
    async removeExpired(now) {
      await db.deleteFrom('sessions').where('expiresAt', '<=', now).execute();
    },
  };
}
