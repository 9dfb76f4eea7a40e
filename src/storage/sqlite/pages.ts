import type { Kysely } from 'kysely';
import type { ChunkRow, ChunkStore, PageRow, PageStore } from '../ports.ts';
import { decodeRow, encodeRow, pageCodec } from './encode.ts';
import { rowOf, rowsOf, type Connection } from './hot-query.ts';
import type { Schema } from './schema.ts';

type TextRow = { number: number; text: string; toView: number };

const decode = (row: object): PageRow => decodeRow<PageRow>(pageCodec, row);

export function createPageStore(db: Kysely<Schema>, connection: Connection): PageStore {
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
      const row = rowOf<object>(connection, 'select * from pages where document = ? and number = ?', document, number);
      return row ? decode(row) : null;
    },
    async range(document, from, to) {
      // One page is what agents mostly ask for, and equality is answered five times as fast as a range with an order.
      const rows =
        from === to
          ? rowsOf<object>(connection, 'select * from pages where document = ? and number = ?', document, from)
          : rowsOf<object>(connection, 'select * from pages where document = ? and number between ? and ? order by number', document, from, to);
      return rows.map(decode);
    },
    async texts(document, from, to) {
      const columns = 'select number, text, to_view from pages where document = ? and number';
      const rows =
        from === to
          ? rowsOf<TextRow>(connection, `${columns} = ?`, document, from)
          : rowsOf<TextRow>(connection, `${columns} between ? and ? order by number`, document, from, to);
      return rows.map(({ number, text, toView }) => ({ number, text, toView: toView === 1 }));
    },
  };
}

export function createChunkStore(db: Kysely<Schema>, connection: Connection): ChunkStore {
  return {
    async byRefs(refs) {
      return rowsOf<ChunkRow>(connection, 'select * from chunks where ref in (select value from json_each(?))', JSON.stringify(refs));
    },
    async ofDocument(document) {
      return db.selectFrom('chunks').selectAll().where('document', '=', document).orderBy('position').execute();
    },
    async documentsWith(documents) {
      const text = 'select value from json_each(?) where exists (select 1 from chunks where document = value)';
      return rowsOf<{ value: number }>(connection, text, JSON.stringify(documents)).map(({ value }) => value);
    },
  };
}
