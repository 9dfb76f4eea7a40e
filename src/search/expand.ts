/**
 * Longer words and misspelt ones. Both draw only on terms that occur inside the scope: a word that only foreign documents
 * have can neither be suggested nor change which others are (trust.md P10).
 */
import { foldWord } from './analysis/fold.ts';
import { termsOfWord } from './analysis/terms.ts';
import { compareTerms } from '../storage/sqlite/search-postings.ts';
import type { SegmentInfo } from '../storage/sqlite/search-reader.ts';
import { TITLE_MARK } from '../storage/sqlite/search-writer.ts';
import { findMatches, type MatchSource } from './matches.ts';
import type { QueryWord } from './query.ts';
import { hasBit } from './slot-table.ts';

/** Longer words taken for one start, first in order of the alphabet. */
const MAX_LONGER = 48;
/** Words with the same first letters that a misspelt one is compared with, first in order of the alphabet. */
const MAX_COMPARED = 20_000;
const MAX_CORRECTIONS = 3;
/** Longer words are not taken for misspelt ones: each letter is some fifty words to look up. */
const MAX_MENDED_LETTERS = 40;

/** Terms inside the scope that start with a word's starts and are not the word's own. */
export function longerTerms(source: MatchSource, word: QueryWord, check: () => void): string[] {
  const candidates = new Set<string>();
  for (const start of word.starts.prefixes) {
    check();
    for (const term of termsFrom(source, start, MAX_LONGER + word.terms.size, check)) if (!word.terms.has(term)) candidates.add(term);
  }
  return [...candidates].toSorted(compareTerms).slice(0, MAX_LONGER);
}

/**
 * The first terms of texts and titles inside the scope that start so. Only those count: however many others there are, none is missed
 * for them. Many of them take time, which `check` bounds.
 */
function termsFrom(source: MatchSource, start: string, most: number, check: () => void): string[] {
  const { reader, table, mask } = source;
  const isInside = (slot: number): boolean => hasBit(mask.words, slot);
  // A slot of an earlier name belongs to nobody.
  const isTitle = (slot: number): boolean => {
    const document = table.slotDocument[slot]!;
    return document >= 0 && table.titleSlot[document] === slot && mask.documents[document] === 1;
  };
  const terms = new Set<string>();
  const bound = { most, check };
  for (const segment of table.segments) {
    // Of each segment the first ones are enough to have the first of all.
    if (anyBit(mask.words, segment)) for (const term of reader.termsFrom(segment, start, bound, isInside)) terms.add(term);
    // In titles only is in the scope as well.
    for (const term of reader.termsFrom(segment, TITLE_MARK + start, bound, isTitle)) terms.add(term.slice(1));
  }
  return terms.size > most ? [...terms].toSorted(compareTerms).slice(0, most) : [...terms];
}

/** Is any excerpt of a segment in the scope? */
function anyBit(words: Uint32Array, { first, end }: SegmentInfo): boolean {
  for (let slot = first; slot < end; slot++) {
    if ((slot & 31) === 0 && words[slot >> 5] === 0) slot += 31;
    else if (hasBit(words, slot)) return true;
  }
  return false;
}

/**
 * What a word without a match was probably meant to be: words one edit away, for long words two, that occur inside the
 * scope; the nearest and most frequent first.
 */
export function corrections(source: MatchSource, word: QueryWord, languages: readonly string[], check: () => void): string[] {
  const plain = foldWord(word.word);
  if (plain.length > MAX_MENDED_LETTERS) return [];
  const known = languages.length === 0 ? ['en'] : languages;
  const stems = [...new Set(known.map((language) => termsOfWord(plain, language)[0]!))];
  const tried = new Set<string>(word.terms.keys());
  const near = new Map<string, number>();
  // The index knows stems, so stems are what is mended: stemming each of some hundred edits would cost more than all else.
  for (const stem of stems) {
    for (const edited of editsOf(stem)) {
      if (tried.has(edited) || edited.length < 3) continue;
      tried.add(edited);
      if (isKnown(source, edited)) scoreCandidate(source, edited, 1, near);
    }
    check();
  }
  if (near.size === 0 && plain.length >= 8) {
    const starts = [...new Set(stems.map((stem) => stem.slice(0, 4)))];
    for (const start of starts) {
      check();
      for (const term of termsFrom(source, start, MAX_COMPARED, check)) {
        if (tried.has(term)) continue;
        tried.add(term);
        const forms = [...stems, plain.slice(0, term.length)];
        if (forms.some((form) => Math.abs(form.length - term.length) <= 2 && distance(form, term) <= 2)) scoreCandidate(source, term, 2, near);
      }
    }
  }
  const ordered = [...near].toSorted(([a, foundA], [b, foundB]) => foundB - foundA || (a < b ? -1 : 1));
  return ordered.slice(0, MAX_CORRECTIONS).map(([term]) => term);
}

/** Does any segment have the term, in or out of scope? Cheap: only what passes is looked at. */
function isKnown({ reader, table }: MatchSource, term: string): boolean {
  const inTitles = TITLE_MARK + term;
  return table.segments.some((segment) => reader.mayHave(segment, term) || reader.mayHave(segment, inTitles));
}

function scoreCandidate(source: MatchSource, term: string, edits: number, near: Map<string, number>): void {
  const { found, cost } = findMatches(source, { terms: new Map([[term, 1]]) });
  if (cost > 0) near.set(term, found / edits);
}

/** All words one edit away: a letter less, more, other, or two swapped. The first letter is believed unless it was swapped. */
export function editsOf(word: string): Set<string> {
  const letters = Array.from(word);
  const alphabet = alphabetOf(letters);
  const edits = new Set<string>();
  for (let i = 0; i < letters.length; i++) {
    const [before, after] = [letters.slice(0, i).join(''), letters.slice(i + 1).join('')];
    if (i > 0) edits.add(before + after);
    if (i > 0) for (const letter of alphabet) edits.add(before + letter + after);
    for (const letter of alphabet) edits.add(before + letters[i]! + letter + after);
    if (i + 1 < letters.length) edits.add(before + letters[i + 1]! + letters[i]! + letters.slice(i + 2).join(''));
  }
  edits.delete(word);
  return edits;
}

function alphabetOf(letters: readonly string[]): string[] {
  const code = letters[0]?.codePointAt(0) ?? 0;
  const range = (from: number, to: number): string[] => Array.from({ length: to - from + 1 }, (_, i) => String.fromCodePoint(from + i));
  if (code < 0x250) return range(0x61, 0x7a);
  if (code >= 0x370 && code < 0x400) return range(0x3b1, 0x3c9);
  if (code >= 0x400 && code < 0x530) return range(0x430, 0x44f);
  if (code >= 0x5d0 && code < 0x5eb) return range(0x5d0, 0x5ea);
  if (code >= 0x620 && code < 0x64b) return range(0x627, 0x64a);
  return [];
}

/** Damerau-Levenshtein distance (adjacent swaps count one), given up above 2. */
function distance(a: string, b: string): number {
  let [before, row]: [number[], number[]] = [[], Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    let least = i;
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let value = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + same);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) value = Math.min(value, before[j - 2]! + 1);
      next.push(value);
      least = Math.min(least, value);
    }
    if (least > 2) return 3;
    [before, row] = [row, next];
  }
  return row[b.length]!;
}
