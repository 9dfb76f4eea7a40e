/**
 * The finer form of the first vectors in memory: reading hundreds of rows for each question takes longer than looking through the
 * signs of all. What does not fit is read from the database, and gives the same similarity to the last digit.
 */
import type { FineForm } from '../../storage/sqlite/vector-reader.ts';
import { similarityOf, wholeNumbers } from './quantise.ts';
import { createVectorMemory, PAGE } from './simd.ts';

/** 131,000 vectors of 384 dimensions, in each searching thread. */
const MOST_BYTES = 48 * 2 ** 20;

/** Places in the memory: the question, the vectors. */
const QUESTION = 0;
const VECTORS = PAGE;

export class FineMemory {
  /** Slots before this one are kept here. */
  readonly limit: number;
  private readonly dimensions: number;
  /** Bytes a vector takes: its numbers and zeros up to a multiple of 8. */
  private readonly size: number;
  private readonly wasm = createVectorMemory();
  private scales = new Float64Array(0);

  constructor(dimensions: number, mostBytes = MOST_BYTES) {
    this.dimensions = dimensions;
    this.size = Math.ceil(dimensions / 8) * 8;
    this.limit = dimensions === 0 || this.size * 2 > PAGE ? 0 : Math.floor(mostBytes / this.size);
  }

  put(slot: number, { int8, scale }: FineForm): void {
    if (slot >= this.limit || int8.length !== this.dimensions) return;
    if (slot >= this.scales.length) {
      const room = Math.min(this.limit, slot + 1 + (slot >> 2) + 1_024);
      const missing = this.at(room) - this.wasm.memory.buffer.byteLength;
      if (missing > 0) this.wasm.memory.grow(Math.ceil(missing / PAGE));
      const scales = new Float64Array(room);
      scales.set(this.scales);
      this.scales = scales;
    }
    new Int8Array(this.wasm.memory.buffer, this.at(slot), this.size).set(int8);
    this.scales[slot] = scale;
  }

  /** The vector that `similarity` compares with. */
  ask(vector: Float32Array): void {
    const question = new Int16Array(this.wasm.memory.buffer, QUESTION, this.limit === 0 ? 0 : this.size);
    question.fill(0);
    if (question.length > 0) question.set(wholeNumbers(vector));
  }

  similarity(slot: number): number {
    return similarityOf(this.wasm.loops.dot(QUESTION, this.at(slot), this.at(slot + 1)), this.scales[slot] ?? 0);
  }

  get memoryBytes(): number {
    return this.wasm.memory.buffer.byteLength + this.scales.byteLength;
  }

  private at(slot: number): number {
    return VECTORS + slot * this.size;
  }
}
