import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import Sqlite from 'better-sqlite3';
import { clusteredVectors } from '../../../bench/vectors.ts';
import { vectorReaderOver } from '../../storage/sqlite/vector-reader.ts';
import { vectorTables } from '../../storage/sqlite/vector-tables.ts';
import { dotOf, quantise, signsOf, similarityOf, signWeights, wholeNumbers } from './quantise.ts';
import { planScan, scanSigns } from './scan.ts';
import { SignMemory } from './sign-memory.ts';
import { VectorTable } from './vector-table.ts';

const bitsOf = (slots: Iterable<number>, size: number): Uint32Array => {
  const words = new Uint32Array((size + 31) >> 5);
  for (const slot of slots) words[slot >> 5]! |= 1 << (slot & 31);
  return words;
};
const memoryOf = (width: number, signs: Uint32Array, present: Iterable<number>): SignMemory => {
  const memory = new SignMemory(width);
  for (const slot of present) memory.put(slot, new Uint8Array(signs.buffer, slot * width * 4, width * 4));
  return memory;
};
/** A vector with given signs. */
const vectorOf = (words: Iterable<number>): Float32Array =>
  Float32Array.from([...words].flatMap((word) => Array.from({ length: 32 }, (_, bit) => ((word >>> bit) & 1 ? 1 : -1))));
const dot = (a: Float32Array, b: Float32Array): number => {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
};
const differing = (a: Uint32Array, b: Uint32Array): number => {
  let sum = 0;
  a.forEach((word, i) => (sum += ((word ^ b[i]!) >>> 0).toString(2).replaceAll('0', '').length));
  return sum;
};

const scan = (memory: SignMemory, question: Float32Array, mask: Uint32Array, keep: number): number[] => [
  ...scanSigns(memory, [{ vector: question, keep }], planScan(memory, mask))[0]!,
];

describe('the look through all signs', () => {
  test('finds exactly what comparing everything finds, for any table, mask and number kept', () => {
    const word = fc.nat(0xffffffff);
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 4 }).chain((width) =>
          fc.record({
            width: fc.constant(width),
            // Few different values, so that many are equally near.
            vectors: fc.array(fc.array(fc.oneof(word, fc.constantFrom(0, 1, 3)), { minLength: width, maxLength: width }), { maxLength: 120 }),
            query: fc.array(word, { minLength: width, maxLength: width }),
          }),
        ),
        fc.func(fc.boolean()),
        fc.func(fc.boolean()),
        fc.integer({ min: 1, max: 40 }),
        ({ width, vectors, query }, inMask, isPresent, keep) => {
          const slots = vectors.map((_, slot) => slot);
          const memory = memoryOf(width, Uint32Array.from(vectors.flat()), slots.filter((slot) => isPresent(slot)));
          const asked = Uint32Array.from(query);
          const expected = slots
            .filter((slot) => isPresent(slot) && inMask(slot))
            .map((slot) => ({ slot, distance: differing(Uint32Array.from(vectors[slot]!), asked) }))
            .toSorted((a, b) => a.distance - b.distance || a.slot - b.slot)
            .slice(0, keep)
            .map(({ slot }) => slot)
            .toSorted((a, b) => a - b);
          const mask = bitsOf(slots.filter((slot) => inMask(slot)), vectors.length);
          expect(scan(memory, vectorOf(asked), mask, keep)).toEqual(expected);
        },
      ),
      { numRuns: 300 },
    );
  });

  test('counts right for vectors of any length', () => {
    let seed = 7;
    const next = (): number => (seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0);
    for (const width of [1, 3, 4, 5, 12, 13, 24, 32, 48, 96, 128]) {
      const count = 200;
      const signs = Uint32Array.from({ length: count * width }, next);
      const slots = Array.from({ length: count }, (_, i) => i);
      const all = bitsOf(slots, count);
      const memory = memoryOf(width, signs, slots);
      // The opposite of the first one differs in every sign.
      const asked = signs.slice(0, width).map((word) => ~word);
      const far = Array.from({ length: count }, (_, slot) => ({ slot, distance: differing(signs.subarray(slot * width, (slot + 1) * width), asked) }));
      const expected = far.toSorted((a, b) => a.distance - b.distance || a.slot - b.slot).slice(0, 20).map(({ slot }) => slot).toSorted((a, b) => a - b);
      expect(scan(memory, vectorOf(asked), all, 20)).toEqual(expected);
      expect(far[0]!.distance).toBe(width * 32);
      expect(scan(memory, vectorOf(asked), all, count).at(0)).toBe(0);
    }
  });

  test('many more candidates than are kept', () => {
    const count = 50_000;
    let seed = 1;
    const next = (): number => (seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0);
    const signs = Uint32Array.from({ length: count * 2 }, next);
    const slots = Array.from({ length: count }, (_, i) => i);
    const all = bitsOf(slots, count);
    const asked = Uint32Array.of(next(), next());
    const expected = Array.from({ length: count }, (_, slot) => ({ slot, distance: differing(signs.subarray(slot * 2, slot * 2 + 2), asked) }))
      .toSorted((a, b) => a.distance - b.distance || a.slot - b.slot)
      .slice(0, 400)
      .map(({ slot }) => slot)
      .toSorted((a, b) => a - b);
    expect(scan(memoryOf(2, signs, slots), vectorOf(asked), all, 400)).toEqual(expected);
  });

  test('for several questions finds what it finds for each alone', () => {
    let seed = 3;
    const next = (): number => (seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0);
    // As many together as have room for their signs: of more than 8,192 dimensions one after the other.
    for (const [width, together] of [[2, 4], [12, 4], [256, 4], [257, 1], [600, 1]] as const) {
      const count = Math.ceil(60_000 / width);
      const signs = Uint32Array.from({ length: count * width }, next);
      const slots = Array.from({ length: count }, (_, i) => i);
      const memory = memoryOf(width, signs, slots);
      expect(memory.together).toBe(together);
      const plan = planScan(memory, bitsOf(slots.filter((slot) => slot % 7 !== 3 && slot % 50 < 40), count));
      const asked = Array.from({ length: together }, (_, i) => ({ vector: vectorOf(Uint32Array.from({ length: width }, next)), keep: [60, 7, 500, 60][i]! }));
      const each = asked.map((one) => scanSigns(memory, [one], plan)[0]!);
      expect(scanSigns(memory, asked, plan)).toEqual(each);
      expect(scanSigns(memory, asked.toReversed(), plan)).toEqual(each.toReversed());
      expect(each.map((found) => found.length)).toEqual(asked.map(({ keep }) => Math.min(keep, plan.inside)));
    }
  });
});

