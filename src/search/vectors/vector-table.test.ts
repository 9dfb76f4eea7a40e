import Sqlite, { type Database } from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { clusteredVectors, type VectorSource } from '../../../bench/vectors.ts';
import { vectorReaderOver } from '../../storage/sqlite/vector-reader.ts';
import { vectorTables } from '../../storage/sqlite/vector-tables.ts';
import { quantise } from './quantise.ts';
import { createLook, isOpen, shareLook, takeLook } from './shared-look.ts';
import { createModelMemory, mostBySigns, VectorTable } from './vector-table.ts';

const DIMENSIONS = 96;
const EVERYTHING = new Uint32Array(1_000).fill(0xffffffff);
let db: Database;
let make: VectorSource;

beforeEach(() => {
  db = new Sqlite(':memory:');
  for (const statement of vectorTables) db.exec(statement);
  db.exec(`insert into vector_models (model, name, source, dimensions, state) values (1, 'm', '{}', ${DIMENSIONS}, 'serving'), (2, 'n', '{}', ${DIMENSIONS}, 'building')`);
  make = clusteredVectors(DIMENSIONS, 3_000);
});
afterEach(() => db.close());

function write(from: number, end: number, model = 1): void {
  const insert = db.prepare('insert into chunk_vectors (model, slot, bits, int8, scale) values (?, ?, ?, ?, ?)');
  db.transaction(() => {
    for (let slot = from; slot < end; slot++) {
      const { bits, int8, scale } = quantise(make.next());
      insert.run(model, slot, Buffer.from(bits.buffer), Buffer.from(int8.buffer), scale);
    }
  })();
}

describe('tables that share their memory, as searching threads do', () => {
  test('answer as one alone does, while vectors are added', () => {
    const memory = createModelMemory(1);
    const [one, other] = [new VectorTable(vectorReaderOver(db), () => memory), new VectorTable(vectorReaderOver(db), () => memory)];
    const questions = Array.from({ length: 10 }, () => ({ model: 1, vector: make.question() }));
    for (const [from, end] of [[0, 50], [50, 2_000], [2_000, 9_000]] as const) {
      write(from, end);
      one.catchUp();
      other.catchUp();
      const alone = new VectorTable(vectorReaderOver(db));
      alone.catchUp();
      for (const question of questions) {
        // In turns, so that neither uses what the other has asked.
        const [a, b] = [one, other].map((table) => table.nearest(question, EVERYTHING, 60));
        expect(a).toEqual(alone.nearest(question, EVERYTHING, 60));
        expect(b).toEqual(a);
      }
    }
  });

  test('see only what they have read themselves', () => {
    const memory = createModelMemory(1);
    const [early, late] = [new VectorTable(vectorReaderOver(db), () => memory), new VectorTable(vectorReaderOver(db), () => memory)];
    write(0, 10);
    early.catchUp();
    write(10, 40);
    late.catchUp();
    const question = { model: 1, vector: make.question() };
    expect(early.nearest(question, EVERYTHING, 60)!.map(({ slot }) => slot).every((slot) => slot < 10)).toBe(true);
    expect(early.score(question, [5, 20])).toHaveLength(1);
    expect(late.nearest(question, EVERYTHING, 60)).toHaveLength(40);
    early.catchUp();
    expect(early.nearest(question, EVERYTHING, 60)).toEqual(late.nearest(question, EVERYTHING, 60));
  });
});

