import { sql, type Kysely } from 'kysely';
import type { FolderRow, FolderStore } from '../ports.ts';
import { anyOf } from './any-of.ts';
import type { Schema } from './schema.ts';

export function createFolderStore(db: Kysely<Schema>): FolderStore {
  const folders = () => db.selectFrom('folders').selectAll();
  return {
    async insert(row) {
      const result = await db.insertInto('folders').values({ ...row, trashedAt: null }).executeTakeFirstOrThrow();
      return Number(result.insertId);
    },
    async byRef(ref) {
      return (await folders().where('ref', '=', ref).executeTakeFirst()) ?? null;
    },
    async byId(id) {
      return (await folders().where('id', '=', id).executeTakeFirst()) ?? null;
    },
    async byRefs(refs) {
      return folders().where('ref', 'in', anyOf(refs)).execute();
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
      const { rows } = await sql<FolderRow & { depth: number }>`
        with recursive up (ref, depth) as (
          select ${ref}, 0 union all select f.parent, up.depth + 1 from up join folders f on f.ref = up.ref where f.parent is not null)
        select f.* from up join folders f on f.ref = up.ref order by up.depth`.execute(db);
      return rows;
    },
    async subtree(roots) {
      // Roots under a trashed parent are not live: `up` walks each root to its top once and drops those that meet a trashed one.
      const { rows } = await sql<FolderRow>`
        with recursive
          up (root, ref, trashed_at) as (
            select f.ref, f.parent, f.trashed_at from folders f where f.ref in (select value from json_each(${JSON.stringify(roots)}))
            union all select up.root, f.parent, f.trashed_at from up join folders f on f.ref = up.ref),
          live (ref) as (
            select root from up group by root having count(trashed_at) = 0
            union select f.ref from live join folders f on f.parent = live.ref and f.trashed_at is null)
        select f.* from live join folders f on f.ref = live.ref`.execute(db);
      return rows;
    },
    async everythingBelow(ref) {
      const { rows } = await sql<FolderRow>`
        with recursive below (ref) as (
          select ${ref} union select f.ref from below join folders f on f.parent = below.ref)
        select f.* from below join folders f on f.ref = below.ref`.execute(db);
      return rows;
    },
    async paths(refs) {
      const { rows } = await sql<{ start: number; path: string }>`
        with recursive up (start, ref, depth) as (
          select value, value, 0 from json_each(${JSON.stringify(refs)})
          union all select up.start, f.parent, up.depth + 1 from up join folders f on f.ref = up.ref where f.parent is not null)
        select start, group_concat(name, '/') as path from (
          select up.start, f.name from up join folders f on f.ref = up.ref order by up.start, up.depth desc)
        group by start`.execute(db);
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