describe('where the vectors of a scope lie', () => {
  const runsOf = (slots: number[], size: number): { runs: number[]; blocks: number; inside: number } => {
    const memory = memoryOf(1, new Uint32Array(size), Array.from({ length: size }, (_, slot) => slot));
    const { runs, blocks, inside } = planScan(memory, bitsOf(slots, size));
    return { runs: [...runs], blocks: blocks.length, inside };
  };
  const every = (step: number, size: number): number[] => Array.from({ length: Math.ceil(size / step) }, (_, i) => i * step);

  test('is in runs over small gaps, cut into blocks', () => {
    expect(runsOf([], 100)).toEqual({ runs: [], blocks: 0, inside: 0 });
    expect(runsOf([0, 1, 31, 32, 33, 36, 64, 99], 100).runs).toEqual([0, 2, 31, 37, 64, 65, 99, 100]);
    expect(runsOf(every(1, 5_000), 5_000)).toEqual({ runs: [0, 2_048, 2_048, 4_096, 4_096, 5_000], blocks: 3, inside: 5_000 });
    expect(runsOf(every(2, 4_096), 4_096)).toEqual({ runs: [0, 2_048, 2_048, 4_095], blocks: 2, inside: 2_048 });
    // More runs than one look may have.
    expect(runsOf(every(8, 16_384), 16_384)).toMatchObject({ blocks: 2, inside: 2_048 });
  });

  test('changes nothing in what is found there', () => {
    const count = 20_000;
    let seed = 5;
    const next = (): number => (seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0);
    const signs = Uint32Array.from({ length: count * 2 }, next);
    const memory = memoryOf(2, signs, Array.from({ length: count }, (_, slot) => slot));
    const asked = Uint32Array.of(next(), next());
    for (const step of [2, 5, 8, 13, 700]) {
      const slots = every(step, count);
      const expected = slots
        .map((slot) => ({ slot, distance: differing(signs.subarray(slot * 2, slot * 2 + 2), asked) }))
        .toSorted((a, b) => a.distance - b.distance || a.slot - b.slot)
        .slice(0, 100)
        .map(({ slot }) => slot)
        .toSorted((a, b) => a - b);
      expect(scan(memory, vectorOf(asked), bitsOf(slots, count), 100)).toEqual(expected);
    }
  });
});

