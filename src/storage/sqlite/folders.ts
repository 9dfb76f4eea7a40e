import type { Kysely } from 'kysely';
import type { FolderRow, FolderStore } from '../ports.ts';
import { byIdOrAny, type Connection, rowOf, rowsOf } from './hot-query.ts';
import type { Schema } from './schema.ts';

export function createFolderStore(db: Kysely<Schema>, connection: Connection): FolderStore {
  const folders = () => db.selectFrom('folders').selectAll();
  return {
    async insert(row) {
      const result = await db.insertInto('folders').values({ ...row, trashedAt: null }).executeTakeFirstOrThrow();
      return Number(result.insertId);
    },
    async byRef(ref) {
      return rowOf<FolderRow>(connection, 'select * from folders where ref = ?', ref);
    },
    async byId(id) {
      return rowOf<FolderRow>(connection, 'select * from folders where id = ?', id);
    },
    async byIdOrAny(id) {
      return rowOf<FolderRow>(connection, byIdOrAny('folders'), id);
    },
    async byRefs(refs) {
      return rowsOf<FolderRow>(connection, 'select * from folders where ref in (select value from json_each(?))', JSON.stringify(refs));
    },
    async children(parent) {
      return folders().where('parent', '=', parent).where('trashedAt', 'is', null).orderBy('nameKey').execute();
    },
    async childByKey(parent, nameKey) {
      return (
        (await folders().where('parent', '=', parent).where('nameKey', '=', nameKey).where('trashedAt', 'is', null).executeTakeFirst()) ??
        null
      );
    },
    async ancestors(ref) {
      const rows = rowsOf<FolderRow & { depth: number }>(connection, `
        with recursive up (ref, depth) as (
          select ?, 0 union all select f.parent, up.depth + 1 from up join folders f on f.ref = up.ref where f.parent is not null)
        select f.* from up join folders f on f.ref = up.ref order by up.depth`, ref);
      return rows;
    },
    async subtree(roots) {
      // Roots under a trashed parent are not live: `up` walks each root to its top once and drops those that meet a trashed one.
      const rows = rowsOf<FolderRow>(connection, `
        with recursive
          up (root, ref, trashed_at) as (
            select f.ref, f.parent, f.trashed_at from folders f where f.ref in (select value from json_each(?))
            union all select up.root, f.parent, f.trashed_at from up join folders f on f.ref = up.ref),
          live (ref) as (
            select root from up group by root having count(trashed_at) = 0
            union select f.ref from live join folders f on f.parent = live.ref and f.trashed_at is null)
        select f.* from live join folders f on f.ref = live.ref`, JSON.stringify(roots));
      return rows;
    },
    async everythingBelow(ref) {
      const rows = rowsOf<FolderRow>(connection, `
        with recursive below (ref) as (
          select ? union select f.ref from below join folders f on f.parent = below.ref)
        select f.* from below join folders f on f.ref = below.ref`, ref);
      return rows;
    },
    async paths(refs) {
      const rows = rowsOf<{ start: number; path: string }>(connection, `
        with recursive up (start, ref, depth) as (
          select value, value, 0 from json_each(?)
          union all select up.start, f.parent, up.depth + 1 from up join folders f on f.ref = up.ref where f.parent is not null)
        select start, group_concat(name, '/') as path from (
          select up.start, f.name from up join folders f on f.ref = up.ref order by up.start, up.depth desc)
        group by start`, JSON.stringify(refs));
      return new Map(rows.map((row) => [row.start, row.path]));
    },
    async update(ref, change) {
      await db.updateTable('folders').set(change).where('ref', '=', ref).execute();
    },
    async trashed(owner) {
      return folders().where('owner', '=', owner).where('trashedAt', 'is not', null).orderBy('trashedAt', 'desc').execute();
    },
    async remove(ref) {
      await db.deleteFrom('folders').where('ref', '=', ref).execute();
    },
  };
}
