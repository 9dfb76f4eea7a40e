/** A query understood without a model: words, identifiers with their parts, quoted phrases. Nothing in it is syntax. */
import { foldForPhrase, foldWord, normaliseText } from './analysis/fold.ts';
import { COMPOUNDING, hasFunctionWords, isFunctionWord } from './analysis/languages.ts';
import { termsOfWord } from './analysis/terms.ts';
import { eachToken, type Token } from './analysis/tokens.ts';

export type WordKind = 'word' | 'stop' | 'identifier' | 'part' | 'bigram' | 'corrected';

/** One word of the query and all the terms that stand for it. */
export interface QueryWord {
  word: string;
  kind: WordKind;
  weight: number;
  /** Term → how much a match of it counts beside the word itself. */
  terms: Map<string, number>;
  /** Longer words with one of these starts count too: always, only when nothing else matches, or never. */
  starts: { prefixes: string[]; when: 'always' | 'unmatched' | 'never'; factor: number };
  /** May be taken for a misspelling when nothing in scope matches. */
  correctable: boolean;
  /** Pieces of this identifier weigh less once it is found as a whole. */
  wholeOf: number | null;
  /**
   * Of function words: the languages of the scope in which it is none (`war` in English, beside German). Where those are what has it,
   * it is a word like others (`isOrdinary`).
   */
  ordinaryIn: readonly string[];
  /** Numbers of the quoted phrases it stood in. */
  phrases: number[];
  /** Only prefers what is written with its diacritics: the word itself stands before it. */
  exactForm: boolean;
}

export interface Query {
  words: QueryWord[];
  /** Quoted phrases as `foldForPhrase` writes them. */
  phrases: string[];
}

