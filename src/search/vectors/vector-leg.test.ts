import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite, { type Database } from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { clusteredVectors } from '../../../bench/vectors.ts';
import { vectorTables } from '../../storage/sqlite/vector-tables.ts';
import type { ScopeMask } from '../slot-table.ts';
import { quantise } from './quantise.ts';
import { createVectorLegs } from './vector-leg.ts';

const [COUNT, DIMENSIONS] = [2_500, 32];
const mask: ScopeMask = {
  words: new Uint32Array(200).fill(0xffffffff), change: 1, excerpts: COUNT, length: COUNT, languages: [], folders: new Set(), documents: new Uint8Array(0),
};
let folder: string;
let path: string;
let db: Database;
const make = clusteredVectors(DIMENSIONS, COUNT);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sergo-legs-'));
  path = join(folder, 'vectors.db');
  db = new Sqlite(path);
  db.pragma('journal_mode = WAL');
  for (const statement of vectorTables) db.exec(statement);
  addModel(1, 'serving');
});
afterEach(() => {
  db.close();
  rmSync(folder, { recursive: true, force: true });
});

function addModel(model: number, state: string): void {
  db.prepare(`insert into vector_models (model, name, source, dimensions, state) values (?, ?, '{}', ${DIMENSIONS}, ?)`).run(model, `m${model}`, state);
  const insert = db.prepare('insert into chunk_vectors (model, slot, bits, int8, scale) values (?, ?, ?, ?, ?)');
  db.transaction(() => {
    for (let slot = 0; slot < COUNT; slot++) {
      const { bits, int8, scale } = quantise(make.next());
      insert.run(model, slot, Buffer.from(bits.buffer), Buffer.from(int8.buffer), scale);
    }
  })();
}

test('while many vectors are being read, searches go by words; between them the rest is read', () => {
  const legs = createVectorLegs(path, 0);
  const question = { model: 1, vector: make.question() };
  expect(legs.read(0)).toBe(false);
  expect(legs.legFor(question)(mask, [], 60)).toBeNull();
  let reads = 0;
  while (legs.read(0)) if (++reads > 100) throw new Error('no end of reading');
  expect(reads).toBeGreaterThan(0);
  expect(legs.legFor(question)(mask, [], 60)).toHaveLength(200);
});

test('a question of a model that serves no longer has no answer, and reads nothing of the new one', () => {
  const legs = createVectorLegs(path);
  const old = { model: 1, vector: make.question() };
  expect(legs.legFor(old)(mask, [], 60)).toHaveLength(200);
  db.exec(`update vector_models set state = 'dropping' where model = 1`);
  addModel(2, 'serving');
  expect(legs.legFor(old)(mask, [], 60)).toBeNull();
  expect(legs.read(0)).toBe(false);
  expect(legs.legFor({ ...old, model: 2 })(mask, [], 60)).toHaveLength(200);
});
