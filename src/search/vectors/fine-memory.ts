/**
 * The finer form of the first vectors in memory: reading hundreds of rows for each question takes longer than looking through the
 * signs of all. What does not fit is read from the database, and gives the same similarity to the last digit. Threads share it as they
 * share the signs.
 */
import { totalmem } from 'node:os';
import type { FineForm } from '../../storage/sqlite/vector-reader.ts';
import { similarityOf, wholeNumbers } from './quantise.ts';
import { createVectorMemory, fineLoops, growTo, takeArea, VECTORS, type FineLoops, type VectorMemory } from './simd.ts';

/** A million vectors of 384 dimensions for all searching threads together, and never more than an eighth of the machine's memory. */
const MOST_BYTES = 384 * 2 ** 20;
const SHARE = 1 / 8;

/** Places in a thread's area: the question, the slots to compare. */
const QUESTION = 0;
const SLOTS = 32_768;
const MOST_SLOTS = 8_192;
/** Of the scale, behind the numbers. */
const SCALE_BYTES = 8;

export class FineMemory {
  /** Slots before this one are kept here. */
  readonly limit: number;
  private readonly dimensions: number;
  /** Bytes a vector takes: its numbers and zeros up to a multiple of 8, and its scale. */
  private readonly size: number;
  private readonly memory: VectorMemory;
  private readonly loops: FineLoops;
  private readonly area: number;
  private readonly slots: Int32Array;
  private asked: Float32Array | null = null;
  private bytes: Int8Array;
  private scales: Float64Array;

  constructor(dimensions: number, memory: VectorMemory = createVectorMemory(), mostBytes = usualBytes()) {
    const numbers = Math.ceil(dimensions / 8) * 8;
    this.dimensions = dimensions;
    this.size = numbers + SCALE_BYTES;
    this.limit = dimensions === 0 || numbers * 2 > SLOTS - QUESTION ? 0 : Math.floor(mostBytes / this.size);
    this.memory = memory;
    this.loops = fineLoops(memory, this.size, numbers);
    this.area = takeArea(memory);
    this.slots = new Int32Array(memory.buffer, this.area + SLOTS, MOST_SLOTS);
    this.bytes = new Int8Array(memory.buffer);
    this.scales = new Float64Array(memory.buffer);
  }

  put(slot: number, { int8, scale }: FineForm): void {
    if (slot >= this.limit || int8.length !== this.dimensions) return;
    if (this.at(slot + 1) > this.bytes.byteLength) {
      growTo(this.memory, this.at(Math.min(this.limit, slot + 1 + (slot >> 2) + 1_024)));
      this.bytes = new Int8Array(this.memory.buffer);
      this.scales = new Float64Array(this.memory.buffer);
    }
    this.bytes.set(int8, this.at(slot));
    this.scales[this.at(slot + 1) / 8 - 1] = scale;
  }

  /** The vector that `similarities` compares with; it must not change between. */
  ask(vector: Float32Array): void {
    if (this.limit === 0 || this.asked === vector) return;
    this.asked = vector;
    const question = new Int16Array(this.memory.buffer, this.area + QUESTION, this.size - SCALE_BYTES);
    question.fill(0);
    question.set(wholeNumbers(vector));
  }

  /** How near each of some slots is: all before `limit`, and put before. */
  similarities(slots: readonly number[]): Float64Array {
    const found = new Float64Array(slots.length);
    for (let from = 0; from < slots.length; from += MOST_SLOTS) {
      const count = Math.min(MOST_SLOTS, slots.length - from);
      for (let i = 0; i < count; i++) this.slots[i] = slots[from + i]!;
      const [first, end] = [this.area + SLOTS, this.area + SLOTS + count * 4];
      this.loops.touch(first, end);
      this.loops.dot(this.area + QUESTION, first, end);
      for (let i = 0; i < count; i++) found[from + i] = similarityOf(this.slots[i]!, this.scales[this.at(slots[from + i]! + 1) / 8 - 1]!);
    }
    return found;
  }

  get memoryBytes(): number {
    return this.bytes.byteLength;
  }

  private at(slot: number): number {
    return VECTORS + slot * this.size;
  }
}

function usualBytes(): number {
  // 0, or more than there is, where nothing constrains it.
  const constrained = process.constrainedMemory();
  return Math.min(MOST_BYTES, Math.floor(Math.min(totalmem(), constrained > 0 ? constrained : Infinity) * SHARE));
}
