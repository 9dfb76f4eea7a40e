/**
 * Words that analysis has read, and the terms they give. Words of a language come again and again (Zipf); reading one takes
 * a hundred times as long as looking it up. Surfaces are looked up where they stand in a text, without making strings of
 * them, in a memory of a fixed size: 64 bytes a surface, so that a look-up touches one line of the processor's cache.
 */
import { termsOfWord } from './terms.ts';
import { emitSurface, isPlainWord } from './tokens.ts';

/** A surface may be in one of this many places; the ones not asked for lately make room. */
const WAYS = 4;
const SETS = 1 << 16;
/** UTF-16 units of the longest surface that is remembered. */
const LONGEST = 24;
/** A record, in 32-bit numbers: hash; tag (language, length, asked for lately); term, or SEVERAL; words; units two by two. */
const RECORD = 16;
const [TAG, TERM, WORDS, UNITS] = [1, 2, 3, 4];
const SEVERAL = -1;
/** A vocabulary with more terms than this is left for an empty one. */
const MANY_TERMS = 300_000;

/** What a surface says. */
export interface Reading {
  /** Number of its only term, or -1: look into `terms`. */
  term: number;
  /** Numbers of its terms in the order of its tokens; one that two tokens give is there twice. */
  terms: readonly number[];
  /** How many words it counts as. */
  words: number;
}

const NONE: readonly number[] = [];

export class Vocabulary {
  /** Terms by number. */
  readonly terms: string[] = [];
  private readonly numbers = new Map<string, number>();
  private readonly languages = new Map<string, number>();
  private readonly records = new Int32Array(SETS * WAYS * RECORD);
  private readonly several: (readonly number[])[] = [];
  /** What `read` answers: one object for all, good until the next call. */
  private readonly reading: Reading = { term: SEVERAL, terms: NONE, words: 0 };

  isFull(): boolean {
    return this.terms.length > MANY_TERMS;
  }

  numberOf(term: string): number {
    let number = this.numbers.get(term);
    if (number === undefined) {
      number = this.terms.length;
      this.numbers.set(term, number);
      this.terms.push(term);
    }
    return number;
  }

  /** A number for a language, small and never 0. */
  numberOfLanguage(language: string): number {
    let number = this.languages.get(language);
    if (number === undefined) this.languages.set(language, (number = this.languages.size + 1));
    return number;
  }

  /** Reads a part of a normalised text that `eachSurface` cut. The answer is good until the next call. */
  read(text: string, start: number, end: number, language: string, languageNumber: number): Reading {
    const { records, reading } = this;
    const length = end - start;
    if (length > LONGEST) return this.readAnew(text.slice(start, end), language);
    const size = (length + 1) >> 1;
    let hash = Math.imul(languageNumber, 0x9e3779b1);
    for (let i = 0; i < size; i++) {
      const pair = pairAt(text, start + i * 2, end);
      pairs[i] = pair;
      hash = Math.imul(hash ^ pair, 0x01000193);
      hash ^= hash >>> 15;
    }
    // Two times the number, so that the lowest bit can say whether it was asked for.
    const tag = ((languageNumber << 5) | length) << 1;
    const set = (hash & (SETS - 1)) * WAYS * RECORD;
    for (let at = set; at < set + WAYS * RECORD; at += RECORD) {
      if (records[at] !== hash || (records[at + TAG]! & ~1) !== tag || !this.isAt(at, size)) continue;
      records[at + TAG] = tag | 1;
      reading.term = records[at + TERM]!;
      reading.words = records[at + WORDS]!;
      if (reading.term === SEVERAL) reading.terms = this.several[at / RECORD]!;
      return reading;
    }
    // A part of a text keeps all of the text in memory: what is remembered is a copy.
    this.readAnew(`${text.slice(start, end)} `.slice(0, -1), language);
    const at = this.makeRoom(set);
    records[at] = hash;
    records[at + TAG] = tag;
    records[at + TERM] = reading.term;
    records[at + WORDS] = reading.words;
    for (let i = 0; i < size; i++) records[at + UNITS + i] = pairs[i]!;
    if (reading.term === SEVERAL) this.several[at / RECORD] = reading.terms;
    return reading;
  }

  private isAt(at: number, size: number): boolean {
    for (let i = 0; i < size; i++) if (this.records[at + UNITS + i] !== pairs[i]) return false;
    return true;
  }

  private makeRoom(set: number): number {
    const { records } = this;
    for (let at = set; at < set + WAYS * RECORD; at += RECORD) if ((records[at + TAG]! & 1) === 0) return at;
    for (let at = set; at < set + WAYS * RECORD; at += RECORD) records[at + TAG]! &= ~1;
    return set;
  }

  private readAnew(surface: string, language: string): Reading {
    const { reading } = this;
    let found: readonly string[];
    reading.words = 1;
    // Most of what is new: a plain word.
    if (surface.length <= LONGEST && isPlainWord(surface)) found = termsOfWord(surface.toLowerCase(), language);
    else {
      const terms: string[] = [];
      reading.words = 0;
      emitSurface(surface, (token) => {
        if (!token.spelling) reading.words++;
        if (token.kind !== 'word') terms.push(token.text);
        else terms.push(...termsOfWord(token.text, language));
      });
      found = terms;
    }
    reading.term = found.length === 1 ? this.numberOf(found[0]!) : SEVERAL;
    reading.terms = found.length === 1 ? NONE : found.map((term) => this.numberOf(term));
    return reading;
  }
}

/** Capitals of ASCII say nothing to terms. */
const lowered = (unit: number): number => (unit >= 65 && unit <= 90 ? unit + 32 : unit);

/** Two units as one number; behind the end is nothing. */
function pairAt(text: string, at: number, end: number): number {
  const first = lowered(text.charCodeAt(at));
  return at + 1 < end ? first | (lowered(text.charCodeAt(at + 1)) << 16) : first;
}

/** The surface being looked up. */
const pairs = new Int32Array(LONGEST / 2);

let current: Vocabulary | null = null;

/** The process's vocabulary; a new one when it has become large. */
export function openVocabulary(): Vocabulary {
  if (current === null || current.isFull()) current = new Vocabulary();
  return current;
}
