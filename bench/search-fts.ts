/** The yardstick: a bare FTS5 table with porter stemming, title weighted, asked with the same words and scope. */
import Sqlite from 'better-sqlite3';
import { isMainThread, parentPort, workerData } from 'node:worker_threads';

export const ftsThreadUrl = new URL(import.meta.url);

export function createFtsYardstick(path: string): {
  add(document: { ref: number; folder: number; title: string; texts: string[] }): void;
  close(): void;
} {
  const db = new Sqlite(path);
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = NORMAL');
  db.exec(`create table chunks (ref integer primary key, document integer, folder integer, title text, text text);
    create virtual table words using fts5(title, text, content='chunks', content_rowid='ref', tokenize='porter unicode61')`);
  const chunk = db.prepare('insert into chunks (document, folder, title, text) values (?, ?, ?, ?)');
  const words = db.prepare('insert into words (rowid, title, text) values (?, ?, ?)');
  let open = 0;
  db.exec('begin');
  return {
    add: (document) => {
      for (const text of document.texts) {
        const { lastInsertRowid } = chunk.run(document.ref, document.folder, document.title, text);
        words.run(lastInsertRowid, document.title, text);
      }
      if (++open % 64 === 0) db.exec('commit; begin');
    },
    close: () => {
      db.exec('commit');
      db.pragma('wal_checkpoint(TRUNCATE)');
      db.close();
    },
  };
}

/** What a bare implementation does with a query: each word quoted, joined with OR, at most 64. */
function matchOf(query: string): string {
  return (query.match(/[\p{L}\p{N}]+/gu) ?? []).slice(0, 64).map((word) => `"${word}"`).join(' OR ');
}

if (!isMainThread && (workerData as { path?: string } | null)?.path !== undefined) {
  const { path, depth } = workerData as { path: string; depth: number };
  const db = new Sqlite(path, { readonly: true });
  db.pragma('cache_size = -12000');
  db.exec('create temp table scope (folder integer primary key)');
  const into = db.prepare('insert into scope values (?)');
  const clear = db.prepare('delete from scope');
  const search = db.prepare(
    `select chunks.ref from words join chunks on chunks.ref = words.rowid
     where words match ? and chunks.folder in (select folder from scope) order by bm25(words, 3.0, 1.0) limit ?`,
  );
  let current = '';
  parentPort!.on('message', ({ query, folders }: { query: string; folders: number[] }) => {
    if (folders.join() !== current) {
      current = folders.join();
      clear.run();
      for (const folder of folders) into.run(folder);
    }
    parentPort!.postMessage(search.all(matchOf(query), depth).length);
  });
}
