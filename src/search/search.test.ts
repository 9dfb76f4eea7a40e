/** The embedded index end to end: write, change, search, in the same second. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSearchLibrary, type SearchLibrary } from '../../bench/search-library.ts';
import { moveDocument, renameDocument, setDocumentLive, setFolderTerms } from '../storage/sqlite/search-writer.ts';
import { analyseTitle } from './analysis/document.ts';
import { analyseFolderName } from './analysis/folder-name.ts';
import { createSearchIndex } from './pool.ts';
import type { SearchIndex } from './types.ts';

let folder: string;
let library: SearchLibrary;
let index: SearchIndex;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sergo-search-'));
  library = createSearchLibrary(join(folder, 'library.db'));
  index = createSearchIndex({ databasePath: library.path, threads: 1 });
});

afterEach(async () => {
  await index.close();
  library.close();
  rmSync(folder, { recursive: true, force: true });
});

const found = async (query: string, folders: number[] = [1, 2], documents: number[] = []): Promise<string[]> => {
  const ranked = await index.rank({ query, scope: { folders, documents }, depth: 20 });
  return ranked.map((excerpt) => excerpt.documentId);
};

describe('embedded search index', () => {
  it('finds a document with its commit and forgets it with its removal, through merges', async () => {
    expect(await found('turbine')).toEqual([]);
    library.add([{ ref: 7, id: 'aaaaaaa7', folder: 1, title: 'Wind', text: 'Offshore wind turbines feed the grid.' }]);
    expect(await found('turbine')).toEqual(['aaaaaaa7']);
    library.add(Array.from({ length: 80 }, (_, i) => ({ ref: 100 + i, id: `b${i}`, folder: 2, title: `Note ${i}`, text: `Solar panel number ${i}.` })));
    library.settle();
    expect(await found('turbine')).toEqual(['aaaaaaa7']);
    expect((await found('panel', [2])).length).toBe(20);
    library.remove(7);
    expect(await found('turbine')).toEqual([]);
    library.settle();
    expect(await found('turbine')).toEqual([]);
  });

  it('words of removed documents leave the index with the next merges', async () => {
    const documents = (from: number, word: string) => Array.from({ length: 40 }, (_, i) => ({ ref: from + i, id: `d${from + i}`, folder: 1, title: word, text: `Say ${word} number${i}.` }));
    library.add([...documents(1, 'secretword'), ...documents(100, 'plainword')]);
    library.settle();
    const holds = (word: string): boolean => {
      const tables = ['select data from search_segments where data is not null', 'select data from search_blocks'];
      const blobs = tables.flatMap((sql) => library.db.prepare(sql).pluck().all() as Buffer[]);
      const rows = library.db.prepare('select term from search_postings').pluck().all() as string[];
      return blobs.some((blob) => blob.includes(word)) || rows.some((term) => term.includes(word));
    };
    expect(holds('secretword')).toBe(true);
    for (let ref = 1; ref <= 40; ref++) library.remove(ref);
    expect(await found('secretword')).toEqual([]);
    library.settle();
    expect(holds('secretword')).toBe(false);
    expect((await found('plainword')).length).toBe(20);
  });

  it('replaces a document: the old text is gone, the new one there', async () => {
    library.add([{ ref: 1, id: 'doc00001', folder: 1, title: 'Report', text: 'The reactor was shut down.' }]);
    library.add([{ ref: 1, id: 'doc00001', folder: 1, title: 'Report', text: 'The dam was opened.' }]);
    expect(await found('reactor')).toEqual([]);
    expect(await found('dam')).toEqual(['doc00001']);
  });

  it('trashing, restoring and moving act on the next search', async () => {
    library.add([{ ref: 1, id: 'doc00001', folder: 1, title: 'Report', text: 'The reactor was shut down.' }]);
    setDocumentLive(library.db, 1, false);
    expect(await found('reactor')).toEqual([]);
    setDocumentLive(library.db, 1, true);
    expect(await found('reactor', [1])).toEqual(['doc00001']);
    moveDocument(library.db, 1, 2);
    expect(await found('reactor', [1])).toEqual([]);
    expect(await found('reactor', [2])).toEqual(['doc00001']);
    expect(await found('reactor', [], [1])).toEqual(['doc00001']);
  });

  it('a rename changes the title and nothing else', async () => {
    library.add([{ ref: 1, id: 'doc00001', folder: 1, title: 'Aardvark', text: 'The reactor was shut down.' }]);
    expect(await found('aardvark')).toEqual(['doc00001']);
    renameDocument(library.db, 1, analyseTitle('Zebra', undefined, 'en'));
    expect(await found('aardvark')).toEqual([]);
    expect(await found('zebras')).toEqual(['doc00001']);
    expect(await found('reactor')).toEqual(['doc00001']);
    library.settle();
    expect(await found('zebra reactor')).toEqual(['doc00001']);
  });

  it('folder names are searchable a little, and only those of folders in scope', async () => {
    library.add([
      { ref: 1, id: 'doc00001', folder: 1, title: 'One', text: 'Prices rise.' },
      { ref: 2, id: 'doc00002', folder: 2, title: 'Two', text: 'Prices rise.' },
    ]);
    setFolderTerms(library.db, 2, analyseFolderName('Energy outlooks'));
    expect(await found('outlook prices')).toEqual(['doc00002', 'doc00001']);
    expect(await found('outlooks')).toEqual(['doc00002']);
    expect(await found('outlooks', [], [2])).toEqual([]);
  });

  it('the name of a folder is read in the languages of what is searched', async () => {
    const german = (ref: number, folder: number) => ({ ref, id: `doc0000${ref}`, folder, title: 'Eins', text: 'Der Betrag ist innerhalb von dreißig Tagen und ohne Abzug zu zahlen, wie es mit uns vereinbart wurde.' });
    library.add([german(1, 1), german(2, 2), { ref: 3, id: 'doc00003', folder: 3, title: 'Three', text: 'The amount is to be paid within thirty days and without any deduction.' }]);
    setFolderTerms(library.db, 1, analyseFolderName('Rechnungen'));
    setFolderTerms(library.db, 2, analyseFolderName('Счета'));
    setFolderTerms(library.db, 3, analyseFolderName('News'));
    for (const query of ['Rechnungen', 'rechnung', 'RECHNUNGEN']) expect(await found(query, [1, 2]), query).toEqual(['doc00001']);
    expect(await found('Счета', [1, 2])).toEqual(['doc00002']);
    expect(await found('news', [1, 2, 3])).toEqual(['doc00003']);
    // Stemmed as German it would be `new`: nothing here is in German.
    expect(await found('new', [3])).toEqual([]);
    expect((await index.explain!({ query: 'Rechnungen', scope: { folders: [1, 2], documents: [] }, depth: 5 })).explanation).toMatchObject({ matched: 1 });
  });

  it('a word that is the name of a folder is no misspelling of another', async () => {
    library.add([
      { ref: 1, id: 'doc00001', folder: 1, title: 'One', text: 'The kestrel hovers above the field.' },
      { ref: 2, id: 'doc00002', folder: 2, title: 'Two', text: 'The minutes of the meeting.' },
    ]);
    expect(await found('Kestral')).toEqual(['doc00001']);
    setFolderTerms(library.db, 2, analyseFolderName('Kestral'));
    expect(await found('Kestral')).toEqual(['doc00002']);
    const { explanation } = await index.explain!({ query: 'Kestral', scope: { folders: [1, 2], documents: [] }, depth: 5 });
    expect(explanation.words).toEqual([{ word: 'kestral', lookedUp: ['kestral'], kind: 'word', found: 1, weight: expect.any(Number) }]);
    expect(await found('Kestral', [1])).toEqual(['doc00001']);
  });

  it('a title outweighs a passing mention', async () => {
    library.add([
      { ref: 1, id: 'doc00001', folder: 1, title: 'Notes', text: 'Among other things hydrogen is mentioned here.' },
      { ref: 2, id: 'doc00002', folder: 1, title: 'Hydrogen strategy', text: 'Electrolysers are built near ports these days.' },
    ]);
    expect(await found('hydrogen')).toEqual(['doc00002', 'doc00001']);
  });

  it('explains what matched and what was dropped', async () => {
    library.add(Array.from({ length: 9 }, (_, i) => ({ ref: i + 1, id: `doc0000${i}`, folder: 1, title: `T${i}`, text: 'Coal fired power.' })));
    const { ranked, beyond, explanation } = await index.explain!({ query: 'the coal plant', scope: { folders: [1], documents: [] }, depth: 4 });
    expect(ranked).toHaveLength(4);
    expect(beyond.map(({ documentId, why }) => [documentId, why!.lexicalRank, why!.fusedRank])).toEqual(
      ['doc00004', 'doc00005', 'doc00006', 'doc00007', 'doc00008'].map((id, i) => [id, i + 5, i + 5]),
    );
    expect(explanation).toMatchObject({ inScope: 9, matched: 9, droppedByDepth: 5 });
    expect(explanation.words.map((word) => [word.word, word.kind, word.found])).toEqual([
      ['the', 'stop', 0],
      ['coal', 'word', 9],
      ['plant', 'word', 0],
    ]);
    expect(ranked[0]!.why!.words).toEqual([{ word: 'coal', added: ranked[0]!.why!.words[0]!.added }]);
    expect(ranked[0]!.why!.words[0]!.added).toBeCloseTo(ranked[0]!.score, 2);
  });

  it('explains a search that skipped most of what a frequent word is in: how many matched, and what comes behind the depth', async () => {
    library.add(
      Array.from({ length: 300 }, (_, i) => ({
        ref: i + 1, id: `doc${String(i).padStart(5, '0')}`, folder: 1, title: `T${i}`,
        chunks: Array.from({ length: 30 }, (_unused, page) => ({
          position: page, page: page + 1, section: null, text: `Energy is used${page < 1 && i < 90 ? ', the rare kind' : ''}.`,
        })),
      })),
    );
    library.settle();
    const request = { query: 'rare energy', scope: { folders: [1], documents: [] }, depth: 60 };
    const { ranked, beyond, explanation } = await index.explain!(request);
    expect(explanation).toMatchObject({ inScope: 9_000, matched: 9_000, droppedByDepth: 8_940 });
    expect(explanation.words.map(({ word, found }) => [word, found])).toEqual([['rare', 90], ['energy', 9_000]]);
    expect(ranked.map(({ why: _, ...excerpt }) => excerpt)).toEqual(await index.rank(request));
    // The thirty others with the rare word first, then some of the rest.
    expect(beyond).toHaveLength(340);
    expect(beyond.map(({ why }) => why!.words.map(({ word }) => word).join(' '))).toEqual([
      ...Array.from({ length: 30 }, () => 'rare energy'), ...Array.from({ length: 310 }, () => 'energy'),
    ]);
    expect([...ranked, ...beyond].map(({ why }) => why!.fusedRank)).toEqual(Array.from({ length: 400 }, (_, i) => i + 1));
  });

  it('explains a quoted phrase by the excerpts that have it, and counts those found by the name of their folder', async () => {
    library.add(Array.from({ length: 80 }, (_, i) => ({ ref: i + 1, id: `doc${String(i).padStart(5, '0')}`, folder: i < 70 ? 1 : 2, title: `T${i}`, text: i % 2 === 0 ? 'Coal fired power.' : 'Power fired coal.' })));
    const scope = { folders: [1, 2], documents: [] };
    const quoted = await index.explain!({ query: '"coal fired"', scope, depth: 15 });
    expect(quoted.explanation).toMatchObject({ matched: 40, droppedByDepth: 25, phrases: ['coal fired'] });
    expect([quoted.ranked.length, quoted.beyond.length]).toEqual([15, 25]);
    setFolderTerms(library.db, 2, analyseFolderName('Archive'));
    const named = await index.explain!({ query: 'archive', scope, depth: 4 });
    expect(named.explanation).toMatchObject({ matched: 10, droppedByDepth: 6 });
    expect(named.beyond).toHaveLength(6);
  });

  it('a full queue answers busy, an abort ends the wait, and the pool lives on', async () => {
    library.add([{ ref: 1, id: 'doc00001', folder: 1, title: 'Report', text: 'The reactor was shut down.' }]);
    const narrow = createSearchIndex({ databasePath: library.path, threads: 1, queueLimit: 1 });
    const request = { query: 'reactor', scope: { folders: [1], documents: [] }, depth: 5 };
    const [first, second, third] = [narrow.rank(request), narrow.rank(request), narrow.rank(request)];
    await expect(third).rejects.toMatchObject({ code: 'busy' });
    expect(await first).toHaveLength(1);
    expect(await second).toHaveLength(1);
    const controller = new AbortController();
    const [running, stopped] = [narrow.rank(request), narrow.rank(request, controller.signal)];
    controller.abort();
    await expect(stopped).rejects.toThrow('given up');
    expect(await running).toHaveLength(1);
    expect(await narrow.rank(request)).toHaveLength(1);
    await narrow.close();
  });
});
