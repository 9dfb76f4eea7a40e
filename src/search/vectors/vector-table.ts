/** The signs of all excerpts as a searching thread keeps them, by slot, and the search among them. */
import type { VectorReader } from '../../storage/sqlite/vector-reader.ts';
import type { VectorSlot } from '../fuse.ts';
import { countBits } from '../slot-table.ts';
import { signsOf, signSimilarity, similarity, wordsOf } from './quantise.ts';
import { scanSigns, type SignTable } from './scan.ts';

/** A question as a vector, and the model that made it. */
export interface QuestionVector {
  /** Row of `vector_models`. */
  model: number;
  vector: Float32Array;
}

/**
 * The fewest differing signs, of these the nearest to the question's own numbers, and of those the finer form is read from the
 * database and compared: recall@50 of 0.98 and more, also where all vectors share a direction (bench/meaning.ts). In a small
 * scope often nothing is near, and what is far differs little: more is compared, and lies close together.
 */
const BY_SIGNS = 1_200;
const RESCORED = 300;
const SMALL_SCOPE = { excerpts: 50_000, bySigns: 3_000, rescored: 800 };

export class VectorTable implements SignTable {
  width = 0;
  signs = new Uint32Array(0);
  present = new Uint32Array(0);
  private readonly reader: VectorReader;
  private model: number | null = null;
  private seen = 0;

  constructor(reader: VectorReader) {
    this.reader = reader;
  }

  /** Brings the table up to the snapshot that the reader's connection is in. */
  catchUp(): void {
    const serving = this.reader.serving();
    if (serving?.model !== this.model) {
      this.model = serving?.model ?? null;
      this.width = wordsOf(serving?.dimensions ?? 0);
      this.signs = new Uint32Array(0);
      this.present = new Uint32Array(0);
      this.seen = 0;
    }
    if (serving === null) return;
    const last = this.reader.lastSeq();
    if (last <= this.seen) return;
    const bytes = this.width * 4;
    this.reader.signsAfter(serving.model, this.seen, (slot, bits) => {
      if (bits.length !== bytes) return;
      this.growTo(slot + 1);
      new Uint8Array(this.signs.buffer, slot * bytes, bytes).set(bits);
      this.present[slot >> 5]! |= 1 << (slot & 31);
    });
    this.seen = last;
  }

  /**
   * The nearest excerpts inside a mask, best first, equals by slot; null when the question was asked of a model that does
   * not serve (it has just been replaced).
   */
  nearest(question: QuestionVector, mask: Uint32Array, keep: number): VectorSlot[] | null {
    if (this.model === null || question.model !== this.model || wordsOf(question.vector.length) !== this.width) return null;
    const isSmall = this.countInside(mask) <= SMALL_SCOPE.excerpts;
    const [bySigns, rescored] = isSmall ? [SMALL_SCOPE.bySigns, SMALL_SCOPE.rescored] : [BY_SIGNS, RESCORED];
    const differing = scanSigns(this, signsOf(question.vector), mask, Math.max(bySigns, keep * 5));
    return this.score(question, this.nearestSigns(question.vector, differing, Math.max(rescored, keep)))
      .toSorted((a, b) => b.score - a.score || a.slot - b.slot)
      .slice(0, keep);
  }

  /** Similarities of given slots; those without a vector are left out. */
  score(question: QuestionVector, slots: readonly number[]): VectorSlot[] {
    const scored: VectorSlot[] = [];
    const known = slots.filter((slot) => ((this.present[slot >> 5] ?? 0) & (1 << (slot & 31))) !== 0);
    this.reader.eachInt8(question.model, known, (slot, int8, scale) => {
      scored.push({ slot, score: similarity(question.vector, int8, scale) });
    });
    return scored;
  }

  private countInside(mask: Uint32Array): number {
    let count = 0;
    for (let word = 0; word < Math.min(mask.length, this.present.length); word++) count += countBits(mask[word]! & this.present[word]!);
    return count;
  }

  /** Of some slots the `keep` whose signs are nearest to a vector, in order of slot. */
  private nearestSigns(vector: Float32Array, slots: readonly number[], keep: number): number[] {
    if (slots.length <= keep) return [...slots];
    const similar = signSimilarity(vector);
    const bytes = new Uint8Array(this.signs.buffer);
    const scored = slots.map((slot) => ({ slot, score: similar(bytes, slot * this.width * 4) }));
    const best = scored.toSorted((a, b) => b.score - a.score || a.slot - b.slot).slice(0, keep);
    return best.map(({ slot }) => slot).toSorted((a, b) => a - b);
  }

  private growTo(slots: number): void {
    if (slots <= this.present.length * 32) return;
    const room = Math.ceil((slots + (slots >> 3) + 1_024) / 32) * 32;
    const signs = new Uint32Array(room * this.width);
    signs.set(this.signs);
    const present = new Uint32Array(room >> 5);
    present.set(this.present);
    this.signs = signs;
    this.present = present;
  }
}
