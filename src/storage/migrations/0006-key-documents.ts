import { sql, type Kysely } from 'kysely';

/** A removed document is looked for in all keys: by an index, as keys may name thousands. */
export const keyDocuments = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`create index key_documents_document on key_documents (document)`.execute(db);
    await sql`create index key_folders_folder on key_folders (folder)`.execute(db);
  },
};
