/** Where the terms of one query word occur inside the scope: posting lists decoded, filtered and counted. */
import { TITLE_MARK } from '../storage/sqlite/search-writer.ts';
import { bitmapWords, decodeSlots, isBitmap } from '../storage/sqlite/search-postings.ts';
import type { Postings, SearchReader, SegmentInfo } from '../storage/sqlite/search-reader.ts';
import type { QueryWord } from './query.ts';
import { countBits, hasBit, setRange, type ScopeMask, type SlotTable } from './slot-table.ts';

/** A list inside the scope: slots ascending. */
export interface ShortList {
  factor: number;
  slots: Int32Array;
  /** Null: every code is 1. */
  codes: Uint8Array | null;
}

/** A term so frequent in a segment that it is kept as bits; not yet filtered by scope. */
export interface DenseList {
  factor: number;
  segment: SegmentInfo;
  term: string;
  words: Uint32Array;
  /** Bits of it inside the scope. */
  inScope: number;
}

/** A document whose title has the term. */
export interface TitleMatch {
  document: number;
  weight: number;
}

export interface Matches {
  lists: ShortList[];
  dense: DenseList[];
  titles: TitleMatch[];
  /** Folders inside the scope whose names have it. */
  folders: ReadonlySet<number>;
  /** Excerpts that have it in body or heading, and one more for each document that has it in its title only. */
  found: number;
  /** Postings to go through when scoring: what decides whether skipping pays. */
  cost: number;
  /** Terms that matched. */
  terms: string[];
}

export interface MatchSource {
  reader: SearchReader;
  table: SlotTable;
  mask: ScopeMask;
  /** Scratch of one bit a slot, all zero between uses. */
  scratch: Uint32Array;
}

/** Does anything in scope have the word: a text, a title, or the name of a folder? */
export const isMatched = ({ cost, folders }: Matches): boolean => cost > 0 || folders.size > 0;

/** Finds a word's terms inside the scope. */
export function findMatches(source: MatchSource, word: Pick<QueryWord, 'terms'>): Matches {
  const matches: Matches = { lists: [], dense: [], titles: [], folders: new Set(), found: 0, cost: 0, terms: [] };
  const titles = new Map<number, number>();
  const folders = new Set<number>();
  let termsFound = 0;
  for (const [term, factor] of word.terms) {
    const before = matches.cost;
    const titlesBefore = titles.size;
    for (const segment of source.table.segments) {
      const postings = source.reader.postings(segment, term);
      if (postings !== null) addPostings(source, matches, segment, term, factor, postings);
      const inTitles = source.reader.postings(segment, TITLE_MARK + term);
      if (inTitles !== null) addTitles(source, titles, segment, factor, inTitles);
    }
    for (const folder of source.table.foldersNamed(term, source.mask)) folders.add(folder);
    if (matches.cost > before) termsFound++;
    if (matches.cost > before || titles.size > titlesBefore) matches.terms.push(term);
  }
  matches.folders = folders;
  matches.titles = [...titles].map(([document, weight]) => ({ document, weight })).toSorted((a, b) => a.document - b.document);
  for (const { document } of matches.titles) matches.cost += source.table.count[document]!;
  matches.found = countFound(source, matches, termsFound);
  // A folder's name says the same of all its excerpts: as a word it is as common as they are many.
  if (matches.found === 0 && folders.size > 0) matches.found = countInFolders(source, folders);
  return matches;
}

function addPostings(source: MatchSource, into: Matches, segment: SegmentInfo, term: string, factor: number, postings: Postings): void {
  if (isBitmap(postings.slots)) {
    const words = bitmapWords(postings.slots);
    const inScope = countInScope(words, segment.first, source.mask.words);
    if (inScope > 0) into.dense.push({ factor, segment, term, words, inScope });
    into.cost += inScope;
    return;
  }
  const decoded = new Int32Array(postings.count);
  decodeSlots(postings.slots, 0, postings.count, segment.first, decoded);
  const mask = source.mask.words;
  let kept = 0;
  for (let i = 0; i < decoded.length; i++) if (hasBit(mask, decoded[i]!)) kept++;
  if (kept === 0) return;
  const codes = postings.codes ?? source.reader.codesOf(segment, term);
  const plain = codes.length === 0;
  const list: ShortList = { factor, slots: new Int32Array(kept), codes: plain ? null : new Uint8Array(kept) };
  let n = 0;
  for (let i = 0; i < decoded.length; i++) {
    const slot = decoded[i]!;
    if (!hasBit(mask, slot)) continue;
    list.slots[n] = slot;
    if (list.codes !== null) list.codes[n] = codes[i]!;
    n++;
  }
  into.lists.push(list);
  into.cost += kept;
}

