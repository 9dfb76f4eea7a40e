/** Scopes of 500 folders and 50,000 documents: the work of a search grows with the scope, never with its square. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DocumentEntry, SearchReader } from '../storage/sqlite/search-reader.ts';
import { SlotTable } from './slot-table.ts';

const DOCUMENTS = 50_000;
const FOLDERS = 500;
const EXCERPTS = 4;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sergo-scope-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A library as large as wanted without writing one: what the table reads of it. */
function readerOf(documents: Map<number, DocumentEntry>, counts: { asked: number }): SearchReader {
  let version = 0;
  const state = { nextSlot: DOCUMENTS * (EXCERPTS + 1), segments: 0, folders: 0, lastChange: 0, firstChange: 0 };
  const changed: number[] = [];
  return {
    dataVersion: () => version,
    state: () => state,
    segments: () => [],
    folders: () => [],
    allDocuments: (each: (entry: DocumentEntry) => void) => documents.forEach(each),
    document: (ref: number) => {
      counts.asked++;
      return documents.get(ref) ?? null;
    },
    changedAfter: () => changed.splice(0),
    touch: (ref: number) => {
      version++;
      state.lastChange++;
      changed.push(ref);
    },
  } as unknown as SearchReader & { touch(ref: number): void };
}

const entryOf = (i: number): DocumentEntry => ({
  document: i + 1, id: `d${i}`, folder: 1 + (i % (FOLDERS * 2)), live: i % 10 !== 9, first: i * (EXCERPTS + 1), slots: EXCERPTS,
  titleSlot: i * (EXCERPTS + 1) + EXCERPTS, language: i % 2 === 0 ? 'en' : 'de', lengths: new Uint16Array(EXCERPTS).fill(10),
});

describe('scope masks', () => {
  const documents = new Map(Array.from({ length: DOCUMENTS }, (_, i) => [i + 1, entryOf(i)]));

  it('hold exactly the live excerpts of the folders and the single documents', () => {
    const table = new SlotTable(readerOf(documents, { asked: 0 }));
    table.catchUp();
    const folders = Array.from({ length: FOLDERS }, (_, i) => i + 1);
    const singles = Array.from({ length: DOCUMENTS }, (_, i) => i + 1).filter((ref) => ref % 3 === 0);
    const mask = table.maskOf({ folders, documents: singles });
    const wanted = [...documents.values()].filter((one) => one.live && (one.folder <= FOLDERS || one.document % 3 === 0));
    expect(mask.excerpts).toBe(wanted.length * EXCERPTS);
    expect(mask.length).toBe(wanted.length * EXCERPTS * 10);
    expect(mask.languages).toEqual(['de', 'en']);
    let bits = 0;
    for (const word of mask.words) for (let rest = word; rest !== 0; rest = (rest & (rest - 1)) >>> 0) bits++;
    expect(bits).toBe(mask.excerpts);
    for (const { first } of wanted.slice(0, 500)) expect((mask.words[first >> 5]! >>> (first & 31)) & 1).toBe(1);
  });

  it('are kept while nothing changes, and a change reads one document, not all', () => {
    const counts = { asked: 0 };
    const reader = readerOf(documents, counts) as SearchReader & { touch(ref: number): void };
    const table = new SlotTable(reader);
    table.catchUp();
    const scope = { folders: [1, 2, 3], documents: [9] };
    const first = table.maskOf(scope);
    expect(table.maskOf({ folders: [1, 2, 3], documents: [9] })).toBe(first);
    expect(table.maskOf({ folders: [1, 2], documents: [9] })).not.toBe(first);
    const before = documents.get(1)!;
    documents.set(1, { ...before, live: false });
    reader.touch(1);
    table.catchUp();
    expect(counts.asked).toBe(1);
    expect(table.maskOf(scope).excerpts).toBe(first.excerpts - EXCERPTS);
    documents.set(1, before);
  });

  it('a document that is single in one scope lends its folder’s name to none', () => {
    const table = new SlotTable(readerOf(documents, { asked: 0 }));
    table.catchUp();
    expect([...table.maskOf({ folders: [], documents: [1, 2] }).folders]).toEqual([]);
    expect([...table.maskOf({ folders: [5], documents: [1, 2] }).folders]).toEqual([5]);
  });
});
