/** The write side of the embedded search index. Every function runs inside the caller's transaction on this connection. */
import type { Database } from 'better-sqlite3';
import type { AnalysedDocument, DocumentPostings } from '../../search/types.ts';
import { createTermWriter } from './search-blocks.ts';
import { encodeSegment, orderOf, writeVarint, type TermEntry } from './search-encoding.ts';
import { statementsOf } from './search-statements.ts';

/** Marks terms of titles in the one space of terms; no text has this character after normalisation. */
export const TITLE_MARK = '\u0001';

/** Segments larger than this are written as rows at once. */
const BLOB_BYTES = 256 * 1024;
/** Threads that are further behind than this read all documents again. */
const KEPT_CHANGES = 20_000;

export interface NewSearchDocument {
  document: number;
  documentId: string;
  folder: number;
  live: boolean;
  analysed: AnalysedDocument;
  /** Refs of the excerpts in table `chunks`, in the order of `analysed.chunks`. */
  chunkRefs: readonly number[];
}

/** Adds a document to the index, or replaces it: it is searchable with the caller's commit. */
export function addDocument(db: Database, entry: NewSearchDocument): void {
  const { analysed, chunkRefs } = entry;
  if (chunkRefs.length !== analysed.chunks.length) throw new Error('search index: one chunk ref for each analysed chunk');
  const statements = statementsOf(db);
  const count = analysed.chunks.length;
  const first = takeSlots(db, count + 1);
  writeSegment(db, first, count + 1, [...titleEntries(analysed.title, count), ...bodyEntries(analysed.postings)]);
  const lengths = Uint16Array.from(analysed.chunks, (chunk) => chunk.length);
  statements.putDocument.run({
    document: entry.document,
    id: entry.documentId,
    folder: entry.folder,
    live: entry.live ? 1 : 0,
    first,
    slots: count,
    titleSlot: first + count,
    language: analysed.language,
    lengths: Buffer.from(lengths.buffer),
    layout: encodeLayout(analysed, chunkRefs),
  });
  noteChange(db, entry.document);
}

/** Takes a document out of the index; nothing happens when it is not there. */
export function removeDocument(db: Database, document: number): void {
  if (statementsOf(db).removeDocument.run(document).changes > 0) noteChange(db, document);
}

/** The same for many, in two statements. */
export function removeDocuments(db: Database, documents: readonly number[]): void {
  const refs = JSON.stringify(documents);
  if (statementsOf(db).removeDocuments.run(refs).changes > 0) noteChanges(db, refs);
}

export function moveDocument(db: Database, document: number, folder: number): void {
  if (statementsOf(db).moveDocument.run(folder, document).changes > 0) noteChange(db, document);
}

/** Trashed documents are not live: they stay in the index and are found again the moment they are restored. */
export function setDocumentLive(db: Database, document: number, live: boolean): void {
  if (statementsOf(db).setLive.run(live ? 1 : 0, document).changes > 0) noteChange(db, document);
}

/** The same for many, in two statements: a folder of twenty thousand goes to the trash at once. */
export function setDocumentsLive(db: Database, documents: readonly number[], live: boolean): void {
  const refs = JSON.stringify(documents);
  if (statementsOf(db).setAllLive.run(live ? 1 : 0, refs).changes > 0) noteChanges(db, refs);
}

/** After a rename: the terms of the new title and name (`analyseTitle`). Excerpts are not touched. */
export function renameDocument(db: Database, document: number, title: ReadonlyMap<string, number>): void {
  const slot = takeSlots(db, 1);
  if (statementsOf(db).setTitleSlot.run(slot, document).changes === 0) return;
  writeSegment(db, slot, 1, titleEntries(title, 0));
  noteChange(db, document);
}

/** A folder's name, as terms with their languages (`analyseFolderName`): its documents are found by it, a little. No terms forget the folder. */
export function setFolderTerms(db: Database, folder: number, terms: ReadonlyMap<string, readonly string[]>): void {
  const statements = statementsOf(db);
  if (terms.size === 0) statements.removeFolder.run(folder);
  else statements.putFolder.run(folder, JSON.stringify(Object.fromEntries(terms)));
  statements.bump.run('folders');
}

