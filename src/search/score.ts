/** BM25F over the matches of a query's words, inside the scope, without scoring what cannot reach the answer. */
import { nthLargest } from './nth-largest.ts';
import type { SearchReader } from '../storage/sqlite/search-reader.ts';
import { eachDense, isMatched, type DenseList, type Matches } from './matches.ts';
import { countBits, hasBit, type ScopeMask, type SlotTable } from './slot-table.ts';

/** One setting for all libraries; how it was found is in docs/search.md. */
export const RANKING = {
  /** How soon more of the same word stops to count. */
  k1: 1.4,
  /** How much an excerpt's length counts. */
  b: 0.75,
  /** Weight of a word in title or file name, in a heading, in the name of the folder, beside one in the text. */
  title: 3,
  heading: 1.5,
  folder: 0.2,
};

export interface WeightedMatches {
  weight: number;
  matches: Matches;
}

/** Arrays of one entry a slot that searches of a thread use in turn; all zero between searches. */
export class ScoreBoard {
  score = new Float64Array(0);
  frequency = new Float32Array(0);
  scratch = new Uint32Array(0);

  fit(slots: number): void {
    if (this.score.length >= slots) return;
    this.score = new Float64Array(slots);
    this.frequency = new Float32Array(slots);
    this.scratch = new Uint32Array((slots + 31) >> 5);
  }
}

export interface ScoreInput {
  reader: SearchReader;
  table: SlotTable;
  mask: ScopeMask;
  board: ScoreBoard;
  /** Only these excerpts, when phrases narrow the scope further. Defaults to the mask. */
  allowed?: Uint32Array;
  /** How many of the best are wanted. */
  depth: number;
  /** Throws when the search was given up. */
  check: () => void;
}

export interface Scored {
  slots: number[];
  scores: number[];
  /** Excerpts that had to be scored: not all that have a word, where a shortcut was taken. */
  touched: number;
}

/** Inverse document frequency inside the scope; never negative. */
export const rarity = (found: number, excerpts: number): number => Math.log(1 + (excerpts - Math.min(found, excerpts) + 0.5) / (found + 0.5));

/** A list this short is scored at once: looking for a shortcut costs more. */
const SHORTCUT_COST = 4_000;

/** The best excerpts for weighted words. Unordered among equals: callers sort. Exact: shortcuts never change what is best. */
export function scoreMatches(input: ScoreInput, words: readonly WeightedMatches[]): Scored {
  const { board, mask, table } = input;
  board.fit(table.slotDocument.length);
  const ordered = words
    .map((word, place) => ({ ...word, place, bound: word.weight * rarity(word.matches.found, mask.excerpts) * (RANKING.k1 + 1) }))
    .filter((word) => isMatched(word.matches))
    .toSorted((a, b) => b.bound - a.bound || a.place - b.place);
  const bounds = ordered.map((word) => word.bound);
  const restAfter = bounds.map((_, i) => bounds.slice(i).reduce((sum, bound) => sum + bound, 0));
  const touched: number[] = [];
  let candidates: Int32Array | null = null;
  try {
    ordered.forEach((word, i) => {
      input.check();
      const rest = restAfter[i]!;
      if (word.matches.cost > SHORTCUT_COST && (candidates !== null || touched.length >= input.depth)) {
        candidates = narrow(board, candidates ?? touched, input.depth, rest, candidates !== null);
      }
      const idf = rarity(word.matches.found, mask.excerpts) * word.weight;
      if (candidates === null) scoreAll(input, word.matches, idf, touched);
      else scoreSome(input, word.matches, idf, candidates);
    });
    const from: ArrayLike<number> = candidates ?? touched;
    const slots = pickBest(board, from, input.depth);
    return { slots, scores: slots.map((slot) => board.score[slot]!), touched: touched.length };
  } finally {
    for (const slot of touched) board.score[slot] = 0;
  }
}

/**
 * Once the words still to come cannot lift an untouched excerpt into the best `depth`, only touched ones that can get there
 * matter: answers those in order of slot, or null while others might still.
 */
function narrow(board: ScoreBoard, slots: ArrayLike<number>, depth: number, rest: number, narrowed: boolean): Int32Array | null {
  const threshold = nthBest(board, slots, depth);
  // A hair of room for the rounding of sums.
  const reach = rest * (1 + 1e-9) + 1e-12;
  if (!narrowed && threshold <= reach) return null;
  const kept: number[] = [];
  for (let i = 0; i < slots.length; i++) if (board.score[slots[i]!]! + reach >= threshold) kept.push(slots[i]!);
  return Int32Array.from(kept).sort();
}

/** The n-th largest score, by quickselect. */
function nthBest(board: ScoreBoard, slots: ArrayLike<number>, n: number): number {
  const values = new Float64Array(slots.length);
  for (let i = 0; i < slots.length; i++) values[i] = board.score[slots[i]!]!;
  if (values.length <= n) return values.length < n ? 0 : values.reduce((least, value) => Math.min(least, value), Infinity);
  return nthLargest(values, n);
}

/** Everything at or above the depth-th score: ties at the edge are for the caller to break. */
function pickBest(board: ScoreBoard, slots: ArrayLike<number>, depth: number): number[] {
  const threshold = slots.length > depth ? nthBest(board, slots, depth) : 0;
  const best: number[] = [];
  for (let i = 0; i < slots.length; i++) if (board.score[slots[i]!]! >= threshold) best.push(slots[i]!);
  return best;
}

