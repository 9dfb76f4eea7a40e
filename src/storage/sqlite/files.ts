import { sql, type Kysely } from 'kysely';
import type { DrawnPageStore, FileRow, FileStore } from '../ports.ts';
import { anyOf } from './any-of.ts';
import { rowOf, type Connection } from './hot-query.ts';
import type { Schema } from './schema.ts';

export function createFileStore(db: Kysely<Schema>, connection: Connection): FileStore {
  return {
    async put(row) {
      await db.deleteFrom('files').where('document', '=', row.document).where('kind', '=', row.kind).execute();
      return Number((await db.insertInto('files').values(row).executeTakeFirstOrThrow()).insertId);
    },
    async get(document, kind) {
      return rowOf<FileRow>(connection, 'select * from files where document = ? and kind = ?', document, kind);
    },
    async ofDocument(document) {
      return (await db.selectFrom('files').selectAll().where('document', '=', document).orderBy('ref').execute()) as FileRow[];
    },
    async hashesOf(documents) {
      const rows = await db.selectFrom('files').select('sha256').distinct().where('document', 'in', anyOf(documents)).execute();
      return rows.map((row) => row.sha256);
    },
    async removeKind(document, kind) {
      await db.deleteFrom('files').where('document', '=', document).where('kind', '=', kind).execute();
    },
    async referenced(sha256s) {
      const wanted = JSON.stringify(sha256s);
      const { rows } = await sql<{ sha256: string }>`
        select value as sha256 from json_each(${wanted}) w where
          exists (select 1 from files f where f.sha256 = w.value) or exists (select 1 from drawn_pages d where d.sha256 = w.value)
      `.execute(db);
      return new Set(rows.map((row) => row.sha256));
    },
    async hashes(after, limit) {
      const rows = await db
        .selectFrom('files')
        .select('sha256')
        .distinct()
        .where('sha256', '>', after)
        .orderBy('sha256')
        .limit(limit)
        .execute();
      return rows.map((row) => row.sha256);
    },
  };
}

export function createDrawnPageStore(db: Kysely<Schema>, connection: Connection): DrawnPageStore {
  return {
    async get(fileSha256, page, kind) {
      const text = 'select sha256 from drawn_pages where file_sha256 = ? and page = ? and kind = ?';
      return rowOf<{ sha256: string }>(connection, text, fileSha256, page, kind)?.sha256 ?? null;
    },
    async put(fileSha256, page, kind, sha256, bytes) {
      await db.replaceInto('drawnPages').values({ fileSha256, page, kind, sha256, bytes }).execute();
    },
    async removeOrphans() {
      const { numAffectedRows } = await sql`
        delete from drawn_pages where not exists (select 1 from files f where f.sha256 = drawn_pages.file_sha256)`.execute(db);
      return Number(numAffectedRows ?? 0n);
    },
    async removeOfFile(fileSha256) {
      const rows = await db.deleteFrom('drawnPages').where('fileSha256', '=', fileSha256).returning('sha256').execute();
      return rows.map((row) => row.sha256);
    },
  };
}
