/** Vectors for the excerpts that `bench:search` has loaded, as an embedding model would have made them, and questions among them. */
import Sqlite from 'better-sqlite3';
import { quantise } from '../src/search/vectors/quantise.ts';
import type { QuestionVector } from '../src/search/vectors/vector-table.ts';
import { vectorTables } from '../src/storage/sqlite/vector-tables.ts';
import { clusteredVectors } from './vectors.ts';

const DIMENSIONS = 384;

/** Gives every excerpt of a database a vector, if it has none yet. */
export function addVectors(path: string, total: number): void {
  const db = new Sqlite(path);
  if (db.prepare(`select 1 from sqlite_master where name = 'chunk_vectors'`).get() !== undefined) return void db.close();
  db.pragma('synchronous = OFF');
  const slots = db.prepare(`select value from search_state where name = 'next_slot'`).pluck().get() as number;
  const make = clusteredVectors(DIMENSIONS, total);
  db.exec('begin');
  for (const statement of vectorTables) db.exec(statement);
  db.exec(`insert into vector_models (model, name, source, dimensions, state) values (1, 'bench', '{}', ${DIMENSIONS}, 'serving')`);
  const insert = db.prepare('insert into chunk_vectors (model, slot, bits, int8, scale) values (1, ?, ?, ?, ?)');
  for (let slot = 0; slot < slots; slot++) {
    const { bits, int8, scale } = quantise(make.next());
    insert.run(slot, Buffer.from(bits.buffer), Buffer.from(int8.buffer), scale);
  }
  db.exec('commit');
  db.pragma('wal_checkpoint(TRUNCATE)');
  db.close();
}

/** Answers each question with one of some vectors, made before anything is timed: an embedding model's own time is not search's. */
export function questionsOf(total: number): (query: string) => QuestionVector {
  const make = clusteredVectors(DIMENSIONS, total);
  const vectors = Array.from({ length: 200 }, () => make.question());
  let asked = 0;
  return () => ({ model: 1, vector: vectors[asked++ % vectors.length]! });
}
