/** Whatever happened before, an index answers like one made just now from what is there: no history shows. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createSearchLibrary, type LibraryDocument, type SearchLibrary } from '../../bench/search-library.ts';
import { textMaker } from '../../bench/search-text.ts';
import { openSearchMaintenance } from '../storage/sqlite/search-merge.ts';
import { openSearchReader } from '../storage/sqlite/search-reader.ts';
import { moveDocument, renameDocument, setDocumentLive } from '../storage/sqlite/search-writer.ts';
import { analyseTitle } from './analysis/document.ts';
import { createEngine, rank } from './ranking.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sergo-history-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const maker = textMaker(5, 4_000);
const pick = (below: number): number => Math.floor(maker.random() * below);

function makeDocument(ref: number): LibraryDocument {
  // Some are long enough for frequent words to be kept as bits, a few for more than one blob.
  const excerpts = ref % 50 === 0 ? 900 : ref % 11 === 0 ? 300 : 1 + pick(6);
  const chunks = Array.from({ length: excerpts }, (_, position) => ({
    position, page: 1 + (position >> 1), section: position % 3 === 0 ? maker.words(2) : null, text: maker.text(12 + pick(30)),
  }));
  return { ref, id: `id${String((ref * 7919) % 100_000).padStart(5, '0')}`, folder: 1 + pick(3), title: maker.words(3), chunks };
}

/** Merging as a worker that is killed again and again does it. */
function mergeInterrupted(library: SearchLibrary): void {
  for (let more = true; more; ) {
    const maintenance = openSearchMaintenance(library.path);
    for (let i = 0; i < 3 && more; i++) more = maintenance.step(1);
    maintenance.close();
  }
}

it('adding, replacing, renaming, moving, trashing, removing and interrupted merging leave no trace in answers', { timeout: 240_000 }, () => {
  const lived = createSearchLibrary(join(folder, 'lived.db'));
  const now = new Map<number, LibraryDocument>();
  // A reader that is there all the time catches up step by step.
  const reader = openSearchReader(lived.path);
  const engine = createEngine(reader);
  const look = (): unknown => rank(engine, { query: maker.query(), scope: { folders: [1, 2, 3], documents: [] }, depth: 5, explain: false, check: () => {} });
  for (let step = 0; step < 260; step++) {
    const ref = 1 + pick(120);
    const known = now.get(ref);
    const kind = pick(10);
    if (known === undefined || kind < 4) {
      const document = makeDocument(ref);
      lived.add([document]);
      now.set(ref, { ...document, live: true });
    } else if (kind === 4) {
      lived.remove(ref);
      now.delete(ref);
    } else if (kind === 5) {
      const title = maker.words(3);
      renameDocument(lived.db, ref, analyseTitle(title, undefined, 'en'));
      now.set(ref, { ...known, title });
    } else if (kind === 6) {
      const to = 1 + pick(3);
      moveDocument(lived.db, ref, to);
      now.set(ref, { ...known, folder: to });
    } else if (kind < 9) {
      setDocumentLive(lived.db, ref, kind === 8);
      now.set(ref, { ...known, live: kind === 8 });
    } else if (step % 4 === 0) mergeInterrupted(lived);
    if (step % 10 === 0) look();
  }
  mergeInterrupted(lived);
  const made = createSearchLibrary(join(folder, 'made.db'));
  made.add([...now.values()]);
  const madeReader = openSearchReader(made.path);
  const madeEngine = createEngine(madeReader);
  const lateReader = openSearchReader(lived.path);
  const lateEngine = createEngine(lateReader);
  const ask = (which: typeof engine, query: string, folders: number[]): unknown =>
    rank(which, { query, scope: { folders, documents: [] }, depth: 40, explain: true, check: () => {} }).ranked.map(({ chunk: _, ...rest }) => rest);
  let found = 0;
  for (let i = 0; i < 120; i++) {
    const query = i % 5 === 0 ? 'the of and to a is' : i % 5 === 1 ? `the ${maker.words(1)} of ${maker.query()}` : maker.query();
    const folders = [[1], [2, 3], [1, 2, 3]][i % 3]!;
    const expected = ask(madeEngine, query, folders) as unknown[];
    found += expected.length;
    expect({ query, folders, answer: ask(engine, query, folders) }).toEqual({ query, folders, answer: expected });
    expect({ query, folders, answer: ask(lateEngine, query, folders) }).toEqual({ query, folders, answer: expected });
  }
  expect(found).toBeGreaterThan(500);
  const states = lived.db.prepare('select distinct state from search_segments').pluck().all();
  expect(states).toEqual(['live']);
  for (const opened of [reader, madeReader, lateReader, made, lived]) opened.close();
});
