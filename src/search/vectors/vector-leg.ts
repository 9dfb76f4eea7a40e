/** The vector leg of a searching thread: its table and connection come with the first question that has a vector. */
import { openVectorReader } from '../../storage/sqlite/vector-reader.ts';
import type { VectorLeg } from '../ranking.ts';
import { createLook } from './shared-look.ts';
import { createModelMemory, mostBySigns, VectorTable, type ModelMemory, type QuestionVector } from './vector-table.ts';

/** How many of the nearest fusion is given. */
export const NEAREST = 200;

/** A search waits this long for vectors that are being read, as after a start; then it goes by words. */
const WAIT_MS = 1_000;

/** A search that waits in the pool, of the same model and scope as one that runs. */
export interface Fellow {
  vector: Float32Array;
  depth: number;
  look: SharedArrayBuffer;
}

/** With whom a search shares its look through the signs: what may have been found for it already, and for whom it looks besides. */
export interface Company {
  look: SharedArrayBuffer | null;
  fellows: readonly Fellow[];
}

/** How many of the nearest are looked for. */
const wanted = (depth: number): number => Math.max(NEAREST, depth);

/** Room for what a thread finds for a search of some depth that another will answer. */
export const lookFor = (depth: number): SharedArrayBuffer => createLook(mostBySigns(wanted(depth)));

export interface VectorLegs {
  legFor(question: QuestionVector, company?: Company): VectorLeg;
  /** Where the vectors of the model are kept together with other threads. */
  use(memory: ModelMemory): void;
  /** Reads vectors for some ms. True: there are more to read. */
  read(ms: number): boolean;
}

export function createVectorLegs(databasePath: string, waitMs = WAIT_MS): VectorLegs {
  let opened: { table: VectorTable; reader: ReturnType<typeof openVectorReader> } | null = null;
  let shared: ModelMemory | null = null;
  /** The model whose vectors are being read. */
  let behind: number | null = null;

  function open(): NonNullable<typeof opened> {
    if (opened !== null) return opened;
    const reader = openVectorReader(databasePath);
    const memoryOf = (model: number): ModelMemory => (shared?.model === model ? shared : createModelMemory(model));
    return (opened = { table: new VectorTable(reader, memoryOf), reader });
  }

  return {
    legFor: (question, company = { look: null, fellows: [] }) => (mask, found, depth) => {
      const { table, reader } = open();
      return reader.snapshot(() => {
        // Of a model that no longer serves: what it asks cannot be answered, and the memory of the new one comes with its first question.
        if (reader.serving()?.model !== question.model) return null;
        behind = table.catchUp(waitMs) ? null : question.model;
        if (behind !== null) return null;
        const fellows = company.fellows.map(({ vector, depth: theirs, look }) => ({ vector, keep: wanted(theirs), look }));
        const near = table.nearest(question, mask.words, wanted(depth), { change: mask.change, look: company.look, fellows });
        if (near === null) return null;
        // Those that words found are compared as well, however far they are.
        const known = new Set(near.map(({ slot }) => slot));
        const others = table.score(question, found.filter(({ slot }) => !known.has(slot)).map(({ slot }) => slot));
        return [...near, ...others].sort((a, b) => b.score - a.score || a.slot - b.slot);
      });
    },
    use: (memory) => {
      shared = memory;
    },
    read: (ms) => {
      if (behind === null) return false;
      const { table, reader } = open();
      if (reader.serving()?.model !== behind || table.catchUp(ms)) behind = null;
      return behind !== null;
    },
  };
}
