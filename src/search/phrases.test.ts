/** Phrases of words that are everywhere: few texts are read, few occurrences scored, and what has the phrase is still found (P27). */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSearchLibrary, type SearchLibrary } from '../../bench/search-library.ts';
import { openSearchReader, type SearchReader } from '../storage/sqlite/search-reader.ts';
import { withinBudget } from './phrases.ts';
import { createEngine, rank } from './ranking.ts';

/** All have most of the words, every hundredth has them all, one has the phrases. */
const EXCERPTS = 600;
const SOME = ['It was the end of a day that is on from and for', 'To be by it with that as the and of which are on', 'From the end in a for which is to be at and of it'];
const ALL = 'be to or not that is the it of on a and in';
const PHRASES = 'To be or not to be, that is it, and so on';

let folder: string;
let library: SearchLibrary;
let reader: SearchReader;
let texts = 0;
let ask: (query: string) => string[];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sergo-phrases-'));
  library = createSearchLibrary(join(folder, 'library.db'));
  const textOf = (i: number): string => (i === 333 ? PHRASES : i % 100 === 0 ? ALL : SOME[i % SOME.length]!);
  library.add(Array.from({ length: EXCERPTS }, (_, i) => ({ ref: i + 1, id: `d${i}`, folder: 1, title: `Number ${i}`, text: textOf(i) })));
  library.settle();
  reader = openSearchReader(library.path);
  const engine = createEngine({
    ...reader,
    text: (chunk) => {
      texts++;
      return reader.text(chunk);
    },
  });
  ask = (query) => {
    texts = 0;
    return rank(engine, { query, scope: { folders: [1], documents: [] }, depth: 10, explain: false, check: () => {} }).ranked.map((one) => one.documentId);
  };
});

afterAll(() => {
  reader.close();
  library.close();
  rmSync(folder, { recursive: true, force: true });
});

describe('phrases of nothing but function words', () => {
  it('are looked for only where all of their words are', () => {
    expect(ask('"to be or not to be"')).toEqual(['d333']);
    expect(texts).toBeLessThanOrEqual(1 + EXCERPTS / 100);
    expect(ask('"to be" "or not" "that is"')).toEqual(['d333']);
    expect(texts).toBeLessThanOrEqual(1 + EXCERPTS / 100);
  });

  it('find nothing where the words stand otherwise', () => {
    expect(ask('"or to be not" "is that" "the on it"')).toEqual([]);
    expect(texts).toBeLessThanOrEqual(1 + EXCERPTS / 100);
  });
});

describe('what is scored to choose where to look', () => {
  const word = (found: number): { matches: { found: number; cost: number } } => ({ matches: { found, cost: found } });

  it('are the rarest words, as many as the budget allows', () => {
    const [rare, some, many] = [word(10), word(500), word(900)];
    expect(withinBudget([many, rare, some], 1_000, 600)).toEqual([rare, some]);
    expect(withinBudget([many, rare, some], 1_000, 2_000)).toEqual([many, rare, some]);
  });

  it('counts no more of a word than there are excerpts to look into', () => {
    const [some, many] = [word(500), word(900)];
    expect(withinBudget([many, some], 100, 200)).toEqual([many, some]);
    expect(withinBudget([many, some], 300, 500)).toEqual([some]);
  });

  it('is at least one word', () => {
    const [some, many] = [word(500), word(900)];
    expect(withinBudget([many, some], 1_000, 100)).toEqual([some]);
    expect(withinBudget([], 1_000, 100)).toEqual([]);
  });
});
