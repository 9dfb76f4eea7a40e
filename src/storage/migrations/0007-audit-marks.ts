import { sql, type Kysely } from 'kysely';

/** Who did it and what it was done to, block by block instead of row by row: sqlite/audit-marks.ts says why. */
const statements = [
  `create table audit_actors (actor_id text not null, seq integer not null, primary key (actor_id, seq)) without rowid`,
  `create table audit_objects (object_id text not null, seq integer not null, primary key (object_id, seq)) without rowid`,
  // Blocks of 256 rows, as audit-marks.ts counts them.
  ...['actor', 'object'].map(
    (mark) => `insert into audit_${mark}s select ${mark}_id, seq from audit
      where ${mark}_id is not null and seq <= (select max(seq) / 256 * 256 from audit) order by 1, 2`,
  ),
  `drop index audit_actor`,
  `drop index audit_object`,
];

export const auditMarks = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};
