/** What the meaning side of search asks of whatever keeps its vectors (embedded: storage/sqlite/vector-store.ts). */

export interface VectorModel {
  ref: number;
  name: string;
  /** EmbeddingSource as JSON means it; read with zod before use. */
  source: unknown;
  dimensions: number | null;
  state: 'building' | 'serving';
  /** What keeps its vectors from being made, one sentence, or null. */
  trouble: string | null;
}

/** An excerpt that waits for its vector. */
export interface Passage {
  /** Its place in the index; never reused for another text. */
  slot: number;
  /** The document's name, and the title that its file has. */
  name: string;
  title: string | null;
  section: string | null;
  text: string;
}

/** A passage's vector; null: the model refused this text. */
export interface MadeVector {
  slot: number;
  made: { bits: Uint32Array; int8: Int8Array; scale: number } | null;
}

export interface Coverage {
  /** Excerpts that were offered to the model, and all there are. */
  done: number;
  excerpts: number;
  refused: number;
}

export interface VectorStore {
  /** Serving first. */
  models(): VectorModel[];
  /**
   * The model that the settings name. Unknown: it is built, and serves at once when nothing with vectors does; a half-built other
   * one is given up. Naming the serving one again gives up what was being built.
   */
  choose(name: string, source: unknown): void;
  /** The next excerpts without a vector of this model, oldest first. */
  next(model: number, limit: number): Passage[];
  /** Keeps vectors of passages that `next` gave, in its order, and goes on behind them; one transaction. */
  put(model: number, dimensions: number, vectors: readonly MadeVector[]): void;
  /** Lets a model serve that has covered everything; the one before it is dropped. False while excerpts are missing. */
  promote(model: number): boolean;
  coverage(model: number): Coverage;
  setTrouble(model: number, trouble: string | null): void;
  /** Removes some vectors that nothing uses any more. True when there may be more. */
  sweep(): boolean;
  close(): void;
}
