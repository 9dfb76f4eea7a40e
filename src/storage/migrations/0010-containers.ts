import { sql, type Kysely } from 'kysely';

/** What came out of an archive or a mail is counted together, however deep it lies. */
export const containers = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`create index if not exists documents_container on documents (container) where container is not null`.execute(db);
  },
};
