import type { Kysely } from 'kysely';
import type { ChunkStore, PageRow, PageStore } from '../ports.ts';
import { anyOf } from './any-of.ts';
import { decodeRow, encodeRow, pageCodec } from './encode.ts';
import type { Schema } from './schema.ts';

const decode = (row: object): PageRow => decodeRow<PageRow>(pageCodec, row);

export function createPageStore(db: Kysely<Schema>): PageStore {
  return {
    async replace(document, pages) {
      await db.deleteFrom('pages').where('document', '=', document).execute();
      // Ten columns a row: SQLite binds 32,766 values a statement at most, and big statements compile slowly.
      for (let start = 0; start < pages.length; start += 100) {
        const rows = pages.slice(start, start + 100).map((page) => encodeRow(pageCodec, { ...page, document }));
        await db.insertInto('pages').values(rows as never).execute();
      }
    },
    async get(document, number) {
      const row = await db.selectFrom('pages').selectAll().where('document', '=', document).where('number', '=', number).executeTakeFirst();
      return row ? decode(row) : null;
    },
    async range(document, from, to) {
      const rows = await db
        .selectFrom('pages')
        .selectAll()
        .where('document', '=', document)
        .where('number', '>=', from)
        .where('number', '<=', to)
        .orderBy('number')
        .execute();
      return rows.map(decode);
    },
  };
}

export function createChunkStore(db: Kysely<Schema>): ChunkStore {
  return {
    async byRefs(refs) {
      return db.selectFrom('chunks').selectAll().where('ref', 'in', anyOf(refs)).execute();
    },
    async ofDocument(document) {
      return db.selectFrom('chunks').selectAll().where('document', '=', document).orderBy('position').execute();
    },
  };
}