/** Folders that an upgrade has left without the terms of their names. */
export function foldersWithoutTerms(db: Database, limit: number): number[] {
  return (statementsOf(db).emptyFolders.all(limit) as { folder: number }[]).map(({ folder }) => folder);
}

/** The language the document was analysed in, or null when it is not indexed: a rename needs it. */
export function languageOfDocument(db: Database, document: number): string | null {
  const row = statementsOf(db).language.get(document) as { language: string } | undefined;
  return row?.language ?? null;
}

function takeSlots(db: Database, count: number): number {
  const { value } = statementsOf(db).takeSlots.get(count) as { value: number };
  return value - count;
}

function noteChange(db: Database, document: number): void {
  const statements = statementsOf(db);
  const seq = Number(statements.noteChange.run(document).lastInsertRowid);
  if (seq % 1_000 === 0) statements.forgetChanges.run(seq - KEPT_CHANGES);
}

/** Terms of a title in order: marked, they come before all terms of texts. */
function titleEntries(title: ReadonlyMap<string, number>, slot: number): TermEntry[] {
  const terms = [...title.keys()];
  const slots = Int32Array.of(slot);
  return Array.from(orderOf(terms), (place) => {
    const term = terms[place]!;
    return { term: TITLE_MARK + term, postings: { slots, codes: Uint8Array.of(title.get(term)!) }, from: 0, count: 1 };
  });
}

function bodyEntries(postings: DocumentPostings): TermEntry[] {
  const { terms, starts } = postings;
  return Array.from(orderOf(terms), (place) => {
    const from = starts[place]!;
    return { term: terms[place]!, postings, from, count: starts[place + 1]! - from };
  });
}

function noteChanges(db: Database, refs: string): void {
  const statements = statementsOf(db);
  const { lastInsertRowid } = statements.noteChanges.run(refs);
  statements.forgetChanges.run(Number(lastInsertRowid) - KEPT_CHANGES);
}

function writeSegment(db: Database, first: number, span: number, entries: readonly TermEntry[]): void {
  const statements = statementsOf(db);
  const data = encodeSegment(entries, span, BLOB_BYTES);
  if (data?.length === 0) return;
  const values = { state: 'live', first, end: first + span, slots: span, bytes: data?.length ?? 0, sources: null, data };
  const segment = Number(statements.addSegment.run(values).lastInsertRowid);
  if (data === null) {
    const writer = createTermWriter(db, segment, span);
    for (const { term, postings, from, count } of entries) {
      const name = Buffer.from(term);
      writer.put(name, 0, name.length, postings, from, count);
    }
    writer.flush();
    statements.finishLarge.run(writer.bytes(), writer.filter.build(), segment);
  }
  statements.bump.run('segments');
}

function encodeLayout(analysed: AnalysedDocument, chunkRefs: readonly number[]): Buffer {
  const bytes = Buffer.allocUnsafe(chunkRefs.length * 30);
  let at = 0;
  let [ref, page, position] = [0, 0, 0];
  const zigzag = (value: number): number => (value < 0 ? -value * 2 - 1 : value * 2);
  analysed.chunks.forEach((chunk, i) => {
    at = writeWide(bytes, at, zigzag(chunkRefs[i]! - ref));
    at = writeVarint(bytes, at, zigzag((chunk.page ?? 0) - page));
    at = writeVarint(bytes, at, zigzag(chunk.position - position));
    [ref, page, position] = [chunkRefs[i]!, chunk.page ?? 0, chunk.position];
  });
  return Buffer.from(bytes.subarray(0, at));
}

/** Varint for numbers beyond 32 bits. */
function writeWide(bytes: Uint8Array, at: number, value: number): number {
  let rest = value;
  while (rest > 127) {
    bytes[at++] = (rest % 128) | 128;
    rest = Math.floor(rest / 128);
  }
  bytes[at++] = rest;
  return at;
}
