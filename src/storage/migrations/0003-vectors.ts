import { sql, type Kysely } from 'kysely';
import { vectorTables } from '../sqlite/vector-tables.ts';

/** Meaning: embedding models and the vectors of excerpts. */
export const vectors = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of vectorTables) await sql.raw(statement).execute(db);
  },
};
