import { sql, type Kysely } from 'kysely';

/**
 * Up to version 0.6.0 the names of folders were stemmed as English, whatever the documents in them were in. Now each term is kept with
 * its languages; a row without any says that the name is still to be read, which is not storage's to do (processing/reindex.ts).
 */
export const folderWords = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`update search_folders set terms = '{}'`.execute(db);
    await sql`update search_state set value = value + 1 where name = 'folders'`.execute(db);
  },
};
