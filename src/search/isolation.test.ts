/** P10: what a key finds, in which order and with which scores, does not depend on documents that it may not see. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSearchLibrary, type LibraryDocument, type SearchLibrary } from '../../bench/search-library.ts';
import { textMaker } from '../../bench/search-text.ts';
import { openSearchReader, type SearchReader } from '../storage/sqlite/search-reader.ts';
import { dealExcerpts } from './deal.ts';
import { createEngine, rank, type RankAnswer } from './ranking.ts';

const OWN = 150;
const FOREIGN = 5_000;
const CANARY = 'xylophonequasar';

let folder: string;
const opened: { library: SearchLibrary; reader: SearchReader; engine: ReturnType<typeof createEngine> }[] = [];
let queries: string[];

function open(name: string, fill: (library: SearchLibrary) => void): void {
  const library = createSearchLibrary(join(folder, name));
  fill(library);
  library.settle();
  const reader = openSearchReader(library.path);
  opened.push({ library, reader, engine: createEngine(reader) });
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sergo-isolation-'));
  const maker = textMaker(11);
  const own = Array.from({ length: OWN }, (_, i): LibraryDocument => ({
    ref: i + 1, id: `own${String(i * 7919).padStart(6, '0')}`, folder: 1 + (i % 3), title: maker.words(4), text: maker.text(i % 10 === 0 ? 900 : 120),
  }));
  const foreign = Array.from({ length: FOREIGN }, (_, i): LibraryDocument => ({
    ref: 10_000 + i, id: `for${String(i).padStart(5, '0')}`, folder: 50 + (i % 40), title: maker.words(4), text: `${maker.text(60)} ${CANARY}${i % 50}`,
  }));
  queries = Array.from({ length: 200 }, (_, i) => {
    const words = maker.rareWords(1 + (i % 5));
    if (i % 10 === 1) return `"${words.slice(0, 2).join(' ')}"`;
    if (i % 10 === 2) return `${words[0]!.slice(0, -1)} ${words.join(' ')}`; // a typo, or a start
    if (i % 10 === 3) return `the ${words.join(' of the ')}`;
    if (i % 10 === 4) return `${words[0]!.slice(0, 4)}* ${words.join(' ')}`;
    return words.join(' ');
  });
  open('alone.db', (library) => library.add(own));
  // Foreign documents before, between and after the key's own, in several commits and merges.
  open('shared.db', (library) => {
    for (let at = 0; at < FOREIGN; at += 1_000) {
      library.add(foreign.slice(at, at + 1_000));
      library.add(own.slice((at / 1_000) * 30, (at / 1_000) * 30 + 30));
      if (at === 2_000) library.settle();
    }
  });
}, 240_000);

afterAll(() => {
  for (const { library, reader } of opened) {
    reader.close();
    library.close();
  }
  rmSync(folder, { recursive: true, force: true });
});

const ask = (which: number, query: string, folders = [1, 2, 3]): RankAnswer =>
  rank(opened[which]!.engine, { query, scope: { folders, documents: [] }, depth: 60, explain: true, check: () => {} });

/** What a key can see of an answer; refs of excerpts differ between libraries as row numbers do. */
const seen = ({ ranked, beyond, explanation }: RankAnswer): unknown => ({
  excerpts: [...ranked, ...beyond].map(({ chunk: _, ...excerpt }) => excerpt),
  explanation,
  answers: [0, 10, 20].map((offset) => {
    const { excerpts, nextOffset } = dealExcerpts(ranked, { limit: 10, offset });
    return { ids: excerpts.map((one) => `${one.documentId} ${one.position}`), nextOffset };
  }),
});

describe('a key alone in the library and among 5,000 foreign documents', () => {
  it('gets the same excerpts, order, scores, counts and offsets for 200 queries', () => {
    let nonEmpty = 0;
    for (const query of queries) {
      const alone = ask(0, query);
      if (alone.ranked.length > 0) nonEmpty++;
      expect({ query, seen: seen(ask(1, query)) }).toEqual({ query, seen: seen(alone) });
    }
    expect(nonEmpty).toBeGreaterThan(150);
  });

  it.each([
    `${CANARY}7`, `"${CANARY}7"`, `${CANARY}*`, CANARY.slice(0, 8), `${CANARY.slice(0, -1)}`, `${CANARY}77`, CANARY.toUpperCase(), `x${CANARY}`,
    `the ${CANARY}7`, `${CANARY}7 OR ${CANARY}8`, `${CANARY}-7`, `${CANARY}_7`, `${CANARY}7.`, `(${CANARY}7)`, `'${CANARY}7'`, `${CANARY}\u00ad7`,
    `${CANARY} 7`, `xylophone quasar`, `xilophonequasar7`, `xylophonequasar7 xylophonequasar8`,
  ])('the foreign word %j is neither found nor hinted at', (query) => {
    expect(ask(1, query, [50, 51, 52]).ranked.length + ask(1, `${CANARY}7`, Array.from({ length: 40 }, (_, i) => 50 + i)).ranked.length).toBeGreaterThan(0);
    const { ranked, explanation } = ask(1, query);
    expect({ ranked: ranked.length, explanation }).toEqual({ ranked: ask(0, query).ranked.length, explanation: ask(0, query).explanation });
    expect(JSON.stringify(explanation!.words.filter((word) => word.found > 0))).not.toContain('xyloph');
  });
});