/** Adds a word to every excerpt that has it. */
function scoreAll(input: ScoreInput, matches: Matches, idf: number, touched: number[]): void {
  const { board, mask, table } = input;
  const { frequency, score } = board;
  const allowed = input.allowed ?? mask.words;
  const narrowed = input.allowed !== undefined;
  const mine: number[] = [];
  const average = mask.excerpts === 0 ? 1 : Math.max(1, mask.length / mask.excerpts);
  const perWord = RANKING.b / average;
  const lengths = table.slotLength;
  const put = (slot: number, code: number, factor: number): void => {
    const inBody = (code & 63) / (1 - RANKING.b + perWord * lengths[slot]!);
    const value = factor * (inBody + RANKING.heading * (code >> 6));
    const before = frequency[slot]!;
    if (before === 0) mine.push(slot);
    if (value > before) frequency[slot] = value;
  };
  for (const list of matches.lists) {
    const { slots, codes, factor } = list;
    for (let i = 0; i < slots.length; i++) {
      if (!narrowed || hasBit(allowed, slots[i]!)) put(slots[i]!, codes === null ? 1 : codes[i]!, factor);
    }
  }
  for (const dense of matches.dense) {
    const codes = input.reader.codesOf(dense.segment, dense.term);
    eachDense(dense, allowed, (slot, place) => put(slot, codes.length === 0 ? 1 : codes[place]!, dense.factor));
  }
  const add = (first: number, count: number, value: number): void => {
    for (let slot = first; slot < first + count; slot++) {
      if (!hasBit(allowed, slot)) continue;
      if (frequency[slot] === 0) mine.push(slot);
      frequency[slot]! += value;
    }
  };
  for (const { document, weight } of matches.titles) add(table.first[document]!, table.count[document]!, RANKING.title * weight);
  if (matches.folders.size > 0) {
    for (let document = 0; document < table.refs.length; document++) {
      if (mask.documents[document] === 1 && matches.folders.has(table.folder[document]!)) {
        add(table.first[document]!, table.count[document]!, RANKING.folder);
      }
    }
  }
  for (const slot of mine) {
    const value = frequency[slot]!;
    frequency[slot] = 0;
    if (score[slot] === 0) touched.push(slot);
    score[slot]! += saturate(idf, value);
  }
}

const saturate = (idf: number, value: number): number => (idf * (RANKING.k1 + 1) * value) / (RANKING.k1 + value);

/** Adds a word to some excerpts only, given in order of slot. */
function scoreSome(input: ScoreInput, matches: Matches, idf: number, slots: Int32Array): void {
  const frequency = frequenciesOf(input, matches, slots);
  for (let i = 0; i < slots.length; i++) if (frequency[i]! > 0) input.board.score[slots[i]!]! += saturate(idf, frequency[i]!);
}

/** The weighted frequency of a word in each of some excerpts, given in order of slot. */
export function frequenciesOf(input: ScoreInput, matches: Matches, slots: Int32Array): Float32Array {
  const { mask, table } = input;
  const result = new Float32Array(slots.length);
  const average = mask.excerpts === 0 ? 1 : Math.max(1, mask.length / mask.excerpts);
  const perWord = RANKING.b / average;
  const put = (i: number, code: number, factor: number): void => {
    const inBody = (code & 63) / (1 - RANKING.b + perWord * table.slotLength[slots[i]!]!);
    const value = factor * (inBody + RANKING.heading * (code >> 6));
    if (value > result[i]!) result[i] = value;
  };
  for (const list of matches.lists) {
    if (list.slots.length === 0) continue;
    let at = lowerBound(list.slots, slots[0] ?? 0, 0);
    for (let i = 0; i < slots.length && at < list.slots.length; i++) {
      at = lowerBound(list.slots, slots[i]!, at);
      if (list.slots[at] === slots[i]) put(i, list.codes === null ? 1 : list.codes[at]!, list.factor);
    }
  }
  for (const dense of matches.dense) scoreDense(input, dense, slots, put);
  if (matches.titles.length === 0 && matches.folders.size === 0) return result;
  const titles = new Map(matches.titles.map(({ document, weight }) => [document, weight]));
  for (let i = 0; i < slots.length; i++) {
    const document = table.slotDocument[slots[i]!]!;
    const title = titles.get(document);
    if (title !== undefined) result[i]! += RANKING.title * title;
    if (matches.folders.size > 0 && matches.folders.has(table.folder[document]!)) result[i]! += RANKING.folder;
  }
  return result;
}

function scoreDense(input: ScoreInput, dense: DenseList, slots: Int32Array, put: (i: number, code: number, factor: number) => void): void {
  const { first, end } = dense.segment;
  let i = lowerBound(slots, first, 0);
  if (i >= slots.length || slots[i]! >= end) return;
  const codes = input.reader.codesOf(dense.segment, dense.term);
  // The bits before a slot say which of the codes is its own.
  let [word, before] = [0, 0];
  for (; i < slots.length && slots[i]! < end; i++) {
    const bit = slots[i]! - first;
    for (; word < bit >> 5; word++) before += countBits(dense.words[word]!);
    const bits = dense.words[word]!;
    if (((bits >>> (bit & 31)) & 1) === 0) continue;
    const place = before + countBits(bits & ((1 << (bit & 31)) - 1));
    put(i, codes.length === 0 ? 1 : codes[place]!, dense.factor);
  }
}

function lowerBound(values: Int32Array, value: number, from: number): number {
  // Gallop: candidates are few and lists long, or the other way round.
  let step = 1;
  let high = from;
  while (high < values.length && values[high]! < value) {
    from = high + 1;
    high += step;
    step *= 2;
  }
  high = Math.min(high, values.length);
  while (from < high) {
    const middle = (from + high) >> 1;
    if (values[middle]! < value) from = middle + 1;
    else high = middle;
  }
  return from;
}
