/**
 * `node bench/meaning.ts [--vectors 100000,1000000] [--dimensions 384] [--queries 60]`: the look through all vectors of a
 * library as a searching thread does it, in folders of 1, 10 and 100 % of it. Prints a table and a last line of JSON.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import Sqlite from 'better-sqlite3';
import { quantise } from '../src/search/vectors/quantise.ts';
import { VectorTable } from '../src/search/vectors/vector-table.ts';
import { vectorReaderOver } from '../src/storage/sqlite/vector-reader.ts';
import { vectorTables } from '../src/storage/sqlite/vector-tables.ts';
import { clusteredVectors } from './vectors.ts';

const { values: options } = parseArgs({
  options: {
    vectors: { type: 'string', default: '100000,1000000' },
    dimensions: { type: 'string', default: '384' },
    queries: { type: 'string', default: '60' },
  },
});
const dimensions = Number(options.dimensions);
const queries = Number(options.queries);
const rows: Record<string, number>[] = [];
for (const count of options.vectors.split(',').map(Number)) rows.push(...measure(count));
console.table(rows);
console.log(JSON.stringify({ bench: 'meaning', rows }));

function measure(count: number): Record<string, number>[] {
  const folder = mkdtempSync(join(tmpdir(), 'sergo-bench-'));
  try {
    const db = new Sqlite(join(folder, 'vectors.db'));
    db.pragma('journal_mode = WAL');
    for (const statement of vectorTables) db.exec(statement);
    db.exec(`insert into vector_models (model, name, source, dimensions, state) values (1, 'bench', '{}', ${dimensions}, 'serving')`);
    const make = clusteredVectors(dimensions, count);
    const insert = db.prepare('insert into chunk_vectors (model, slot, bits, int8, scale) values (1, ?, ?, ?, ?)');
    // Every tenth question is checked against all vectors, compared exactly.
    const asked = Array.from({ length: queries }, () => make.question());
    const checked = asked.filter((_, i) => i % 10 === 0).map((question) => ({ question, exact: new Float32Array(count) }));
    const startedAt = performance.now();
    db.exec('begin');
    for (let slot = 0; slot < count; slot++) {
      const vector = make.next();
      const { bits, int8, scale } = quantise(vector);
      insert.run(slot, Buffer.from(bits.buffer), Buffer.from(int8.buffer), scale);
      for (const { question, exact } of checked) {
        let sum = 0;
        for (let i = 0; i < dimensions; i++) sum += vector[i]! * question[i]!;
        exact[slot] = sum;
      }
    }
    db.exec('commit');
    const writtenAt = performance.now();
    db.pragma('wal_checkpoint(TRUNCATE)');
    db.close();

    const reading = new Sqlite(join(folder, 'vectors.db'), { readonly: true });
    reading.pragma('cache_size = -12000');
    const table = new VectorTable(vectorReaderOver(reading));
    const loadFrom = performance.now();
    table.catchUp();
    const loadMs = performance.now() - loadFrom;
    const found = [1, 10, 100].map((percent) => {
      const mask = maskOf(count, percent);
      const times: number[] = [];
      for (const question of asked) {
        const from = performance.now();
        table.nearest({ model: 1, vector: question }, mask, 50);
        times.push(performance.now() - from);
      }
      times.sort((a, b) => a - b);
      let hits = 0;
      for (const { question, exact } of checked) {
        const truth = bestOf(exact, mask, 50);
        for (const { slot } of table.nearest({ model: 1, vector: question }, mask, 50)!) if (truth.has(slot)) hits++;
      }
      const at = (share: number): number => round(times[Math.min(times.length - 1, Math.floor(times.length * share))]!);
      return { vectors: count, scopePercent: percent, p50ms: at(0.5), p95ms: at(0.95), recall50: round(hits / (50 * checked.length)) };
    });
    reading.close();
    const signsMB = round(table.memoryBytes / 1e6);
    return found.map((row) => ({ ...row, loadMs: round(loadMs), signsMB, writtenPerSecond: Math.round((count / (writtenAt - startedAt)) * 1000) }));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Folders of 50 excerpts each, spread over the library. */
function maskOf(count: number, percent: number): Uint32Array {
  const mask = new Uint32Array((count + 31) >> 5);
  for (let slot = 0; slot < count; slot++) if (Math.floor(slot / 50) % 100 < percent) mask[slot >> 5]! |= 1 << (slot & 31);
  return mask;
}

function bestOf(scores: Float32Array, mask: Uint32Array, keep: number): Set<number> {
  const inside: number[] = [];
  for (let slot = 0; slot < scores.length; slot++) if ((mask[slot >> 5]! >>> (slot & 31)) & 1) inside.push(slot);
  return new Set(inside.sort((a, b) => scores[b]! - scores[a]! || a - b).slice(0, keep));
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}

