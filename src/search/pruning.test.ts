/** Words that can lift nothing new into an answer only score what is there (score.ts): the answer is the one without that shortcut. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { createSearchLibrary } from '../../bench/search-library.ts';
import { textMaker } from '../../bench/search-text.ts';
import { openSearchReader } from '../storage/sqlite/search-reader.ts';
import { createEngine, rank } from './ranking.ts';
import type * as score from './score.ts';

/** Excerpts that were scored, for each time words were: fewer than have a word where some were skipped. */
const touched: number[] = [];
vi.mock('./score.ts', async (original) => {
  const actual = await original<typeof score>();
  return {
    ...actual,
    scoreMatches: (...given: Parameters<typeof actual.scoreMatches>) => {
      const scored = actual.scoreMatches(...given);
      touched.push(scored.touched);
      return scored;
    },
  };
});

it('the best of a search are the same, with the same scores, whether frequent words are skipped or not', { timeout: 120_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'sergo-pruning-'));
  const library = createSearchLibrary(join(folder, 'library.db'));
  const maker = textMaker(17, 3_000);
  const documents = Array.from({ length: 900 }, (_, i) => ({
    ref: i + 1, id: `d${(i * 7919) % 1_000}`, folder: 1 + (i % 4), title: maker.words(2),
    chunks: Array.from({ length: 12 }, (_unused, position) => ({ position, page: position + 1, section: null, text: maker.text(30) })),
  }));
  for (let from = 0; from < documents.length; from += 100) library.add(documents.slice(from, from + 100));
  library.settle();
  const reader = openSearchReader(library.path);
  const engine = createEngine(reader);
  const all = documents.length * 12;
  let skipped = 0;
  for (let i = 0; i < 150; i++) {
    const query = i % 3 === 0 ? `${maker.query()} the of and to in` : i % 3 === 1 ? `the ${maker.words(1)} of` : maker.query();
    const folders = i % 2 === 0 ? [1, 2, 3, 4] : [2];
    const ask = (depth: number): ReturnType<typeof rank> & { scored: number } => {
      touched.length = 0;
      const answer = rank(engine, { query, scope: { folders, documents: [] }, depth, explain: true, check: () => {} });
      return { ...answer, scored: touched[0] ?? 0 };
    };
    const [best, everything] = [ask(10), ask(all)];
    // Room for all: no word can be skipped.
    expect({ query, ranked: best.ranked }).toEqual({ query, ranked: everything.ranked.slice(0, 10) });
    // What is said of a search does not depend on what it skipped.
    expect(best.explanation!.matched).toBe(everything.scored);
    expect(best.explanation!.droppedByDepth).toBe(everything.scored - best.ranked.length);
    expect(best.beyond.map(({ chunk, why }) => ({ chunk, why }))).toEqual(everything.ranked.slice(10, 400).map(({ chunk, why }) => ({ chunk, why })));
    if (best.scored < everything.scored) skipped++;
  }
  expect(skipped).toBeGreaterThan(30);
  reader.close();
  library.close();
  rmSync(folder, { recursive: true, force: true });
});
