import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import Sqlite from 'better-sqlite3';
import { CamelCasePlugin, Kysely, sql, SqliteDialect, type SqliteDatabase } from 'kysely';
import { Migrator } from 'kysely/migration';
import { AppError } from '../../errors.ts';
import { migrationsWith } from '../migrations/index.ts';
import type { IndexStore, Storage, Stores } from '../ports.ts';
import { createAuditStore } from './audit.ts';
import { createDocumentStore } from './documents.ts';
import { createDrawnPageStore, createFileStore } from './files.ts';
import { createFolderStore } from './folders.ts';
import { createGrantStore } from './grants.ts';
import type { Connection } from './hot-query.ts';
import { createIndexStore, type IndexWriter } from './index-store.ts';
import { createJobStore } from './jobs.ts';
import { createJudgedPageStore } from './judged-pages.ts';
import { createKeyStore } from './keys.ts';
import { createChunkStore, createPageStore } from './pages.ts';
import { rememberReads } from './read-memory.ts';
import type { Schema } from './schema.ts';
import { searchIndexWriter } from './search-index-writer.ts';
import { createSearchTables } from './search-tables.ts';
import { createSettingStore } from './settings.ts';
import { createSessionStore, createUserStore } from './users.ts';
import { createWriteTurns } from './write-turns.ts';

/** Older ones can corrupt a database that two connections write (the WAL-reset bug, fixed in 3.51.3). */
const OLDEST_SAFE_SQLITE = [3, 51, 3];

const GIVE_WAY_MS = 1;

export interface SqliteStorage extends Storage {
  databasePath: string;
}

/**
 * Opens (and migrates) the embedded database. Reads go over a connection of their own, so that they never see a
 * half-done change and never wait for one; writes take turns on another, and between processes by SQLite's own lock, waited
 * for without blocking the event loop. Refuses a database that a newer Sergo has migrated.
 */
export async function openSqliteStorage(options: {
  path: string;
  /** Default: the embedded search index. */
  indexWriter?: IndexWriter;
  /** The disk failed while syncing: what was acknowledged may not be there, so the process must end and recover. */
  onDiskFailure?: (error: unknown) => void;
  /**
   * For a process that others must not wait for, and whose results can be made anew (the worker): a gap between two of its changes, and
   * the disk is waited for beside the next (write-turns.ts). What a transaction resolves with is durable here too.
   */
  inBackground?: boolean;
}): Promise<SqliteStorage> {
  mkdirSync(dirname(options.path), { recursive: true, mode: 0o700 });
  const writeConnection = connect(options.path);
  assertSafeSqlite(writeConnection);
  await migrate(writeConnection);
  const readConnection = connect(options.path);
  const writer = kyselyOver(writeConnection);
  const reader = kyselyOver(readConnection);
  const indexWriter = options.indexWriter ?? searchIndexWriter;

  const turns = createWriteTurns(writeConnection, {
    walPath: `${options.path}-wal`,
    onDiskFailure: (error) => options.onDiskFailure?.(error),
    giveWayMs: options.inBackground ? GIVE_WAY_MS : undefined,
  });
  const transaction = async <T>(work: (stores: Stores) => Promise<T>): Promise<T> => {
    const change = (): Promise<T> =>
      writer.connection().execute((db) => work(createStores(db, writeConnection, createIndexStore(writeConnection, indexWriter))));
    if (!options.inBackground) {
      const result = await turns.durably(change);
      remembered.forget();
      return result;
    }
    const { result, durable } = await turns.soon(change);
    remembered.forget();
    await durable;
    return result;
  };
  const auditRows = createAuditStore(writer, writeConnection);

  // A connection forgets the pages it holds with each commit that is not its own, and nearly all commits are the writer's: between
  // its transactions the look-ups of every call are asked there. During one they must not see what it has done so far.
  const settled = (): Sqlite.Database => (turns.isChanging() ? readConnection : writeConnection);
  const remembered = rememberReads(createStores(reader, settled, createIndexStore(readConnection, indexWriter)), writeConnection);
  return {
    ...writesAsTransactions(remembered.stores, transaction),
    databasePath: options.path,
    transaction,
    appendAudit: (work) => turns.soon(() => work(auditRows)),
    recall: remembered.recall,
    async check() {
      await transaction(async (stores) => stores.settings.set('last-check', Date.now()));
      await sql`select 1`.execute(reader);
    },
    async close() {
      await turns.close();
      await writer.destroy();
      await reader.destroy();
    },
  };
}

