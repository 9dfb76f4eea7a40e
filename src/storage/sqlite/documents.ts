import { sql, type Kysely } from 'kysely';
import type { Scope } from '../../search/types.ts';
import type { DocumentRow, DocumentStore } from '../ports.ts';
import { anyOf } from './any-of.ts';
import { decodeRow, documentCodec, encodeRow } from './encode.ts';
import { byIdOrAny, type Connection, rowOf, rowsOf } from './hot-query.ts';
import type { Schema } from './schema.ts';

const decode = (row: object): DocumentRow => decodeRow<DocumentRow>(documentCodec, row);

/** The scope as a condition inside the query: live, and in one of its folders or named singly. */
const WITHIN = `trashed_at is null and (folder in (select value from json_each(?)) or ref in (select value from json_each(?)))`;
const scopeValues = (scope: Scope): [string, string] => [JSON.stringify(scope.folders), JSON.stringify(scope.documents)];

export function createDocumentStore(db: Kysely<Schema>, connection: Connection): DocumentStore {
  const documents = () => db.selectFrom('documents').selectAll();
  return {
    async insert(row) {
      const values = { ...encodeRow(documentCodec, row), title: null, trashedAt: null } as never;
      return Number((await db.insertInto('documents').values(values).executeTakeFirstOrThrow()).insertId);
    },
    async byRef(ref) {
      const row = rowOf<object>(connection, 'select * from documents where ref = ?', ref);
      return row ? decode(row) : null;
    },
    async byId(id) {
      const row = rowOf<object>(connection, 'select * from documents where id = ?', id);
      return row ? decode(row) : null;
    },
    async byIdOrAny(id) {
      const row = rowOf<object>(connection, byIdOrAny('documents'), id);
      return row ? decode(row) : null;
    },
    async byRefs(refs) {
      return rowsOf<object>(connection, 'select * from documents where ref in (select value from json_each(?))', JSON.stringify(refs)).map(decode);
    },
    async list(scope, limit, offset) {
      const text = `select * from documents where ${WITHIN} order by uploaded_at desc, ref desc limit ? offset ?`;
      const rows = rowsOf<object>(connection, text, ...scopeValues(scope), limit, offset);
      return rows.map(decode);
    },
    async count(scope) {
      const row = rowOf<{ count: number }>(connection, `select count(*) as count from documents where ${WITHIN}`, ...scopeValues(scope));
      return row?.count ?? 0;
    },
    async inScope(id, scope) {
      const row = rowOf<object>(connection, `select * from documents where id = ? and ${WITHIN}`, id, ...scopeValues(scope));
      return row ? decode(row) : null;
    },
    async inFolder(folder, limit, offset) {
      const rows = await documents()
        .where('folder', '=', folder)
        .where('trashedAt', 'is', null)
        .orderBy(sql`name collate nocase`)
        .orderBy('ref')
        .limit(limit)
        .offset(offset)
        .execute();
      return rows.map(decode);
    },
    async countInFolder(folder) {
      const row = await db
        .selectFrom('documents')
        .select((eb) => eb.fn.countAll<number>().as('count'))
        .where('folder', '=', folder)
        .where('trashedAt', 'is', null)
        .executeTakeFirstOrThrow();
      return row.count;
    },
    async byNameInFolder(folder, name) {
      const rows = await documents().where('folder', '=', folder).where('name', '=', name).where('trashedAt', 'is', null).execute();
      return rows.map(decode);
    },
    async update(ref, change) {
      const values = encodeRow(documentCodec, change);
      if (Object.keys(values).length === 0) return;
      await db.updateTable('documents').set(values as never).where('ref', '=', ref).execute();
    },
    async trashed(owner) {
      const rows = await documents().where('owner', '=', owner).where('trashedAt', 'is not', null).orderBy('trashedAt', 'desc').execute();
      return rows.map(decode);
    },
    async allInFolders(folders, limit = -1) {
      const text = 'select * from documents where folder in (select value from json_each(?)) limit ?';
      return rowsOf<object>(connection, text, JSON.stringify(folders), limit).map(decode);
    },
    async sizeInside(container, except) {
      const text = `with recursive inside (ref, bytes, container) as (
          select ref, bytes, container from documents where container = ?
          union select d.ref, d.bytes, d.container from documents d join inside i on d.container = i.ref)
        select count(*) as files, coalesce(sum(bytes), 0) as bytes from inside where container <> ?`;
      return rowOf<{ files: number; bytes: number }>(connection, text, container, except) ?? { files: 0, bytes: 0 };
    },
    async placesOf(refs) {
      const text = 'select ref, folder from documents where ref in (select value from json_each(?)) and trashed_at is null';
      return rowsOf<{ ref: number; folder: number }>(connection, text, JSON.stringify(refs));
    },
    async remove(refs) {
      await db.deleteFrom('documents').where('ref', 'in', anyOf(refs)).execute();
    },
  };
}
