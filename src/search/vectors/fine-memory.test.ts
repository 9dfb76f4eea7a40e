import Sqlite from 'better-sqlite3';
import { expect, test } from 'vitest';
import { clusteredVectors } from '../../../bench/vectors.ts';
import { vectorReaderOver } from '../../storage/sqlite/vector-reader.ts';
import { vectorTables } from '../../storage/sqlite/vector-tables.ts';
import { FineMemory } from './fine-memory.ts';
import { dotOf, quantise, similarityOf, wholeNumbers } from './quantise.ts';
import { VectorTable } from './vector-table.ts';

test('what is in memory is as near as what is read, to the last digit, for vectors of any length', () => {
  for (const dimensions of [1, 7, 8, 9, 100, 384, 1_536, 4_096]) {
    const make = clusteredVectors(dimensions, 50);
    const memory = new FineMemory(dimensions);
    const made = Array.from({ length: 50 }, () => quantise(make.next()));
    made.forEach((one, slot) => memory.put(slot, one));
    // Two questions: nothing of the first may be left in the second.
    for (const question of [make.question(), make.question()]) {
      memory.ask(question);
      const numbers = wholeNumbers(question);
      // In any order, and the same one twice.
      const slots = [...made.keys(), 7, 3, 7].toReversed();
      expect([...memory.similarities(slots)]).toEqual(slots.map((slot) => similarityOf(dotOf(numbers, made[slot]!.int8), made[slot]!.scale)));
    }
  }
});

test('the largest sum that vectors of length 1 can have is not too large', () => {
  const dimensions = 4_096;
  const vector = new Float32Array(dimensions).fill(1 / 64);
  const memory = new FineMemory(dimensions);
  memory.put(0, quantise(vector));
  memory.ask(vector);
  expect(memory.similarities([0])[0]).toBeCloseTo(1, 3);
});

test('beyond what fits, slots are read from the database: the answer is the same', () => {
  const [count, dimensions] = [400, 64];
  const db = new Sqlite(':memory:');
  for (const statement of vectorTables) db.exec(statement);
  db.exec(`insert into vector_models (model, name, source, dimensions, state) values (1, 'm', '{}', ${dimensions}, 'serving')`);
  const make = clusteredVectors(dimensions, count);
  const insert = db.prepare('insert into chunk_vectors (model, slot, bits, int8, scale) values (1, ?, ?, ?, ?)');
  for (let slot = 0; slot < count; slot++) {
    const { bits, int8, scale } = quantise(make.next());
    insert.run(slot, Buffer.from(bits.buffer), Buffer.from(int8.buffer), scale);
  }
  let read = 0;
  const reader = vectorReaderOver(db);
  const counting: typeof reader = {
    ...reader,
    eachInt8: (seqs, each) => {
      read += seqs.length;
      reader.eachInt8(seqs, each);
    },
  };
  const everything = new Uint32Array(Math.ceil(count / 32)).fill(0xffffffff);
  const question = { model: 1, vector: make.question() };
  const answers = [0, 100, count].map((kept) => {
    const table = new VectorTable(counting, undefined, { fineBytes: kept * (dimensions + 8) });
    table.catchUp();
    read = 0;
    const near = table.nearest(question, everything, 50);
    return { read, near };
  });
  expect(answers.map((one) => one.near)).toEqual([answers[0]!.near, answers[0]!.near, answers[0]!.near]);
  expect(answers.map((one) => one.read)).toEqual([count, count - 100, 0]);
  db.close();
});
