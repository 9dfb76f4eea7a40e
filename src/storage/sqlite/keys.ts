import type { Kysely } from 'kysely';
import type { KeyRow, KeyStore, KeyValueRow } from '../ports.ts';
import { rowOf, rowsOf, type Connection } from './hot-query.ts';
import type { Schema } from './schema.ts';

export function createKeyStore(db: Kysely<Schema>, connection: Connection): KeyStore {
  const keys = () => db.selectFrom('keys').selectAll();
  return {
    async insert(row, hash) {
      const inserted = await db.insertInto('keys').values({ ...row, revokedAt: null, lastUsedAt: null }).executeTakeFirstOrThrow();
      const key = Number(inserted.insertId);
      await db.insertInto('keyValues').values({ hash, key, masked: row.masked, createdAt: row.createdAt, validUntil: null }).execute();
      return key;
    },
    async byValueHash(hash) {
      const row = rowOf<KeyRow & { hash: string; key: number; valueMasked: string; valueCreatedAt: number; validUntil: number | null }>(
        connection,
        `select k.*, v.hash, v.key, v.masked as value_masked, v.created_at as value_created_at, v.valid_until
         from key_values v join keys k on k.ref = v.key where v.hash = ?`,
        hash,
      );
      if (!row) return null;
      const { hash: valueHash, key, valueMasked, valueCreatedAt, validUntil, ...keyRow } = row;
      const value: KeyValueRow = { hash: valueHash, key, masked: valueMasked, createdAt: valueCreatedAt, validUntil };
      return { key: keyRow, value };
    },
    async hashesSince(time) {
      return rowsOf<{ hash: string }>(connection, 'select hash from key_values where created_at >= ?', time).map((row) => row.hash);
    },
    async byId(id) {
      return (await keys().where('id', '=', id).executeTakeFirst()) ?? null;
    },
    async ofOwner(owner) {
      return keys().where('owner', '=', owner).orderBy('createdAt', 'desc').orderBy('ref', 'desc').execute();
    },
    async list() {
      return keys().orderBy('createdAt', 'desc').orderBy('ref', 'desc').execute();
    },
    async liveNameTaken(owner, kind, name, except) {
      let query = db
        .selectFrom('keys')
        .select('ref')
        .where('owner', '=', owner)
        .where('kind', '=', kind)
        .where('name', '=', name)
        .where('revokedAt', 'is', null);
      if (except !== null) query = query.where('ref', '<>', except);
      return (await query.executeTakeFirst()) !== undefined;
    },
    async update(ref, change) {
      await db.updateTable('keys').set(change).where('ref', '=', ref).execute();
    },
    async roll(ref, value, oldValidUntil) {
      // Each old value keeps its own, sooner end.
      await db
        .updateTable('keyValues')
        .set({ validUntil: oldValidUntil })
        .where('key', '=', ref)
        .where((eb) => eb.or([eb('validUntil', 'is', null), eb('validUntil', '>', oldValidUntil)]))
        .execute();
      await db.insertInto('keyValues').values({ ...value, key: ref, validUntil: null }).execute();
      await db.updateTable('keys').set({ masked: value.masked }).where('ref', '=', ref).execute();
    },
    async touch(ref, usedAt) {
      await db.updateTable('keys').set({ lastUsedAt: usedAt }).where('ref', '=', ref).execute();
    },
    async scope(ref) {
      const folders = rowsOf<{ folder: number }>(connection, 'select folder from key_folders where key = ?', ref);
      const documents = rowsOf<{ document: number }>(connection, 'select document from key_documents where key = ?', ref);
      return { folders: folders.map((row) => row.folder), documents: documents.map((row) => row.document) };
    },
    async setScope(ref, folders, documents) {
      await db.deleteFrom('keyFolders').where('key', '=', ref).execute();
      await db.deleteFrom('keyDocuments').where('key', '=', ref).execute();
      for (const folder of folders) await db.insertInto('keyFolders').values({ key: ref, folder }).execute();
      for (const document of documents) await db.insertInto('keyDocuments').values({ key: ref, document }).execute();
    },
  };
}
