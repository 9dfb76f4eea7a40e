/** What a searching thread reads of the vectors, over the connection of its search reader. */
import Sqlite, { type Database } from 'better-sqlite3';

export interface ServingModel {
  model: number;
  dimensions: number;
}

/** Whole numbers that are the vector again when multiplied by `scale`. */
export interface FineForm {
  int8: Int8Array;
  scale: number;
}

export interface WrittenVector {
  seq: number;
  slot: number;
  signs: Uint8Array;
  fine: FineForm | null;
}

export interface VectorReader {
  /** The model that searches use now, or null. */
  serving(): ServingModel | null;
  /** The last vector written, of any model. */
  lastSeq(): number;
  /** The first vectors written after a seq, in order; the finer form only of slots before `fineSlots`. */
  vectorsAfter(model: number, seq: number, fineSlots: number, limit: number): WrittenVector[];
  /** The finer form of each of some vectors, by their seqs; those that are gone are left out. The array is only good during the call. */
  eachInt8(seqs: readonly number[], each: (slot: number, int8: Int8Array, scale: number) => void): void;
}

/** Opens a database file for the vectors of searches. All of one search is read in one `snapshot`. */
export function openVectorReader(databasePath: string): VectorReader & { snapshot<T>(work: () => T): T } {
  const db = new Sqlite(databasePath, { readonly: true, fileMustExist: true });
  db.pragma('query_only = ON');
  db.pragma('cache_size = -12000');
  db.pragma('busy_timeout = 2000');
  const begin = db.prepare('begin');
  const end = db.prepare('commit');
  return {
    ...vectorReaderOver(db),
    snapshot: (work) => {
      begin.run();
      try {
        return work();
      } finally {
        end.run();
      }
    },
  };
}

export function vectorReaderOver(db: Database): VectorReader {
  const serving = db.prepare(`select model, dimensions from vector_models where state = 'serving' and dimensions is not null`);
  const last = db.prepare(`select coalesce(max(seq), 0) from chunk_vectors`).pluck();
  const after = db
    .prepare(`select seq, slot, bits, case when slot < ? then int8 end, scale from chunk_vectors where seq > ? and +model = ? order by seq limit ?`)
    .raw(true);
  // One statement for all: hundreds of calls cost more than what they read.
  const some = db
    .prepare(`select v.slot, v.int8, v.scale from json_each(?) wanted cross join chunk_vectors v on v.seq = wanted.value`)
    .raw(true);
  return {
    serving: () => (serving.get() as ServingModel | undefined) ?? null,
    lastSeq: () => last.get() as number,
    vectorsAfter: (model, seq, fineSlots, limit) =>
      (after.all(fineSlots, seq, model, limit) as [number, number, Buffer, Buffer | null, number][]).map(([at, slot, signs, int8, scale]) => ({
        seq: at,
        slot,
        signs,
        fine: int8 === null ? null : { int8: signed(int8), scale },
      })),
    eachInt8: (seqs, each) => {
      for (const [slot, int8, scale] of some.all(JSON.stringify(seqs)) as [number, Buffer, number][]) {
        each(slot, signed(int8), scale);
      }
    },
  };
}

const signed = (bytes: Buffer): Int8Array => new Int8Array(bytes.buffer, bytes.byteOffset, bytes.length);
