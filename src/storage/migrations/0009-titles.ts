import { sql, type Kysely } from 'kysely';

/**
 * The title that a file says it has: words, meaning and phrases go by it, and a rename must not lose it. Documents that were read before
 * have none until they are read again, and go by their names. Notes are found without reading through all pages of a document.
 */
export const titles = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table documents add column title text`.execute(db);
    await sql`create index pages_notes on pages (document, number) where notes is not null`.execute(db);
  },
};
