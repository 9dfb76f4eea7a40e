/** The signs of all excerpts as a searching thread keeps them, by slot, and the search among them. */
import type { VectorReader } from '../../storage/sqlite/vector-reader.ts';
import type { VectorSlot } from '../fuse.ts';
import { countBits } from '../slot-table.ts';
import { FineMemory } from './fine-memory.ts';
import { dotOf, similarityOf, wholeNumbers, wordsOf } from './quantise.ts';
import { scanSigns } from './scan.ts';
import { SignMemory } from './sign-memory.ts';

/** A question as a vector, and the model that made it. */
export interface QuestionVector {
  /** Row of `vector_models`. */
  model: number;
  vector: Float32Array;
}

/**
 * The fewest differing signs, of these the nearest to the question's own numbers, and of those the finer form is compared: recall@50
 * of 0.98 and more, also where all vectors share a direction (bench/meaning.ts). In a small scope often nothing is near, and what is
 * far differs little: more is compared, and lies close together. Only the scope decides, not where the finer form is kept (P10).
 */
const BY_SIGNS = 1_200;
const RESCORED = 300;
const SMALL_SCOPE = { excerpts: 50_000, bySigns: 2_000, rescored: 500 };

export class VectorTable {
  private signs = new SignMemory(0);
  private fine = new FineMemory(0);
  /** By slot, where its vector stands in the database. */
  private seqs = new Float64Array(0);
  private readonly reader: VectorReader;
  private readonly fineBytes: number | undefined;
  private model: number | null = null;
  private dimensions = 0;
  private seen = 0;

  /** `fineBytes`: memory for the finer form, if not as much as usual. */
  constructor(reader: VectorReader, fineBytes?: number) {
    this.reader = reader;
    this.fineBytes = fineBytes;
  }

  /** Brings the table up to the snapshot that the reader's connection is in. */
  catchUp(): void {
    const serving = this.reader.serving();
    if (serving?.model !== this.model) {
      this.model = serving?.model ?? null;
      this.dimensions = serving?.dimensions ?? 0;
      this.signs = new SignMemory(wordsOf(this.dimensions));
      this.fine = new FineMemory(this.dimensions, this.fineBytes);
      this.seen = 0;
    }
    if (serving === null) return;
    const last = this.reader.lastSeq();
    if (last <= this.seen) return;
    const bytes = wordsOf(this.dimensions) * 4;
    this.reader.vectorsAfter(serving.model, this.seen, this.fine.limit, ({ seq, slot, signs, fine }) => {
      if (signs.length !== bytes) return;
      this.signs.put(slot, signs);
      if (fine !== null) this.fine.put(slot, fine);
      if (slot >= this.seqs.length) {
        const seqs = new Float64Array(slot + 1 + (slot >> 3) + 1_024);
        seqs.set(this.seqs);
        this.seqs = seqs;
      }
      this.seqs[slot] = seq;
    });
    this.seen = last;
  }

  /**
   * The nearest excerpts inside a mask, best first, equals by slot; null when the question was asked of a model that does
   * not serve (it has just been replaced).
   */
  nearest(question: QuestionVector, mask: Uint32Array, keep: number): VectorSlot[] | null {
    if (this.model === null || question.model !== this.model || question.vector.length !== this.dimensions) return null;
    const isSmall = this.countInside(mask) <= SMALL_SCOPE.excerpts;
    const [bySigns, rescored] = isSmall ? [SMALL_SCOPE.bySigns, SMALL_SCOPE.rescored] : [BY_SIGNS, RESCORED];
    const differing = scanSigns(this.signs, question.vector, mask, Math.max(bySigns, keep * 5));
    return this.score(question, this.nearestSigns(differing, Math.max(rescored, keep)))
      .toSorted((a, b) => b.score - a.score || a.slot - b.slot)
      .slice(0, keep);
  }

  /** Similarities of given slots; those without a vector are left out. */
  score(question: QuestionVector, slots: readonly number[]): VectorSlot[] {
    const scored: VectorSlot[] = [];
    const toRead: number[] = [];
    this.fine.ask(question.vector);
    for (const slot of slots) {
      if (!this.signs.has(slot)) continue;
      if (slot < this.fine.limit) scored.push({ slot, score: this.fine.similarity(slot) });
      else toRead.push(this.seqs[slot]!);
    }
    if (toRead.length === 0) return scored;
    const numbers = wholeNumbers(question.vector);
    this.reader.eachInt8(toRead, (slot, int8, scale) => {
      scored.push({ slot, score: similarityOf(dotOf(numbers, int8), scale) });
    });
    return scored;
  }

  /** Bytes of memory that all of it takes. */
  get memoryBytes(): number {
    return this.signs.memoryBytes + this.fine.memoryBytes + this.seqs.byteLength;
  }

  private countInside(mask: Uint32Array): number {
    const { present } = this.signs;
    let count = 0;
    for (let word = 0; word < Math.min(mask.length, present.length); word++) count += countBits(mask[word]! & present[word]!);
    return count;
  }

  /** Of some slots in order the `keep` whose signs are nearest to the vector asked for, in order; of equals at the cut the first. */
  private nearestSigns(slots: number[], keep: number): number[] {
    if (slots.length <= keep) return slots;
    const weights = new Int32Array(slots.length);
    for (let i = 0; i < slots.length; i++) weights[i] = this.signs.weightOf(slots[i]!);
    const least = weights.toSorted()[slots.length - keep]!;
    let equal = keep;
    for (const weight of weights) if (weight > least) equal--;
    return slots.filter((_, i) => weights[i]! > least || (weights[i] === least && equal-- > 0));
  }
}
