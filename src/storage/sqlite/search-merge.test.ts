/** Merging goes through terms in order: what is out of order in one document's terms would be lost or stop it for good. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Kysely, SqliteDialect } from 'kysely';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createSearchLibrary, type SearchLibrary } from '../../../bench/search-library.ts';
import { analyseDocument } from '../../search/analysis/document.ts';
import { createSearchIndex } from '../../search/pool.ts';
import type { SearchIndex } from '../../search/types.ts';
import { namedBlocks } from '../migrations/0008-named-blocks.ts';
import { BlobCursor } from './search-cursor.ts';
import { openSearchMaintenance } from './search-merge.ts';
import { addDocument } from './search-writer.ts';

let folder: string;
let library: SearchLibrary;
let index: SearchIndex | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sergo-merge-'));
  library = createSearchLibrary(join(folder, 'library.db'));
});
afterEach(async () => {
  await index?.close();
  index = undefined;
  library.close();
  rmSync(folder, { recursive: true, force: true });
});

const code = (ref: number): string => `zq${ref}x`;
const textOf = (ref: number): string => Array.from({ length: 60 }, (_, at) => `word${(ref * 60 + at) % 9_000}`).join(' ');
async function found(ref: number): Promise<number[]> {
  index ??= createSearchIndex({ databasePath: library.path, threads: 1, timeoutMs: 30_000 });
  return (await index.rank({ query: code(ref), scope: { folders: [1], documents: [] }, depth: 10 })).map(({ document }) => document);
}

/** All terms of the segments that are not small, in the order of their blocks. */
function termsInBlocks(): string[] {
  const blocks = library.db.prepare('select data from search_blocks order by segment, term').pluck().all() as Buffer[];
  const terms: string[] = [];
  const cursor = new BlobCursor(0, () => blocks.splice(0));
  while (cursor.next()) terms.push(Buffer.from(cursor.name.subarray(cursor.nameAt, cursor.nameEnd)).toString());
  return terms;
}

/** As it was written when diacritics alone were terms. */
function addAsBefore(ref: number): void {
  const chunks = [{ position: 0, page: 1, section: null, text: `${code(ref)} ${textOf(ref)}` }];
  const analysed = analyseDocument({ title: `Note ${ref}` }, chunks);
  const { terms, starts, slots, codes } = analysed.postings;
  const postings = { terms: [...terms, ''], starts: Int32Array.from([...starts, slots.length + 1]), slots: Int32Array.from([...slots, 0]), codes: Uint8Array.from([...codes, 1]) };
  addDocument(library.db, { document: ref, documentId: `d${ref}`, folder: 1, live: true, analysed: { ...analysed, postings }, chunkRefs: [ref] });
}

test('texts with diacritics that stand alone are merged and found, each term once and in order', { timeout: 60_000 }, async () => {
  for (let from = 1; from <= 1_200; from += 100) {
    library.add(Array.from({ length: 100 }, (_, at) => ({ ref: from + at, id: `d${from + at}`, folder: 1, title: `Note ${from + at}`, text: `${code(from + at)} the Centre´s data ¨ ـــ ${textOf(from + at)}` })));
    library.settle();
  }
  const terms = termsInBlocks();
  expect(terms.length).toBeGreaterThan(9_000);
  expect(terms).not.toContain('');
  for (const ref of [1, 600, 1_200]) expect(await found(ref)).toEqual([ref]);
});

test('what was written with a term without a name is merged without it', { timeout: 60_000 }, async () => {
  for (let ref = 1; ref <= 600; ref++) {
    addAsBefore(ref);
    if (ref % 50 === 0) library.settle();
  }
  const terms = termsInBlocks();
  expect(new Set(terms).size).toBe(terms.length);
  for (const ref of [1, 300, 600]) expect(await found(ref)).toEqual([ref]);
});

test('a block that was keyed by nothing is keyed by its next term, and its terms are found', async () => {
  library.add(Array.from({ length: 400 }, (_, at) => ({ ref: at + 1, id: `d${at + 1}`, folder: 1, title: `Note ${at + 1}`, text: `${code(at + 1)} ${textOf(at + 1)}` })));
  library.settle();
  const holds = (term: string, data: Buffer): boolean => data.includes(term);
  const rows = library.db.prepare('select segment, term, data from search_blocks order by term').all() as { segment: number; term: string; data: Buffer }[];
  const row = rows.find(({ data }) => holds(code(77), data))!;
  // One unnamed term in front: no name, one posting, two bytes of slots, no codes.
  const spoiled = Buffer.concat([Buffer.from([0, 1, 2, 0, 0, 0]), row.data]);
  library.db.prepare(`update search_blocks set term = '', data = ? where segment = ? and term = ?`).run(spoiled, row.segment, row.term);
  library.db.prepare('insert into search_blocks (segment, term, data) values (?, ?, ?)').run(row.segment + 1_000, '', Buffer.from([0, 1, 2, 0, 0, 0]));
  expect(await found(77)).toEqual([]);
  await index!.close();
  index = undefined;
  await namedBlocks.up(new Kysely<unknown>({ dialect: new SqliteDialect({ database: library.db }) }));
  expect(await found(77)).toEqual([77]);
  expect(library.db.prepare(`select count(*) from search_blocks where term = ''`).pluck().get()).toBe(0);
});

test('a merge that cannot go on is begun anew, and nothing is lost', async () => {
  const half = (first: number): void => library.add(Array.from({ length: 200 }, (_, at) => ({ ref: first + at, id: `d${first + at}`, folder: 1, title: `Note ${first + at}`, text: `${code(first + at)} ${textOf(first + at)}` })));
  half(1);
  library.settle();
  half(201);
  const maintenance = openSearchMaintenance(library.path);
  let target: number | undefined;
  while (target === undefined && maintenance.step(0)) target = library.db.prepare(`select segment from search_segments where state = 'building' and cursor is not null`).pluck().get() as number | undefined;
  expect(target).toBeDefined();
  // In the way of every block to come.
  library.db.exec(`create trigger in_the_way before insert on search_blocks begin select raise(abort, 'in the way'); end`);
  expect(() => {
    while (maintenance.step(200));
  }).toThrow('in the way');
  expect(library.db.prepare('select state from search_segments where segment = ?').pluck().get(target)).toBe('dropping');
  library.db.exec('drop trigger in_the_way');
  while (maintenance.step(200));
  maintenance.close();
  expect(library.db.prepare('select count(*) from search_blocks where segment = ?').pluck().get(target)).toBe(0);
  for (const ref of [1, 200, 400]) expect(await found(ref)).toEqual([ref]);
});
