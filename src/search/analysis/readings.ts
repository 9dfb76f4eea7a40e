/**
 * What surfaces say: their terms, remembered. Words of a language come again and again (Zipf), and reading one takes a
 * hundred times as long as looking it up. The memory has a fixed size and looks words up where they stand in the text,
 * without making strings of them.
 */
import { termsOfWord } from './terms.ts';
import { emitSurface, isPlainWord } from './tokens.ts';

/** A surface read in a language. */
export interface Reading {
  /** Terms in the order of its tokens; one that two tokens give is there twice. */
  terms: readonly string[];
  /** How many words it counts as. */
  words: number;
  /** For `DocumentTerms`: the document it was met in last, and where that one keeps the only term. */
  document: number;
  at: number;
}

/** A word may be in one of this many places; the ones not asked for lately make room. */
const WAYS = 4;
const SETS = 1 << 15;
/** UTF-16 units of the longest surface that is remembered. */
const LONGEST = 24;

const hashes = new Int32Array(SETS * WAYS);
/** Language and length; 0 is a free place. */
const tags = new Uint16Array(SETS * WAYS);
const units = new Uint16Array(SETS * WAYS * LONGEST);
const used = new Uint8Array(SETS * WAYS);
const readings: Reading[] = [];

const numbers = new Map<string, number>();

/** A number for a language, small and never 0. */
export function numberOf(language: string): number {
  let number = numbers.get(language);
  if (number === undefined) numbers.set(language, (number = numbers.size + 1));
  return number;
}

/** The reading of a part of a normalised text that `eachSurface` cut; `number` is the language's. */
export function readingOf(text: string, start: number, end: number, language: string, number: number): Reading {
  const length = end - start;
  if (length > LONGEST) return read(text.slice(start, end), language);
  let hash = Math.imul(number, 0x9e3779b1);
  for (let i = start; i < end; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash ^= hash >>> 15;
  const tag = number * 32 + length;
  const set = (hash & (SETS - 1)) * WAYS;
  for (let place = set; place < set + WAYS; place++) {
    if (hashes[place] === hash && tags[place] === tag && isAt(place, text, start, length)) {
      used[place] = 1;
      return readings[place]!;
    }
  }
  // A part of a text keeps all of the text in memory: what is remembered is a copy.
  const reading = read(`${text.slice(start, end)} `.slice(0, -1), language);
  const place = makeRoom(set);
  hashes[place] = hash;
  tags[place] = tag;
  for (let i = 0; i < length; i++) units[place * LONGEST + i] = text.charCodeAt(start + i);
  readings[place] = reading;
  return reading;
}

function isAt(place: number, text: string, start: number, length: number): boolean {
  for (let i = 0, at = place * LONGEST; i < length; i++) if (units[at + i] !== text.charCodeAt(start + i)) return false;
  return true;
}

function makeRoom(set: number): number {
  for (let place = set; place < set + WAYS; place++) if (used[place] === 0) return place;
  used.fill(0, set, set + WAYS);
  return set;
}

function read(surface: string, language: string): Reading {
  // Most of what is new: a plain word.
  if (surface.length <= LONGEST && isPlainWord(surface)) return { terms: termsOfWord(surface.toLowerCase(), language), words: 1, document: 0, at: 0 };
  const terms: string[] = [];
  let words = 0;
  emitSurface(surface, (token) => {
    if (!token.spelling) words++;
    if (token.kind !== 'word') terms.push(token.text);
    else terms.push(...termsOfWord(token.text, language));
  });
  return { terms, words, document: 0, at: 0 };
}