describe('a look shared between threads', () => {
  // Small scopes are not shared; which are small is said here, so that the table need not be large.
  const [COUNT, KEEP, SHARED_ABOVE] = [9_000, 60, 8_000];
  const everything = new Uint32Array(Math.ceil(COUNT / 32) + 10).fill(0xffffffff);
  let [one, other]: VectorTable[] = [];
  beforeEach(() => {
    write(0, COUNT);
    const memory = createModelMemory(1);
    [one, other] = [0, 1].map(() => new VectorTable(vectorReaderOver(db), () => memory, { sharedAbove: SHARED_ABOVE }));
    one!.catchUp();
    other!.catchUp();
  });
  const ask = () => ({ model: 1, vector: make.question() });
  const sharedBy = (change: number, look: SharedArrayBuffer | null, fellows: { vector: Float32Array; keep: number; look: SharedArrayBuffer }[] = []) => ({ change, look, fellows });
  const room = (): SharedArrayBuffer => createLook(mostBySigns(KEEP));

  test('changes no answer: neither of who looks, nor of who waits, nor after more came', { timeout: 60_000 }, () => {
    const questions = Array.from({ length: 6 }, ask);
    const alone = questions.map((question) => one!.nearest(question, everything, KEEP));
    const fellows = questions.slice(1).map(({ vector }, i) => ({ vector, keep: KEEP + i, look: room() }));
    // Somebody else looks for one of them already.
    takeLook(fellows[1]!.look);
    expect(one!.nearest(questions[0]!, everything, KEEP, sharedBy(5, null, fellows))).toEqual(alone[0]);
    expect(fellows.map(({ look }) => isOpen(look))).toEqual([false, false, false, false, true]);
    fellows.forEach(({ look }, i) => {
      expect(other!.nearest(questions[i + 1]!, everything, KEEP, sharedBy(5, look))).toEqual(alone[i + 1]);
    });
    write(COUNT, COUNT + 200);
    other!.catchUp();
    const late = other!.nearest(questions[1]!, everything, KEEP, sharedBy(5, fellows[0]!.look));
    expect(late).toEqual(other!.nearest(questions[1]!, everything, KEEP));
  });

  test('is taken only in the state of the library that it was done in', { timeout: 60_000 }, () => {
    const question = ask();
    const alone = one!.nearest(question, everything, KEEP)!;
    const state = { change: 5, vector: COUNT, inside: COUNT };
    const done = (of: typeof state): SharedArrayBuffer => {
      const look = room();
      takeLook(look);
      shareLook(look, of, Int32Array.of(1, 2));
      return look;
    };
    expect(one!.nearest(question, everything, KEEP, sharedBy(5, done(state)))!.map(({ slot }) => slot).toSorted((a, b) => a - b)).toEqual([1, 2]);
    for (const other of [{ ...state, change: 4 }, { ...state, vector: COUNT - 1 }, { ...state, inside: COUNT - 1 }]) {
      expect(one!.nearest(question, everything, KEEP, sharedBy(5, done(other)))).toEqual(alone);
    }
  });

  test('is not done in a small scope, nor for a question of other dimensions', { timeout: 60_000 }, () => {
    const small = everything.map((word, i) => (i < 100 ? word : 0));
    const fellow = { vector: ask().vector, keep: KEEP, look: room() };
    const odd = { vector: new Float32Array(DIMENSIONS + 1), keep: KEEP, look: room() };
    const question = ask();
    expect(one!.nearest(question, small, KEEP, sharedBy(5, null, [fellow, odd]))).toEqual(other!.nearest(question, small, KEEP));
    expect(isOpen(fellow.look)).toBe(true);
    one!.nearest(question, everything, KEEP, sharedBy(5, null, [fellow, odd]));
    expect([fellow, odd].map(({ look }) => isOpen(look))).toEqual([false, true]);
  });
});

test('many vectors are read bit by bit, those of other models passed over', () => {
  write(0, 2_500);
  write(0, 1_500, 2);
  write(2_500, 3_000);
  const table = new VectorTable(vectorReaderOver(db));
  let calls = 0;
  while (!table.catchUp(0)) if (++calls > 100) throw new Error('no end of reading');
  const whole = new VectorTable(vectorReaderOver(db));
  expect(whole.catchUp()).toBe(true);
  const question = { model: 1, vector: make.question() };
  expect(table.nearest(question, EVERYTHING, 60)).toEqual(whole.nearest(question, EVERYTHING, 60));
  expect(table.score(question, Array.from({ length: 3_100 }, (_, slot) => slot))).toHaveLength(3_000);
});