function addTitles(source: MatchSource, titles: Map<number, number>, segment: SegmentInfo, factor: number, postings: Postings): void {
  const slots = new Int32Array(postings.count);
  decodeSlots(postings.slots, 0, postings.count, segment.first, slots);
  const { slotDocument, titleSlot } = source.table;
  for (const slot of slots) {
    const document = slotDocument[slot]!;
    // A slot of an earlier name belongs to nobody.
    if (document < 0 || titleSlot[document] !== slot || source.mask.documents[document] !== 1) continue;
    titles.set(document, Math.max(titles.get(document) ?? 0, factor));
  }
}

function countInScope(words: Uint32Array, base: number, mask: Uint32Array): number {
  const shift = base & 31;
  const from = base >> 5;
  let count = 0;
  for (let w = 0; w < words.length; w++) {
    if (words[w] !== 0) count += countBits(words[w]! & maskWord(mask, from + w, shift));
  }
  return count;
}

/** 32 bits of the mask from a bit that is not at the start of a word. */
export function maskWord(mask: Uint32Array, word: number, shift: number): number {
  const low = mask[word] ?? 0;
  return shift === 0 ? low : (low >>> shift) | ((mask[word + 1] ?? 0) << (32 - shift));
}

function countFound(source: MatchSource, matches: Matches, termsFound: number): number {
  let found: number;
  const needsBits = termsFound > 1 || matches.titles.length > 0;
  if (!needsBits) {
    found = 0;
    for (const list of matches.lists) found += list.slots.length;
    for (const dense of matches.dense) found += dense.inScope;
    return found;
  }
  markBody(source, matches, source.scratch);
  found = 0;
  const { scratch, table } = source;
  for (const { document } of matches.titles) {
    if (!anyBit(scratch, table.first[document]!, table.count[document]!)) found++;
  }
  for (let w = 0; w < scratch.length; w++) {
    if (scratch[w] === 0) continue;
    found += countBits(scratch[w]!);
    scratch[w] = 0;
  }
  return found;
}

function countInFolders({ table, mask }: MatchSource, folders: ReadonlySet<number>): number {
  let excerpts = 0;
  for (let document = 0; document < table.refs.length; document++) {
    if (mask.documents[document] === 1 && folders.has(table.folder[document]!)) excerpts += table.count[document]!;
  }
  return excerpts;
}

function anyBit(words: Uint32Array, first: number, count: number): boolean {
  for (let slot = first; slot < first + count; slot++) if (hasBit(words, slot)) return true;
  return false;
}

function markBody(source: MatchSource, matches: Matches, bits: Uint32Array): void {
  for (const list of matches.lists) for (const slot of list.slots) bits[slot >> 5]! |= 1 << (slot & 31);
  for (const dense of matches.dense) markDense(dense, source.mask.words, bits);
}

/** The slots of a dense list inside `mask`, 32 at a time. */
function markDense(dense: DenseList, mask: Uint32Array, bits: Uint32Array): void {
  const shift = dense.segment.first & 31;
  const from = dense.segment.first >> 5;
  for (let w = 0; w < dense.words.length; w++) {
    const word = dense.words[w]!;
    if (word === 0) continue;
    const at = from + w;
    bits[at]! |= (word << shift) & (mask[at] ?? 0);
    if (shift > 0) bits[at + 1]! |= (word >>> (32 - shift)) & (mask[at + 1] ?? 0);
  }
}

/** Every excerpt in scope that has the word anywhere, titles included, as bits. */
export function markAll(source: MatchSource, matches: Matches, bits: Uint32Array): void {
  markBody(source, matches, bits);
  for (const { document } of matches.titles) setRange(bits, source.table.first[document]!, source.table.count[document]!);
}

/** Every excerpt in scope that lies in a folder whose name has the word, as bits. */
export function markFolders({ table, mask }: MatchSource, { folders }: Matches, bits: Uint32Array): void {
  if (folders.size === 0) return;
  for (let document = 0; document < table.refs.length; document++) {
    const isNamed = mask.documents[document] === 1 && folders.has(table.folder[document]!);
    if (isNamed) setRange(bits, table.first[document]!, table.count[document]!);
  }
}

/** Calls `each` for the slots of a dense list inside `mask`, with their place in the list of codes. */
export function eachDense(dense: DenseList, mask: Uint32Array, each: (slot: number, place: number) => void): void {
  const base = dense.segment.first;
  const shift = base & 31;
  const from = base >> 5;
  let place = 0;
  for (let w = 0; w < dense.words.length; w++) {
    const all = dense.words[w]!;
    if (all === 0) continue;
    let word = all & maskWord(mask, from + w, shift);
    while (word !== 0) {
      const bit = 31 - Math.clz32(word & -word);
      each(base + (w << 5) + bit, place + (bit === 0 ? 0 : countBits(all & (0xffffffff >>> (32 - bit)))));
      word &= word - 1;
    }
    place += countBits(all);
  }
}
