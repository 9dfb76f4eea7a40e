/** From words to the terms the index stores: stems by language beside exact forms. Index and query must agree on this file. */
import { createRequire } from 'node:module';
import * as porter2 from 'porter2';
import { foldWord } from './fold.ts';
import { stemmerNameOf } from './languages.ts';

interface Stemmer {
  stem(word: string): string;
}
const snowball = createRequire(import.meta.url)('snowball-stemmers') as { newStemmer(name: string): Stemmer };
const stemmers = new Map<string, Stemmer | null>();

function stemmerOf(language: string): Stemmer | null {
  let stemmer = stemmers.get(language);
  if (stemmer === undefined) {
    const name = stemmerNameOf(language);
    // porter2 gives the stems of Snowball's English (terms.test.ts) in a tenth of the time.
    stemmer = name === null ? null : name === 'english' ? porter2 : snowball.newStemmer(name);
    stemmers.set(language, stemmer);
  }
  return stemmer;
}

/**
 * The terms of one lower-cased word (diacritics kept) in a language: its stem with and without diacritics (they differ where
 * the stemmer needs the accent), and the exact form where it has diacritics, so that `résumé` prefers `résumé` to `resume`.
 * The first term is the one that counts; the others are spellings of it. None is empty unless nothing but diacritics is in the word.
 */
export function termsOfWord(word: string, documentLanguage: string): readonly string[] {
  const language = languageOfWord(word, documentLanguage);
  const stemmer = stemmerOf(language);
  const plain = foldWord(word);
  const stem = stemOf(stemmer, word);
  const folded = foldWord(stem) || plain;
  if (plain === word && folded === stem && language !== 'ar') return [stem];
  const terms = [folded, plain === word ? stem : stemOf(stemmer, plain)];
  if (plain !== word) terms.push(word);
  if (language === 'ar') terms.push(...withoutArabicPrefix(plain));
  return [...new Set(terms)];
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

function stemOf(stemmer: Stemmer | null, word: string): string {
  if (stemmer === null || word.length < 3 || word.length > 40) return word;
  const stem = stemmer.stem(word);
  // Cut too short, the Turkish and Hungarian stemmers among others, a stem says nothing.
  return stem.length < 2 ? word : stem;
}

/** The article and the conjunction before it are written onto the word: والطاقة, الطاقة and طاقة are one. */
function withoutArabicPrefix(word: string): string[] {
  const bare = /^(?:[وفبك]?ال|لل)(.{2,})$/u.exec(word)?.[1];
  return bare === undefined ? [] : [bare];
}
