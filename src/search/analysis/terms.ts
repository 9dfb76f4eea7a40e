/** From tokens to the terms the index stores: stems by language beside exact forms. Index and query must agree on this file. */
import { createRequire } from 'node:module';
import { foldWord, normaliseText } from './fold.ts';
import { stemmerNameOf } from './languages.ts';
import { eachToken } from './tokens.ts';

interface Stemmer {
  stem(word: string): string;
}
const snowball = createRequire(import.meta.url)('snowball-stemmers') as { newStemmer(name: string): Stemmer };

/** Stemming costs twenty times a look-up. Of more words than this a language keeps those asked for lately. */
const CACHE_WORDS = 40_000;

interface StemCache {
  stemmer: Stemmer | null;
  terms: Map<string, readonly string[]>;
  /** The generation before: what is asked for again moves on. */
  older: Map<string, readonly string[]>;
}
const caches = new Map<string, StemCache>();

function openCache(language: string): StemCache {
  const name = stemmerNameOf(language);
  const cache = { stemmer: name === null ? null : snowball.newStemmer(name), terms: new Map(), older: new Map() };
  caches.set(language, cache);
  return cache;
}

/**
 * The terms of one lower-cased word (diacritics kept) in a language: its stem with and without diacritics (they differ where
 * the stemmer needs the accent), and the exact form where it has diacritics, so that `résumé` prefers `résumé` to `resume`.
 * The first term is the one that counts; the others are spellings of it.
 */
export function termsOfWord(word: string, documentLanguage: string): readonly string[] {
  const language = languageOfWord(word, documentLanguage);
  const cache = caches.get(language) ?? openCache(language);
  const known = cache.terms.get(word);
  if (known !== undefined) return known;
  const older = cache.older.get(word);
  if (older !== undefined) return keep(cache, word, older);
  const plain = foldWord(word);
  const terms = [foldWord(stemOf(cache, word)), stemOf(cache, plain)];
  if (plain !== word) terms.push(word);
  if (language === 'ar') terms.push(...withoutArabicPrefix(plain));
  return keep(cache, word, [...new Set(terms)]);
}

function keep(cache: StemCache, word: string, terms: readonly string[]): readonly string[] {
  if (cache.terms.size >= CACHE_WORDS) [cache.older, cache.terms] = [cache.terms, new Map()];
  cache.terms.set(word, terms);
  return terms;
}

/** A word in a script that its document's language does not use is foreign: Latin words there are taken for English. */
function languageOfWord(word: string, language: string): string {
  const letter = word.charCodeAt(0);
  if (letter < 0x250 && language === 'en') return language;
  const script = scriptOf.get(language) ?? 'latin';
  if (letter < 0x250) return script === 'latin' ? language : 'en';
  if (letter >= 0x400 && letter < 0x530) return script === 'cyrillic' ? language : 'ru';
  if (letter >= 0x600 && letter < 0x780) return script === 'arabic' ? language : 'ar';
  return language;
}

const scriptOf = new Map<string, string>([
  ['ru', 'cyrillic'], ['uk', 'cyrillic'], ['ar', 'arabic'], ['fa', 'arabic'],
  ['he', 'other'], ['el', 'other'], ['ja', 'other'], ['ko', 'other'], ['th', 'other'], ['zh', 'other'],
]);

function stemOf(cache: StemCache, word: string): string {
  if (cache.stemmer === null || word.length < 3 || word.length > 40) return word;
  const stem = cache.stemmer.stem(word);
  // Cut too short, the Turkish and Hungarian stemmers among others, a stem says nothing.
  return stem.length < 2 ? word : stem;
}

/** The article and the conjunction before it are written onto the word: والطاقة, الطاقة and طاقة are one. */
function withoutArabicPrefix(word: string): string[] {
  const bare = /^(?:[وفبك]?ال|لل)(.{2,})$/u.exec(word)?.[1];
  return bare === undefined ? [] : [bare];
}

/** The text's terms with their counts, added into `terms` as `AnalysedChunk` encodes them; answers the number of words. */
export function countTerms(text: string, language: string, field: 'body' | 'heading', terms: Map<string, number>): number {
  let words = 0;
  const add = (term: string): void => {
    const code = terms.get(term) ?? 0;
    if (field === 'body') {
      if ((code & 63) < 63) terms.set(term, code + 1);
    } else if (code >> 6 < 3) terms.set(term, code + 64);
  };
  eachToken(normaliseText(text), (token) => {
    if (!token.spelling) words++;
    if (token.kind !== 'word') return add(token.text);
    for (const term of termsOfWord(token.text, language)) add(term);
  });
  return words;
}
