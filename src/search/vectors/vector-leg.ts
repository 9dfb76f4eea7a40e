/** The vector leg of a searching thread: its table and connection come with the first question that has a vector. */
import { openVectorReader } from '../../storage/sqlite/vector-reader.ts';
import type { VectorLeg } from '../ranking.ts';
import { VectorTable, type QuestionVector } from './vector-table.ts';

/** How many of the nearest fusion is given. */
export const NEAREST = 200;

export function createVectorLegs(databasePath: string): (question: QuestionVector) => VectorLeg {
  let opened: { table: VectorTable; snapshot: <T>(work: () => T) => T } | null = null;
  return (question) => (mask, found, depth) => {
    if (opened === null) {
      const { snapshot, ...reader } = openVectorReader(databasePath);
      opened = { table: new VectorTable(reader), snapshot };
    }
    const { table, snapshot } = opened;
    return snapshot(() => {
      table.catchUp();
      const near = table.nearest(question, mask.words, Math.max(NEAREST, depth));
      if (near === null) return null;
      // Those that words found are compared as well, however far they are.
      const known = new Set(near.map(({ slot }) => slot));
      const others = table.score(question, found.filter(({ slot }) => !known.has(slot)).map(({ slot }) => slot));
      return [...near, ...others].toSorted((a, b) => b.score - a.score || a.slot - b.slot);
    });
  };
}
