/** The vectors of all excerpts as a searching thread keeps them, by slot, and the search among them. */
import { nthLargest } from '../nth-largest.ts';
import type { VectorReader, WrittenVector } from '../../storage/sqlite/vector-reader.ts';
import type { VectorSlot } from '../fuse.ts';
import { FineMemory } from './fine-memory.ts';
import { dotOf, similarityOf, wholeNumbers, wordsOf } from './quantise.ts';
import { planScan, scanSigns, type ScanPlan } from './scan.ts';
import { foundIn, shareLook, takeLook, type SharedWith } from './shared-look.ts';
import { SignMemory } from './sign-memory.ts';
import { createVectorMemory, type VectorMemory } from './simd.ts';

/** A question as a vector, and the model that made it. */
export interface QuestionVector {
  /** Row of `vector_models`. */
  model: number;
  vector: Float32Array;
}

/** Where all searching threads keep the vectors of one model. */
export interface ModelMemory {
  model: number;
  signs: VectorMemory;
  fine: VectorMemory;
}

export const createModelMemory = (model: number): ModelMemory => ({ model, signs: createVectorMemory(), fine: createVectorMemory() });

/**
 * The fewest differing signs, of these the nearest to the question's own numbers, and of those the finer form is compared: recall@50
 * of 0.98 and more, also where all vectors share a direction (bench/meaning.ts). In a small scope often nothing is near, and what is
 * far differs little: more is compared, and lies close together. Only the scope decides, not where the finer form is kept (P10).
 */
const BY_SIGNS = 1_200;
const RESCORED = 300;
const SMALL_SCOPE = { excerpts: 50_000, bySigns: 2_000, rescored: 500 };
/** How many of the fewest differing signs are looked for, if `keep` are wanted. */
const bySigns = (keep: number, inside: number): number => Math.max(isSmall(inside) ? SMALL_SCOPE.bySigns : BY_SIGNS, keep * 5);
export const mostBySigns = (keep: number): number => bySigns(keep, 0);
const isSmall = (inside: number): boolean => inside <= SMALL_SCOPE.excerpts;
/** The signs of so many excerpts (10 MB) stay near the processor from one question to the next: nothing is saved by looking for several. */
const SHARED_ABOVE = 200_000;
/** Rows read at a time: 5 to 10 ms. */
const READ_ROWS = 1_000;

export class VectorTable {
  private signs = new SignMemory(0);
  private fine = new FineMemory(0);
  /** Of the slots whose finer form is not in memory, where it stands in the database. */
  private seqs = new Float64Array(0);
  private readonly reader: VectorReader;
  private readonly memoryOf: (model: number) => ModelMemory;
  private readonly fineBytes: number | undefined;
  private readonly sharedAbove: number;
  private model: number | null = null;
  private dimensions = 0;
  private seen = 0;
  private plans = new WeakMap<Uint32Array, ScanPlan & { version: number }>();

  /**
   * `memoryOf`: shared with other tables of the same database; `fineBytes`: memory for the finer form, if not as much as usual;
   * `sharedAbove`: excerpts of a scope up to which each thread looks for itself.
   */
  constructor(reader: VectorReader, memoryOf = createModelMemory, { fineBytes, sharedAbove = SHARED_ABOVE }: { fineBytes?: number; sharedAbove?: number } = {}) {
    this.reader = reader;
    this.memoryOf = memoryOf;
    this.fineBytes = fineBytes;
    this.sharedAbove = sharedAbove;
  }

  /**
   * Brings the table up to the snapshot that the reader's connection is in, or as far as it gets in `ms`. False: there is more to read.
   */
  catchUp(ms = Infinity): boolean {
    const serving = this.reader.serving();
    if (serving?.model !== this.model) {
      this.model = serving?.model ?? null;
      this.dimensions = serving?.dimensions ?? 0;
      const memory = this.memoryOf(this.model ?? 0);
      this.signs = new SignMemory(wordsOf(this.dimensions), memory.signs);
      this.fine = new FineMemory(this.dimensions, memory.fine, this.fineBytes);
      this.seqs = new Float64Array(0);
      this.plans = new WeakMap();
      this.seen = 0;
    }
    if (serving === null) return true;
    const last = this.reader.lastSeq();
    const until = performance.now() + ms;
    while (this.seen < last) {
      const rows = this.reader.vectorsAfter(serving.model, this.seen, this.fine.limit, READ_ROWS);
      for (const row of rows) this.put(row);
      this.seen = rows.length < READ_ROWS ? last : rows.at(-1)!.seq;
      if (this.seen < last && performance.now() >= until) return false;
    }
    return true;
  }