function connect(path: string): Sqlite.Database {
  const db = new Sqlite(path, { timeout: 0 });
  // The compiled-in default (NORMAL) loses acknowledged commits in a power cut; measured in docs/decisions.
  db.pragma('busy_timeout = 5000');
  db.pragma('journal_mode = WAL');
  db.pragma('busy_timeout = 0');
  db.pragma('synchronous = FULL');
  db.pragma('foreign_keys = ON');
  db.pragma('cache_size = -8000');
  db.pragma('trusted_schema = OFF');
  return db;
}

const kyselyOver = (database: Sqlite.Database): Kysely<Schema> =>
  new Kysely<Schema>({ dialect: new SqliteDialect({ database: withPreparedStatements(database) }), plugins: [new CamelCasePlugin()] });

/** Kysely prepares a statement anew for each query; the same few hundred texts come again and again. */
function withPreparedStatements(database: Sqlite.Database): SqliteDatabase {
  const prepared = new Map<string, Sqlite.Statement>();
  return {
    close: () => void database.close(),
    prepare(text) {
      let statement = prepared.get(text);
      if (!statement) {
        statement = database.prepare(text);
        if (prepared.size >= 500) prepared.clear();
        prepared.set(text, statement);
      }
      return statement as unknown as ReturnType<SqliteDatabase['prepare']>;
    },
  };
}

function assertSafeSqlite(db: Sqlite.Database): void {
  const version = db.prepare('select sqlite_version() as version').pluck().get() as string;
  const parts = version.split('.').map(Number);
  const older = OLDEST_SAFE_SQLITE.findIndex((part, at) => (parts[at] ?? 0) !== part);
  if (older >= 0 && (parts[older] ?? 0) < (OLDEST_SAFE_SQLITE[older] ?? 0)) {
    throw new Error(`SQLite ${version} can lose data with two writers — Sergo needs ${OLDEST_SAFE_SQLITE.join('.')} or newer`);
  }
}

async function migrate(database: Sqlite.Database): Promise<void> {
  database.pragma('busy_timeout = 15000');
  const db = kyselyOver(database);
  const migrations = migrationsWith(() => createSearchTables(database));
  const known = Object.keys(migrations);
  const applied = database.prepare("select name from sqlite_master where name = 'kysely_migration'").get()
    ? (database.prepare('select name from kysely_migration order by name').pluck().all() as string[])
    : [];
  const newer = applied.filter((name) => !known.includes(name));
  if (newer.length > 0) {
    throw new AppError(
      'conflict',
      `This data folder was written by a newer Sergo (its database has ${newer.at(-1)}, this one knows up to ${known.at(-1)}) — start that version, or restore a backup made with this one`,
    );
  }
  // Kysely's own plugin would rename the migration tables' columns: migrate without it.
  const bare = db.withoutPlugins();
  if (applied.length < known.length) {
    const migrator = new Migrator({ db: bare, provider: { getMigrations: async () => migrations } });
    const { error } = await migrator.migrateToLatest();
    if (error) throw error;
  }
  database.pragma('busy_timeout = 0');
}

function createStores(db: Kysely<Schema>, connection: Connection, index: IndexStore): Stores {
  return {
    users: createUserStore(db, connection),
    sessions: createSessionStore(db, connection),
    folders: createFolderStore(db, connection),
    documents: createDocumentStore(db, connection),
    files: createFileStore(db, connection),
    drawnPages: createDrawnPageStore(db, connection),
    pages: createPageStore(db, connection),
    chunks: createChunkStore(db, connection),
    index,
    jobs: createJobStore(db),
    keys: createKeyStore(db, connection),
    grants: createGrantStore(db, connection),
    audit: createAuditStore(db, connection),
    judgedPages: createJudgedPageStore(db),
    settings: createSettingStore(db),
  };
}

/** Store functions are named by what they do: these verbs write, and outside a transaction each is one of its own. */
const WRITING = /^(insert|set|update|remove|put|replace|append|enqueue|lease|extend|finish|retry|cancel|roll|touch)/;

function writesAsTransactions(reading: Stores, transaction: Storage['transaction']): Stores {
  const wrapped: Record<string, Record<string, unknown>> = {};
  for (const [storeName, store] of Object.entries(reading) as [keyof Stores, Record<string, unknown>][]) {
    const methods: Record<string, unknown> = {};
    for (const [name, method] of Object.entries(store)) {
      methods[name] = WRITING.test(name)
        ? (...args: unknown[]) =>
            transaction(async (stores) => (stores[storeName] as unknown as Record<string, (...a: unknown[]) => Promise<unknown>>)[name]!(...args))
        : method;
    }
    wrapped[storeName] = methods;
  }
  return wrapped as unknown as Stores;
}
