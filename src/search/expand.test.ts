/** Longer and misspelt words are the scope's own, however many terms of others lie between them. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSearchLibrary, type SearchLibrary } from '../../bench/search-library.ts';
import { openSearchReader, type SearchReader } from '../storage/sqlite/search-reader.ts';
import { createEngine, rank } from './ranking.ts';

/** More than a bound on foreign terms would be, all of one start and before the own ones in the alphabet. */
const FOREIGN = 60_000;
const letters = (n: number): string => Array.from({ length: 5 }, (_, i) => 'abcdefgh'[(n >> (i * 3)) & 7]).join('');

let folder: string;
let library: SearchLibrary;
let reader: SearchReader;
let engine: ReturnType<typeof createEngine>;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sergo-expand-'));
  library = createSearchLibrary(join(folder, 'library.db'));
  const words = (from: number, make: (n: number) => string): string => Array.from({ length: 750 }, (_, i) => make(from + i)).join(' ');
  const foreign = Array.from({ length: FOREIGN / 750 }, (_, i) => ({
    ref: 100 + i, id: `foreign${i}`, folder: 2, title: 'Parts',
    text: `${words(i * 750, (n) => `TPS${String(n).padStart(6, '0')}`)} ${words(i * 750, (n) => `elec${letters(n)}q`)}`,
  }));
  const own = [
    { ref: 1, id: 'own', folder: 1, title: 'Own', text: 'Part TPSZ9 beside the electrolyser' },
    { ref: 2, id: 'titled', folder: 1, title: 'TPSA8', text: 'Nothing else' },
  ];
  // In the midst of the others, so that merging puts them into one segment with most of these.
  library.add([...foreign.slice(0, 20), ...own, ...foreign.slice(20)]);
  library.settle();
  reader = openSearchReader(library.path);
  engine = createEngine(reader);
}, 120_000);

afterAll(() => {
  reader.close();
  library.close();
  rmSync(folder, { recursive: true, force: true });
});

const ask = (query: string, check = (): void => {}): string[] =>
  rank(engine, { query, scope: { folders: [1], documents: [] }, depth: 10, explain: false, check }).ranked.map(({ documentId }) => documentId);

describe('a scope of two documents among tens of thousands of foreign terms of the same starts', () => {
  it('finds its own part numbers by their start, in texts and titles', () => {
    expect(ask('TPS*').toSorted()).toEqual(['own', 'titled']);
    expect(engine.table.segments.filter(({ small }) => !small)).toHaveLength(1);
    expect(ask('TPSZ')).toEqual(['own']);
  });

  it('finds its own word for a misspelt one', () => {
    expect(ask('electrolisor')).toEqual(['own']);
  });

  it('asks now and then whether the search is still wanted, and leaves the database usable when it is not', () => {
    let checks = 0;
    ask('TPS*', () => void checks++);
    expect(checks).toBeGreaterThan(FOREIGN / 2 / 4_096);
    expect(() => ask('TPS*', () => { if (--checks === 0) throw new Error('given up'); })).toThrow('given up');
    expect(ask('TPS*').toSorted()).toEqual(['own', 'titled']);
  });
});
