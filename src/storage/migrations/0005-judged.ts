import { sql, type Kysely } from 'kysely';

/**
 * What a search in the audit log asked for, to ask it again: its line there is worded for people. And pages that somebody said
 * should be found. Documents, folders and keys are named by their public ids: what was judged may go, and that is then said.
 */
const tables = [
  `create table asked_searches (
    seq integer primary key references audit (seq), query text not null, folders text, "limit" integer not null,
    "offset" integer not null, as_key text, found integer)`,
  `create table judged_pages (
    ref integer primary key, id text not null unique, owner integer not null references users (ref), query text not null,
    key_id text, folder_id text, document_id text not null, page integer, grade integer not null check (grade between 1 and 3),
    created_at integer not null, last_rank integer, last_run_at integer)`,
  `create index judged_pages_owner on judged_pages (owner)`,
];

export const judged = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of tables) await sql.raw(statement).execute(db);
  },
};
