import type { Kysely } from 'kysely';
import type { KeyRow, KeyStore, KeyValueRow } from '../ports.ts';
import type { Schema } from './schema.ts';

export function createKeyStore(db: Kysely<Schema>): KeyStore {
  const keys = () => db.selectFrom('keys').selectAll();
  return {
    async insert(row, hash) {
      const inserted = await db.insertInto('keys').values({ ...row, revokedAt: null, lastUsedAt: null }).executeTakeFirstOrThrow();
      const key = Number(inserted.insertId);
      await db.insertInto('keyValues').values({ hash, key, masked: row.masked, createdAt: row.createdAt, validUntil: null }).execute();
      return key;
    },
    async byValueHash(hash) {
      const row = await db
        .selectFrom('keyValues as v')
        .innerJoin('keys as k', 'k.ref', 'v.key')
        .selectAll('k')
        .select(['v.hash', 'v.key', 'v.masked as valueMasked', 'v.createdAt as valueCreatedAt', 'v.validUntil'])
        .where('v.hash', '=', hash)
        .executeTakeFirst();
      if (!row) return null;
      const { hash: valueHash, key, valueMasked, valueCreatedAt, validUntil, ...keyRow } = row;
      const value: KeyValueRow = { hash: valueHash, key, masked: valueMasked, createdAt: valueCreatedAt, validUntil };
      return { key: keyRow as KeyRow, value };
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
      const folders = await db.selectFrom('keyFolders').select('folder').where('key', '=', ref).execute();
      const documents = await db.selectFrom('keyDocuments').select('document').where('key', '=', ref).execute();
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
