import { sql, type Kysely } from 'kysely';

/** The first shape of the library. Times are epoch milliseconds; json columns hold JSON text. */
const tables = [
  `create table users (
    ref integer primary key, id text not null unique, name text not null, email text not null unique,
    password_hash text not null, role text not null check (role in ('admin', 'member')),
    root_folder integer references folders (ref), disabled_at integer, created_at integer not null)`,
  `create table sessions (
    token_hash text primary key, user integer not null references users (ref), created_at integer not null,
    expires_at integer not null) without rowid`,
  `create index sessions_user on sessions (user)`,
  `create table folders (
    ref integer primary key, id text not null unique, parent integer references folders (ref),
    owner integer not null references users (ref), name text not null, name_key text not null,
    created_at integer not null, trashed_at integer)`,
  `create index folders_parent on folders (parent)`,
  // Two live siblings of one name would make a path mean two things.
  `create unique index folders_live_name on folders (parent, name_key) where trashed_at is null`,
  `create index folders_trashed on folders (owner) where trashed_at is not null`,
  `create table documents (
    ref integer primary key autoincrement, id text not null unique, folder integer not null references folders (ref),
    owner integer not null references users (ref), name text not null, type text not null, preset text not null,
    status text not null, reason text, notices text not null, progress text, sha256 text not null, bytes integer not null,
    pages integer, pages_estimated integer not null, pages_to_view text not null, image_only_pages text not null,
    pdf_copy text not null, uploaded_at integer not null, uploaded_by integer not null references users (ref),
    trashed_at integer, generation integer not null, container integer)`,
  `create index documents_folder on documents (folder, uploaded_at desc, ref desc)`,
  `create index documents_name on documents (folder, name)`,
  `create index documents_trashed on documents (owner) where trashed_at is not null`,
  `create table files (
    ref integer primary key, document integer not null references documents (ref) on delete cascade, kind text not null,
    name text not null, mime text not null, sha256 text not null, bytes integer not null, created_at integer not null,
    unique (document, kind))`,
  `create index files_sha256 on files (sha256)`,
  `create table drawn_pages (
    file_sha256 text not null, page integer not null, kind text not null, sha256 text not null, bytes integer not null,
    primary key (file_sha256, page, kind)) without rowid`,
  `create index drawn_pages_sha256 on drawn_pages (sha256)`,
  `create table pages (
    document integer not null references documents (ref) on delete cascade, number integer not null, text text not null,
    fate text not null, to_view integer not null, width real, height real, sections text not null, notes text, hidden text,
    primary key (document, number)) without rowid`,
  `create table chunks (
    ref integer primary key autoincrement, document integer not null references documents (ref) on delete cascade,
    position integer not null, page integer, section text, text text not null)`,
  `create index chunks_document on chunks (document, position)`,
  `create table jobs (
    ref integer primary key autoincrement, kind text not null, document integer not null references documents (ref) on delete cascade,
    generation integer not null, owner integer not null, weight integer not null, state text not null,
    attempt integer not null default 0, available_at integer not null, lease_until integer, lease_token text, error text,
    created_at integer not null, finished_at integer)`,
  `create index jobs_open on jobs (owner, kind, weight) where state in ('queued', 'running')`,
  `create index jobs_document on jobs (document)`,
  `create table keys (
    ref integer primary key, id text not null unique, kind text not null, owner integer not null references users (ref),
    name text not null, description text not null, masked text not null, created_at integer not null, revoked_at integer,
    last_used_at integer)`,
  `create index keys_owner on keys (owner, kind, name)`,
  `create table key_values (
    hash text primary key, key integer not null references keys (ref), masked text not null, created_at integer not null,
    valid_until integer) without rowid`,
  `create index key_values_key on key_values (key)`,
  `create table key_folders (key integer not null references keys (ref), folder integer not null references folders (ref) on delete cascade,
    primary key (key, folder)) without rowid`,
  `create table key_documents (key integer not null references keys (ref), document integer not null references documents (ref) on delete cascade,
    primary key (key, document)) without rowid`,
  `create table grants (
    ref integer primary key, id text not null unique, folder integer references folders (ref) on delete cascade,
    document integer references documents (ref) on delete cascade, user integer not null references users (ref),
    right text not null check (right in ('read', 'edit')), granted_by integer not null references users (ref),
    created_at integer not null, check ((folder is null) <> (document is null)))`,
  `create unique index grants_folder on grants (folder, user) where folder is not null`,
  `create unique index grants_document on grants (document, user) where document is not null`,
  `create index grants_user on grants (user)`,
  `create table audit (
    seq integer primary key, at integer not null, actor_kind text not null, actor_id text, actor text not null, masked text,
    end_user text, action text not null, object_kind text, object_id text, detail text not null, outcome text not null,
    request_id text not null, hash text not null)`,
  `create index audit_actor on audit (actor_id, seq)`,
  `create index audit_object on audit (object_id, seq)`,
  // The chain shows a change; these keep an honest program from making one by mistake.
  `create trigger audit_no_update before update on audit begin select raise(abort, 'the audit log is append-only'); end`,
  `create trigger audit_no_delete before delete on audit begin select raise(abort, 'the audit log is append-only'); end`,
  `create table settings (name text primary key, value text not null) without rowid`,
];

export const start = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of tables) await sql.raw(statement).execute(db);
  },
};
