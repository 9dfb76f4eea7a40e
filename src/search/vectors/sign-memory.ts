/**
 * The signs of all excerpts, by slot, where instructions of the processor can count them: a million vectors of 384 dimensions are looked
 * through in about 10 ms.
 */
import { signWeights } from './quantise.ts';
import { createVectorMemory, PAGE } from './simd.ts';

/** Slots compared in one call. */
export const BLOCK = 1_024;

/** Places in the memory: the question's signs, its weights, what was near in a block, the signs of all. */
const QUESTION = 0;
const WEIGHTS = 4_096;
const NEAR = PAGE - BLOCK * 4;
const SIGNS = PAGE;

export class SignMemory {
  /** A slot has a vector when its bit is set. */
  present = new Uint32Array(0);
  /** Bytes a vector takes: its signs and zeros up to a multiple of 16. */
  readonly size: number;
  private readonly wasm = createVectorMemory();
  private bytes: Uint8Array;
  private found: Uint32Array;

  /** `width`: 32-bit words of signs a vector has. */
  constructor(width: number) {
    this.size = Math.ceil(width / 4) * 16;
    if (this.size > WEIGHTS - QUESTION) throw new RangeError('vectors of more than 32,768 dimensions are not searched');
    this.bytes = new Uint8Array(this.wasm.memory.buffer);
    this.found = new Uint32Array(this.wasm.memory.buffer, NEAR, BLOCK);
  }

  put(slot: number, signs: Uint8Array): void {
    this.growTo(slot + 1);
    this.bytes.set(signs, this.at(slot));
    this.present[slot >> 5]! |= 1 << (slot & 31);
  }

  has(slot: number): boolean {
    return ((this.present[slot >> 5] ?? 0) & (1 << (slot & 31))) !== 0;
  }

  /** The vector whose signs `eachNear` and whose numbers `weightOf` compare with. */
  ask(signs: Uint32Array, vector: Float32Array): void {
    this.bytes.fill(0, QUESTION, NEAR);
    new Uint32Array(this.wasm.memory.buffer, QUESTION, signs.length).set(signs);
    new Int8Array(this.wasm.memory.buffer, WEIGHTS, vector.length).set(signWeights(vector));
  }

  /** Calls `each` for those of up to BLOCK slots one after the other of which at most `limit` signs differ from the question's. */
  eachNear(first: number, slots: number, limit: number, each: (slot: number, distance: number) => void): void {
    const end = this.wasm.loops.near(QUESTION, this.at(first), this.at(first + slots), this.size, limit, NEAR);
    for (let i = 0; i < (end - NEAR) / 4; i++) {
      const found = this.found[i]!;
      each(first + (found >>> 16), found & 0xffff);
    }
  }

  /**
   * The question's own numbers, added where the vector is positive: nearer to the truth than counting differing signs, and more
   * the nearer it is.
   */
  weightOf(slot: number): number {
    return this.wasm.loops.weigh(WEIGHTS, this.at(slot), this.at(slot + 1));
  }

  get memoryBytes(): number {
    return this.bytes.byteLength + this.present.byteLength;
  }

  private at(slot: number): number {
    return SIGNS + slot * this.size;
  }

  private growTo(slots: number): void {
    if (slots <= this.present.length * 32) return;
    const room = Math.ceil((slots + (slots >> 3) + 1_024) / 32) * 32;
    const missing = this.at(room) - this.bytes.byteLength;
    if (missing > 0) this.wasm.memory.grow(Math.ceil(missing / PAGE));
    this.bytes = new Uint8Array(this.wasm.memory.buffer);
    this.found = new Uint32Array(this.wasm.memory.buffer, NEAR, BLOCK);
    const present = new Uint32Array(room >> 5);
    present.set(this.present);
    this.present = present;
  }
}
