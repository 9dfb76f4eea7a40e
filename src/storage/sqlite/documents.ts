import { sql, type ExpressionBuilder, type Kysely } from 'kysely';
import type { Scope } from '../../search/types.ts';
import type { DocumentRow, DocumentStore } from '../ports.ts';
import { anyOf } from './any-of.ts';
import { decodeRow, documentCodec, encodeRow } from './encode.ts';
import type { Schema } from './schema.ts';

const decode = (row: object): DocumentRow => decodeRow<DocumentRow>(documentCodec, row);

/** The scope as a condition inside the query: live, and in one of its folders or named singly. */
function within(scope: Scope) {
  return (eb: ExpressionBuilder<Schema, 'documents'>) => {
    const places = [];
    if (scope.folders.length > 0) places.push(eb('folder', 'in', anyOf(scope.folders)));
    if (scope.documents.length > 0) places.push(eb('ref', 'in', anyOf(scope.documents)));
    return eb.and([eb('trashedAt', 'is', null), places.length > 0 ? eb.or(places) : sql<boolean>`0`]);
  };
}

export function createDocumentStore(db: Kysely<Schema>): DocumentStore {
  const documents = () => db.selectFrom('documents').selectAll();
  return {
    async insert(row) {
      const values = { ...encodeRow(documentCodec, row), trashedAt: null } as never;
      return Number((await db.insertInto('documents').values(values).executeTakeFirstOrThrow()).insertId);
    },
    async byRef(ref) {
      const row = await documents().where('ref', '=', ref).executeTakeFirst();
      return row ? decode(row) : null;
    },
    async byId(id) {
      const row = await documents().where('id', '=', id).executeTakeFirst();
      return row ? decode(row) : null;
    },
    async byRefs(refs) {
      return (await documents().where('ref', 'in', anyOf(refs)).execute()).map(decode);
    },
    async list(scope, limit, offset) {
      const rows = await documents()
        .where(within(scope))
        .orderBy('uploadedAt', 'desc')
        .orderBy('ref', 'desc')
        .limit(limit)
        .offset(offset)
        .execute();
      return rows.map(decode);
    },
    async count(scope) {
      const row = await db
        .selectFrom('documents')
        .select((eb) => eb.fn.countAll<number>().as('count'))
        .where(within(scope))
        .executeTakeFirstOrThrow();
      return row.count;
    },
    async inScope(id, scope) {
      const row = await documents().where('id', '=', id).where(within(scope)).executeTakeFirst();
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
    async allInFolders(folders) {
      return (await documents().where('folder', 'in', anyOf(folders)).execute()).map(decode);
    },
    async remove(ref) {
      await db.deleteFrom('documents').where('ref', '=', ref).execute();
    },
  };
}