/** Words that are looked up; of these the most telling 64 are searched (`chooseTelling` in lexical.ts). */
export const MAX_WORDS = 128;
/** What is looked at of a very long query. */
const MAX_CHARACTERS = 8_192;
const MAX_PHRASES = 8;
export const STOP_WEIGHT = 0.12;
/** Each language's own marks; »these« and ”these” open as others close, so they come last. */
const QUOTED =
  /["＂]([^"＂]{1,300})["＂]|“([^“”]{1,300})”|„([^„“”]{1,300})[“”]|«([^«»]{1,300})»|「([^「」]{1,300})」|『([^『』]{1,300})』|»([^«»]{1,300})[«»]|”([^“”]{1,300})”/gu;

/** Reads a query for a scope with documents in these languages. Any string is a query; one without words has none. */
export function readQuery(text: string, languages: readonly string[]): Query {
  const raw = text.slice(0, MAX_CHARACTERS);
  const phrases: string[] = [];
  const words: QueryWord[] = [];
  const byTerm = new Map<string, { word: QueryWord; times: number }>();
  const shouting = !/\p{Ll}/u.test(raw);
  const read = (piece: string, phrase: number | null): void => {
    for (const word of readWords(piece, languages, shouting, words.length)) {
      const key = `${word.kind} ${[...word.terms.keys()].join(' ')}`;
      const before = byTerm.get(key);
      if (before === undefined) {
        words.push(word);
        byTerm.set(key, { word, times: 1 });
        if (phrase !== null) word.phrases.push(phrase);
      } else {
        before.times++;
        if (phrase !== null && !before.word.phrases.includes(phrase)) before.word.phrases.push(phrase);
        words.push({ ...word, terms: new Map(), weight: 0 });
      }
    }
  };
  let at = 0;
  for (const match of raw.matchAll(QUOTED)) {
    if (phrases.length === MAX_PHRASES) break;
    read(raw.slice(at, match.index), null);
    at = match.index + match[0].length;
    const inside = match.slice(1).find((group) => group !== undefined)!;
    const folded = foldForPhrase(inside);
    if (folded.trim() === '') continue;
    phrases.push(folded);
    read(inside, phrases.length - 1);
  }
  read(raw.slice(at), null);
  for (const { word, times } of byTerm.values()) word.weight *= 1 + Math.log(times);
  return { words: capWords(words), phrases };
}

/** Keeps at most 128 words: meaningful ones first, each kind in the order of the query. */
function capWords(words: QueryWord[]): QueryWord[] {
  const used = words.filter((word) => word.terms.size > 0);
  if (used.length <= MAX_WORDS) return dropUnused(words, new Set(used));
  const meaningful = used.filter((word) => word.kind !== 'stop');
  return dropUnused(words, new Set([...meaningful, ...used.filter((word) => word.kind === 'stop')].slice(0, MAX_WORDS)));
}

function dropUnused(words: QueryWord[], kept: ReadonlySet<QueryWord>): QueryWord[] {
  const result = words.filter((word) => kept.has(word));
  for (const word of result) {
    if (word.wholeOf === null) continue;
    const whole = result.indexOf(words[word.wholeOf]!);
    word.wholeOf = whole < 0 ? null : whole;
  }
  return result;
}

function readWords(piece: string, languages: readonly string[], shouting: boolean, offset: number): QueryWord[] {
  const tokens: Token[] = [];
  eachToken(normaliseText(piece), (token) => tokens.push(token));
  const words: QueryWord[] = [];
  let whole: number | null = null;
  tokens.forEach((token, i) => {
    if (token.kind === 'unigram' && isCovered(tokens, i)) return;
    if (!token.inside && token.kind !== 'identifier' && !(token.kind === 'part' && token.spelling)) whole = null;
    // AEO2023 may be written AEO 2023; the pieces of a longer part number would find its neighbours.
    if (token.inside && token.spelling && whole !== null && isPartNumber(words[whole - offset]!.word)) return;
    const word = wordOf(token, languages, shouting);
    // Written otherwise in front of an identifier: the same thing, so that its pieces weigh less when either is found.
    const before = tokens[i - 1];
    if (token.kind === 'identifier' && before !== undefined && isOtherSpelling(before)) {
      words.pop();
      word.terms.set(before.text, 0.9);
    }
    if (token.kind === 'identifier') whole = offset + words.length;
    else if (token.inside && whole !== null && /\p{N}/u.test(words[whole - offset]!.word)) word.wholeOf = whole;
    words.push(word);
    const exact = exactForm(token, word);
    if (exact !== null) words.push(exact);
  });
  return words;
}

const isOtherSpelling = (token: Token): boolean => token.kind === 'part' && token.spelling && !token.inside;

const isPartNumber = (word: string): boolean => /^[\p{L}\p{N}]+$/u.test(word) && !/^\p{L}+\p{N}+$/u.test(word);

/** A character inside a run is searched by its bigrams. */
function isCovered(tokens: readonly Token[], i: number): boolean {
  const [next, second] = [tokens[i + 1], tokens[i + 2]];
  if (next?.kind === 'bigram') return true;
  return next?.kind === 'unigram' && second?.kind === 'bigram' && second.text.startsWith(tokens[i]!.text);
}

function wordOf(token: Token, languages: readonly string[], shouting: boolean): QueryWord {
  const base = { word: token.text, weight: 1, correctable: false, wholeOf: null, ordinaryIn: [] as string[], phrases: [] as number[], exactForm: false };
  const never = { prefixes: [] as string[], when: 'never' as const, factor: 0 };
  if (token.kind === 'bigram' || token.kind === 'unigram') {
    return { ...base, kind: 'bigram', terms: new Map([[token.text, 1]]), starts: never };
  }
  if (token.kind === 'word') return plainWord(token, languages, shouting);
  const mixed = /\p{L}/u.test(token.text) && /\p{N}/u.test(token.text);
  const joined = /[^\p{L}\p{N}\p{M}]/u.test(token.text);
  const long = token.text.length >= 4;
  const when = (token.starred || mixed) && token.text.length >= 3 ? 'always' : long ? 'unmatched' : 'never';
  // A hyphenated word is its words first; written together it is a bonus. With digits the whole is the name of something.
  const weight = token.kind === 'part' ? (token.spelling ? 0.6 : 1) : joined && !/\p{N}/u.test(token.text) ? 0.5 : 1.2;
  return {
    ...base,
    kind: token.kind,
    weight,
    terms: new Map([[token.text, 1]]),
    starts: { prefixes: [token.text], when, factor: 0.6 },
  };
}

function plainWord(token: Token, languages: readonly string[], shouting: boolean): QueryWord {
  const terms = new Map<string, number>();
  const stems = new Set<string>();
  const known = languages.length === 0 ? ['en'] : languages;
  for (const language of known) {
    for (const term of termsOfWord(token.text, language)) terms.set(term, 1);
    stems.add(termsOfWord(token.text, language)[0]!);
  }
  const german = known.includes('de') ? respellGerman(token.text) : null;
  if (german !== null) for (const term of termsOfWord(german, 'de')) if (!terms.has(term)) terms.set(term, 0.9);
  const folded = foldWord(token.text);
  const stop = isFunctionWord(token.text, known) && !(token.capitals && !shouting);
  const compounding = known.some((language) => COMPOUNDING.has(language)) && folded.length >= 5;
  return {
    word: token.text,
    kind: stop ? 'stop' : 'word',
    weight: stop ? STOP_WEIGHT : token.inside && token.spelling ? 0.6 : 1,
    terms,
    starts: {
      prefixes: stop ? [] : [...new Set([...stems, folded])].filter((start) => start.length >= 3),
      when: stop ? 'never' : token.starred || compounding ? 'always' : folded.length >= 4 ? 'unmatched' : 'never',
      factor: 0.4,
    },
    correctable: !stop && !token.inside && !(token.capitals && !shouting) && Array.from(folded).length >= 4,
    wholeOf: null,
    ordinaryIn: stop ? known.filter((language) => hasFunctionWords(language) && !isFunctionWord(token.text, [language])) : [],
    phrases: [],
    exactForm: false,
  };
}

/** Uebersicht for Übersicht and the other way round; null when nothing changes. */
function respellGerman(word: string): string | null {
  const plain = word.replace(/ae|oe|ue/g, (pair) => ({ ae: 'ä', oe: 'ö', ue: 'ü' })[pair]!);
  if (plain !== word) return plain;
  const spelled = word.replace(/[äöü]/g, (letter) => ({ ä: 'ae', ö: 'oe', ü: 'ue' })[letter]!);
  return spelled === word ? null : spelled;
}

/** A word typed with diacritics prefers excerpts that write it so. */
function exactForm(token: Token, word: QueryWord): QueryWord | null {
  if (token.kind !== 'word' || word.kind === 'stop' || foldWord(token.text) === token.text) return null;
  const starts = { prefixes: [], when: 'never' as const, factor: 0 };
  return { ...word, weight: 0.25, terms: new Map([[token.text, 1]]), starts, correctable: false, phrases: [], exactForm: true };
}