describe('the question\'s own numbers', () => {
  test('are added where the other is positive, for vectors of any length', () => {
    for (const dimensions of [1, 7, 16, 31, 33, 100, 384, 768, 3_072, 4_096]) {
      const make = clusteredVectors(dimensions, 20);
      const memory = new SignMemory(Math.ceil(dimensions / 32));
      const vectors = Array.from({ length: 20 }, () => make.next());
      vectors.forEach((vector, slot) => memory.put(slot, new Uint8Array(signsOf(vector).buffer)));
      const question = make.question();
      const weights = signWeights(question);
      const slots = [...vectors.keys()].toReversed();
      expect([...memory.weightsOf(slots, question)]).toEqual(
        slots.map((slot) => weights.reduce((sum, weight, i) => sum + (vectors[slot]![i]! > 0 ? weight : 0), 0)),
      );
    }
  });

  test('are the largest whole numbers there are, and still not too large for their sum', () => {
    const memory = new SignMemory(1_024);
    memory.put(0, new Uint8Array(4_096).fill(0xff));
    const question = new Float32Array(32_768).fill(1);
    expect([...memory.weightsOf([0], question)]).toEqual([32_768 * 127]);
    expect(() => new SignMemory(1_025)).toThrow(RangeError);
  });
});

describe('quantised vectors', () => {
  test('keep the similarity to within a hundredth', () => {
    const make = clusteredVectors(384, 2_000);
    for (let i = 0; i < 200; i++) {
      const [a, b] = [make.next(), make.question()];
      const { int8, scale } = quantise(a);
      const exact = a.reduce((sum, x, at) => sum + x * b[at]!, 0);
      expect(Math.abs(similarityOf(dotOf(wholeNumbers(b), int8), scale) - exact)).toBeLessThan(0.01);
    }
  });

  test('any number of dimensions has its words', () => {
    expect([...signsOf(Float32Array.from([1, -1, 0, 2]))]).toEqual([0b1001]);
    expect(signsOf(new Float32Array(33).fill(1))).toEqual(Uint32Array.of(0xffffffff, 1));
    expect(quantise(new Float32Array(8)).int8).toEqual(new Int8Array(8));
  });
});

describe('vectors in the database', () => {
  test('of the 50 truly nearest, at least 99 % are found, in any folder', { timeout: 120_000 }, () => {
    const [count, dimensions] = [6_000, 384];
    const db = new Sqlite(':memory:');
    for (const statement of vectorTables) db.exec(statement);
    db.exec(`insert into vector_models (model, name, source, dimensions, state) values (1, 'm', '{}', ${dimensions}, 'serving')`);
    const make = clusteredVectors(dimensions, count);
    const vectors = Array.from({ length: count }, () => make.next());
    const insert = db.prepare('insert into chunk_vectors (model, slot, bits, int8, scale) values (1, ?, ?, ?, ?)');
    db.transaction(() =>
      vectors.forEach((vector, slot) => {
        const { bits, int8, scale } = quantise(vector);
        insert.run(slot, Buffer.from(bits.buffer), Buffer.from(int8.buffer), scale);
      }),
    )();
    const table = new VectorTable(vectorReaderOver(db));
    table.catchUp();
    for (const share of [1, 10, 100]) {
      const inside = Array.from({ length: count }, (_, slot) => slot).filter((slot) => Math.floor(slot / 50) % 100 < share || share === 100);
      const mask = bitsOf(inside, count);
      let [found, all] = [0, 0];
      for (let i = 0; i < 40; i++) {
        const question = make.question();
        const exact = inside
          .map((slot) => ({ slot, score: dot(vectors[slot]!, question) }))
          .toSorted((a, b) => b.score - a.score)
          .slice(0, 50);
        const near = table.nearest({ model: 1, vector: question }, mask, 50)!;
        const places = new Set(near.map(({ slot }) => slot));
        found += exact.filter(({ slot }) => places.has(slot)).length;
        all += exact.length;
        expect(near.map(({ score }) => score)).toEqual(near.map(({ score }) => score).toSorted((a, b) => b - a));
      }
      expect(found / all, `${share} % of the library`).toBeGreaterThanOrEqual(0.99);
    }
    db.close();
  });
});