  /**
   * The nearest excerpts inside a mask, best first, equals by slot; null when the question was asked of a model that does
   * not serve (it has just been replaced). A mask must not change after it was asked for. `shared`: of the same model and mask; nothing
   * of it changes the answer.
   */
  nearest(question: QuestionVector, mask: Uint32Array, keep: number, shared: SharedWith | null = null): VectorSlot[] | null {
    if (this.model === null || question.model !== this.model || question.vector.length !== this.dimensions) return null;
    const plan = this.planOf(mask);
    const differing = this.lookThroughSigns(question.vector, keep, plan, shared);
    const rescored = isSmall(plan.inside) ? SMALL_SCOPE.rescored : RESCORED;
    const scored = this.score(question, this.nearestSigns(question.vector, differing, Math.max(rescored, keep)));
    // Only what is near enough is put in order.
    const scores = new Float64Array(scored.length);
    for (let i = 0; i < scored.length; i++) scores[i] = scored[i]!.score;
    const least = scores.sort()[Math.max(0, scored.length - keep)] ?? 0;
    return scored
      .filter(({ score }) => score >= least)
      .sort((a, b) => b.score - a.score || a.slot - b.slot)
      .slice(0, keep);
  }

  /** Similarities of given slots; those without a vector are left out. */
  score(question: QuestionVector, slots: ArrayLike<number>): VectorSlot[] {
    const here: number[] = [];
    const toRead: number[] = [];
    for (let i = 0; i < slots.length; i++) {
      const slot = slots[i]!;
      if (!this.signs.has(slot)) continue;
      if (slot < this.fine.limit) here.push(slot);
      else toRead.push(this.seqs[slot - this.fine.limit]!);
    }
    this.fine.ask(question.vector);
    const similarities = this.fine.similarities(here);
    const scored: VectorSlot[] = here.map((slot, i) => ({ slot, score: similarities[i]! }));
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

  private put({ seq, slot, signs, fine }: WrittenVector): void {
    if (signs.length !== wordsOf(this.dimensions) * 4) return;
    if (fine !== null) this.fine.put(slot, fine);
    else {
      const place = slot - this.fine.limit;
      if (place >= this.seqs.length) {
        const seqs = new Float64Array(place + 1 + (place >> 3) + 1_024);
        seqs.set(this.seqs);
        this.seqs = seqs;
      }
      this.seqs[place] = seq;
    }
    this.signs.put(slot, signs);
  }

  private planOf(mask: Uint32Array): ScanPlan {
    const known = this.plans.get(mask);
    if (known?.version === this.signs.version) return known;
    const plan = { ...planScan(this.signs, mask), version: this.signs.version };
    this.plans.set(mask, plan);
    return plan;
  }

  /** The slots in scope of which the fewest signs differ, in order: as another thread has found them, or looked for here, for others as well. */
  private lookThroughSigns(vector: Float32Array, keep: number, plan: ScanPlan, shared: SharedWith | null): Int32Array {
    const asked = [{ vector, keep: bySigns(keep, plan.inside) }];
    if (shared === null || plan.inside <= this.sharedAbove) return scanSigns(this.signs, asked, plan)[0]!;
    const state = { change: shared.change, vector: this.seen, inside: plan.inside };
    const known = shared.look === null || takeLook(shared.look) ? null : foundIn(shared.look, state);
    if (known !== null) return known;
    const looks: SharedArrayBuffer[] = [];
    for (const fellow of shared.fellows) {
      if (asked.length === this.signs.together) break;
      if (fellow.vector.length !== this.dimensions || !takeLook(fellow.look)) continue;
      asked.push({ vector: fellow.vector, keep: bySigns(fellow.keep, plan.inside) });
      looks.push(fellow.look);
    }
    const [own, ...others] = scanSigns(this.signs, asked, plan);
    others.forEach((slots, i) => shareLook(looks[i]!, state, slots));
    return own!;
  }

  /** Of some slots in order the `keep` whose signs are nearest to the vector asked for, in order; of equals at the cut the first. */
  private nearestSigns(vector: Float32Array, slots: Int32Array, keep: number): Int32Array {
    if (slots.length <= keep) return slots;
    const weights = this.signs.weightsOf(slots, vector);
    const least = nthLargest(weights.slice(), keep);
    let equal = keep;
    for (let i = 0; i < weights.length; i++) if (weights[i]! > least) equal--;
    const nearest = new Int32Array(keep);
    let to = 0;
    for (let i = 0; i < weights.length; i++) {
      if (weights[i]! > least || (weights[i] === least && equal-- > 0)) nearest[to++] = slots[i]!;
    }
    return nearest;
  }
}
