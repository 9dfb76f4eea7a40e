import type { Kysely } from 'kysely';
import type { SettingStore } from '../ports.ts';
import type { Schema } from './schema.ts';

export function createSettingStore(db: Kysely<Schema>): SettingStore {
  return {
    async get(name) {
      const row = await db.selectFrom('settings').select('value').where('name', '=', name).executeTakeFirst();
      return row ? (JSON.parse(row.value) as unknown) : null;
    },
    async set(name, value) {
      await db.replaceInto('settings').values({ name, value: JSON.stringify(value) }).execute();
    },
    async remove(name) {
      await db.deleteFrom('settings').where('name', '=', name).execute();
    },
  };
}
