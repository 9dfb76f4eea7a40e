/**
 * The signs of all excerpts, by slot, where instructions of the processor can count them: a million vectors of 384 dimensions are looked
 * through in about 5 ms. The memory may be shared by searching threads: what a slot's vector is never changes, so each writes what the
 * others write, and looks only at slots that it has written itself.
 */
import { signsOf, signWeights } from './quantise.ts';
import type { ScanRoom } from './scan.ts';
import { createVectorMemory, growTo, signLoops, takeArea, TOGETHER, VECTORS, type SignLoops, type VectorMemory } from './simd.ts';

/** Slots compared in one call, and the most runs of slots they may lie in. */
export const BLOCK = 2_048;
export const MOST_RUNS = 1_024;

/** Of more runs than this in a block the memory is touched first. */
const SHORT_RUNS = 16;

/** Places in a thread's area: the questions' signs, the weights of one, the runs to look through (later slots to weigh), what was near, limits. */
const QUESTIONS = 0;
const WEIGHTS = 4_096;
const RUNS = 36_864;
const NEAR = RUNS + MOST_RUNS * 8;
const LIMITS = NEAR + TOGETHER * BLOCK * 8;

export class SignMemory {
  /** A slot has a vector when its bit is set. */
  present = new Uint32Array(0);
  /** Changes with every new slot. */
  version = 0;
  /** As many questions may be compared in one look. */
  readonly together: number;
  /** For the looks through it, one for each question. */
  readonly rooms: ScanRoom[];
  /** Bytes a vector takes: its signs and zeros up to a multiple of 16. */
  readonly size: number;
  private readonly memory: VectorMemory;
  private readonly loops: SignLoops;
  private readonly area: number;
  private readonly runs: Int32Array;
  private readonly found: Uint32Array;
  private readonly limits: Int32Array;
  private bytes: Uint8Array;
  private asked = 0;

  /** `width`: 32-bit words of signs a vector has. */
  constructor(width: number, memory: VectorMemory = createVectorMemory()) {
    this.size = Math.max(16, Math.ceil(width / 4) * 16);
    if (this.size > WEIGHTS - QUESTIONS) throw new RangeError('vectors of more than 32,768 dimensions are not searched');
    this.together = this.size * TOGETHER <= WEIGHTS - QUESTIONS ? TOGETHER : 1;
    this.rooms = Array.from({ length: this.together }, () => ({ slots: new Int32Array(1_024), distances: new Uint16Array(1_024) }));
    this.memory = memory;
    this.loops = signLoops(memory, this.size);
    this.area = takeArea(memory);
    this.bytes = new Uint8Array(memory.buffer);
    this.runs = new Int32Array(memory.buffer, this.area + RUNS, MOST_RUNS * 2);
    this.found = new Uint32Array(memory.buffer, this.area + NEAR, TOGETHER * BLOCK * 2);
    this.limits = new Int32Array(memory.buffer, this.area + LIMITS, TOGETHER);
  }

  put(slot: number, signs: Uint8Array): void {
    this.growTo(slot + 1);
    this.bytes.set(signs, this.at(slot));
    this.present[slot >> 5]! |= 1 << (slot & 31);
    this.version++;
  }

  has(slot: number): boolean {
    return ((this.present[slot >> 5] ?? 0) & (1 << (slot & 31))) !== 0;
  }

  /** The vectors that `near` compares with, at most `together`. */
  ask(questions: readonly Float32Array[]): void {
    this.asked = questions.length;
    this.bytes.fill(0, this.area + QUESTIONS, this.area + QUESTIONS + questions.length * this.size);
    questions.forEach((vector, i) => {
      const signs = signsOf(vector);
      new Uint32Array(this.memory.buffer, this.area + QUESTIONS + i * this.size, signs.length).set(signs);
    });
  }

  /**
   * Of the slots of some runs (first, behind the last; in all at most BLOCK) those of which at most so many signs differ from a question's
   * as its limit says: how many there are. Each is read with `foundSlot`, `foundDistance` and `foundBy`.
   */
  near(runs: Int32Array, from: number, end: number, limits: readonly { limit: number }[]): number {
    for (let i = from; i < end; i++) this.runs[i - from] = runs[i]!;
    for (let i = 0; i < TOGETHER; i++) this.limits[i] = limits[i]?.limit ?? -1;
    const [first, last, out] = [this.area + RUNS, this.area + RUNS + (end - from) * 4, this.area + NEAR];
    if (end - from > SHORT_RUNS * 2) this.loops.touch(first, last);
    const loop = this.asked > 1 ? this.loops.nearEach : this.loops.near;
    return (loop(this.area + QUESTIONS, first, last, this.area + LIMITS, out) - out) / 8;
  }

  foundSlot(i: number): number {
    return this.found[i * 2]!;
  }

  foundDistance(i: number): number {
    return this.found[i * 2 + 1]! & 0xffff;
  }

  /** The place of the question that it is near to. */
  foundBy(i: number): number {
    return this.found[i * 2 + 1]! >>> 16;
  }

  /**
   * For each slot the numbers of a vector, added where the vector is positive: nearer to the truth than counting differing signs,
   * and more the nearer it is.
   */
  weightsOf(slots: ArrayLike<number>, vector: Float32Array): Int32Array {
    this.bytes.fill(0, this.area + WEIGHTS, this.area + WEIGHTS + this.size * 8);
    new Int8Array(this.memory.buffer, this.area + WEIGHTS, vector.length).set(signWeights(vector));
    const weights = new Int32Array(slots.length);
    for (let from = 0; from < slots.length; from += this.runs.length) {
      const count = Math.min(this.runs.length, slots.length - from);
      for (let i = 0; i < count; i++) this.runs[i] = slots[from + i]!;
      const [first, end] = [this.area + RUNS, this.area + RUNS + count * 4];
      this.loops.touchEach(first, end);
      this.loops.weigh(this.area + WEIGHTS, first, end);
      for (let i = 0; i < count; i++) weights[from + i] = this.runs[i]!;
    }
    return weights;
  }

  get memoryBytes(): number {
    return this.bytes.byteLength + this.present.byteLength;
  }

  private at(slot: number): number {
    return VECTORS + slot * this.size;
  }

  private growTo(slots: number): void {
    if (slots <= this.present.length * 32) return;
    const room = Math.ceil((slots + (slots >> 3) + 1_024) / 32) * 32;
    growTo(this.memory, this.at(room));
    this.bytes = new Uint8Array(this.memory.buffer);
    const present = new Uint32Array(room >> 5);
    present.set(this.present);
    this.present = present;
  }
}
