/** Text cut into tokens: words, identifiers with their parts, runs of scripts that write no spaces. */
import { endOfRun, kindAt, OTHER, SPACED, UNSPACED } from './characters.ts';
import { foldWord, lowerWord } from './fold.ts';

export interface Token {
  /**
   * `word`: letters only, to be stemmed. `identifier`: has digits or joiners, kept whole. `part`: a piece of an identifier
   * that is not a word. `bigram`, `unigram`: of Han, kana, Hangul, Thai and their like.
   */
  kind: 'word' | 'identifier' | 'part' | 'bigram' | 'unigram';
  /** Lower-cased, diacritics kept (words), else folded. */
  text: string;
  /** True when this token is one more spelling of what another token already counts. */
  spelling: boolean;
  /** Words only: it stood in capitals (`US`, `IT`), which no stop word does in running text. */
  capitals: boolean;
  /** Words and parts that stood inside an identifier. */
  inside: boolean;
  /** Followed by `*`: also longer words. */
  starred: boolean;
}

const BROKEN = '-\n';
/** The other half of a word broken at a line end. */
const OTHER_HALF = /[ \t]*(\p{Ll}{2,})/uy;
const JOINERS = new Set(Array.from(".-_/:@+',&", (joiner) => joiner.charCodeAt(0)));
const [COMMA, AMPERSAND, HASH, STAR] = [0x2c, 0x26, 0x23, 0x2a];
const LAST_OF_ASCII = 0x7f;
const IS_LETTER = /^\p{L}$/u;
const IS_DECIMAL = /^\p{Nd}/u;
const HAS_DIGIT = /\p{N}/u;
/** R&D and AT&T are names; between anything else than letters an ampersand is a sign. */
const [ENDS_AS_LETTER, BEGINS_AS_LETTER] = [/[\p{L}\p{M}]$/u, /^\p{L}/u];
const MAX_LENGTH = 64;
/** 1.234.567 and 1'234'567, with the decimals behind a comma: 1,234,567 elsewhere. */
const GROUPED = /^[1-9]\d{0,2}([.'])\d{3}(?:\1\d{3})*(?:,\d+)?$/;
/** O'Brien and L'Oréal: OBrien to some. */
const APOSTROPHE_NAME = /^\p{Lu}'\p{Lu}\p{L}+$/u;
/** v1.2.3 is 1.2.3. */
const VERSION = /^[vV](\d+(?:\.\d+)+)$/;
/** H.264 is H264. */
const LETTER_AND_NUMBER = /^\p{L}{1,3}\.\d{2,}$/u;
/** ISBN, telephone and account numbers: some write them in one. Fewer groups are dates and ranges. */
const NUMBER_GROUPS = /^\d+(?:-\d+){2,}-[\dXx]+$/;
/** U.S and e.g, without the last full stop. */
const DOTTED_LETTERS = /^\p{L}\p{M}*(?:\.\p{L}\p{M}*)+$/u;

/** Calls `emit` for each token of normalised text (see `normaliseText`), in order but for words broken at a line end. */
export function eachToken(text: string, emit: (token: Token) => void): void {
  eachSurface(text, (start, end) => emitSurface(text.slice(start, end), emit));
  eachBrokenWord(text, emit);
}

/**
 * Cuts normalised text into surfaces: a run of an unspaced script; or runs of letters and digits with single joiners
 * between them (a comma only before a digit, an ampersand only between letters), `++` or `#` behind, and at last a star.
 */
export function eachSurface(text: string, each: (start: number, end: number, kind: number) => void): void {
  let at = 0;
  while (at < text.length) {
    const kind = kindAt(text, at);
    if (kind === OTHER) {
      // Past both halves of a character beyond the first 65,536, so that no half is looked at alone.
      at += isPair(text, at) ? 2 : 1;
      continue;
    }
    const end = kind === UNSPACED ? endOfRun(text, at, UNSPACED) : endOfSpaced(text, at);
    each(at, end, kind);
    at = end;
  }
}

/** Words broken at a line end, written together: spellings of their halves. */
export function eachBrokenWord(text: string, emit: (token: Token) => void): void {
  let free = 0;
  for (let at = text.indexOf(BROKEN); at >= 0; at = text.indexOf(BROKEN, at + 1)) {
    const start = startOfLetters(text, at, free);
    if (Array.from(text.slice(start, at)).length < 2) continue;
    OTHER_HALF.lastIndex = at + BROKEN.length;
    const half = OTHER_HALF.exec(text)?.[1];
    if (half === undefined) continue;
    emitWord(text.slice(start, at) + half, emit, SPELLING);
    free = OTHER_HALF.lastIndex;
  }
}

/** Where the run of letters that ends before `end` begins, not before `least`. */
function startOfLetters(text: string, end: number, least: number): number {
  let start = end;
  while (start > least) {
    const isSecondHalf = (text.charCodeAt(start - 1) & 0xfc00) === 0xdc00;
    const before = start - (isSecondHalf && start - 2 >= least ? 2 : 1);
    if (!IS_LETTER.test(text.slice(before, start))) break;
    start = before;
  }
  return start;
}

function endOfSpaced(text: string, start: number): number {
  let end = endOfRun(text, start, SPACED);
  while (JOINERS.has(text.charCodeAt(end)) && kindAt(text, end + 1) === SPACED) {
    if (text.charCodeAt(end) === COMMA && !IS_DECIMAL.test(String.fromCodePoint(text.codePointAt(end + 1)!))) break;
    if (text.charCodeAt(end) === AMPERSAND && !(ENDS_AS_LETTER.test(text.slice(Math.max(0, end - 2), end)) && BEGINS_AS_LETTER.test(text.slice(end + 1, end + 3)))) break;
    end = endOfRun(text, end + 1, SPACED);
  }
  if (text.startsWith('++', end)) end += 2;
  else if (text.charCodeAt(end) === HASH && kindAt(text, end + 1) !== SPACED) end++;
  return text.charCodeAt(end) === STAR ? end + 1 : end;
}

const isPair = (text: string, at: number): boolean => text.codePointAt(at)! > 0xffff;

/** The tokens of one surface: a word, an identifier with its parts, or the characters of a run. */
export function emitSurface(surface: string, emit: (token: Token) => void): void {
  // Most tokens of most texts: a plain word.
  if (isPlainWord(surface)) emitWord(surface, emit, PLAIN);
  else if (kindAt(surface, 0) === UNSPACED) emitUnspaced(surface, emit);
  else emitSpaced(surface, emit);
}

const SPELLING = { spelling: true };
const PLAIN = {};

/** Nothing but letters of ASCII. */
export function isPlainWord(surface: string): boolean {
  for (let i = 0; i < surface.length; i++) {
    const lower = surface.charCodeAt(i) | 32;
    if (lower < 97 || lower > 122) return false;
  }
  return true;
}

function emitUnspaced(run: string, emit: (token: Token) => void): void {
  const characters = Array.from(run);
  const base = { spelling: false, capitals: false, inside: false, starred: false };
  for (let i = 0; i < characters.length; i++) {
    emit({ ...base, kind: 'unigram', text: characters[i]! });
    if (i > 0) emit({ ...base, kind: 'bigram', text: characters[i - 1]! + characters[i]!, spelling: true });
  }
}

function emitSpaced(surface: string, emit: (token: Token) => void): void {
  const starred = surface.endsWith('*');
  const whole = starred ? surface.slice(0, -1) : surface;
  const parts = whole.split(/[.\-_/:@+',#&]+/).filter((part) => part !== '');
  const symbol = /(?:\+\+|#)$/.test(whole);
  const compound = symbol || (parts.length > 1 && /[.\-_/:@+,&]/.test(whole));
  const otherwise = writtenOtherwise(whole);
  if (otherwise !== null) emit({ kind: 'part', text: otherwise, spelling: true, capitals: false, inside: false, starred: false });
  if (!compound) {
    // An apostrophe alone joins no identifier: l'énergie, company's, don't.
    const kept = parts.length > 1 ? parts.filter((part) => part.length > 1) : parts;
    if (APOSTROPHE_NAME.test(whole)) emitWord(parts.join(''), emit, { spelling: true, inside: true });
    for (const part of kept) emitPart(part, emit, { starred });
    return;
  }
  const identifier = foldWord(lowerWord(whole)).slice(0, MAX_LENGTH);
  const base = { capitals: false, inside: false };
  emit({ ...base, kind: 'identifier', text: identifier, spelling: true, starred });
  const joiners = symbol ? '' : whole.replace(/[^.\-_/:@+,&]/g, '');
  // U.S. is US to whoever types it, and its letters alone mean nothing.
  if (DOTTED_LETTERS.test(whole)) return emitWord(parts.join(''), emit, { inside: true });
  if (/^-{1,2}$/.test(joiners) && parts.some((part) => !/^\p{N}+$/u.test(part)) && whole.length <= 32) {
    // e-mail and email, IL-10 and IL10 are the same word to whoever types them.
    const joined = parts.join('');
    if (HAS_DIGIT.test(joined)) emit({ ...base, kind: 'part', text: foldWord(lowerWord(joined)), spelling: true, starred: false });
    else emitWord(joined, emit, { spelling: true, inside: true });
  } else if (/^,+\.?$/.test(joiners) && /^[\d,.]+$/.test(whole)) {
    emit({ ...base, kind: 'part', text: whole.replaceAll(',', ''), spelling: true, starred: false });
  }
  for (const part of parts) emitPart(part, emit, { inside: true });
}

/** How else a number is written, for a token in front of the whole; null for what has one way. */
function writtenOtherwise(whole: string): string | null {
  if (!HAS_DIGIT.test(whole)) return null;
  const version = VERSION.exec(whole)?.[1];
  if (version !== undefined) return version;
  if (GROUPED.test(whole)) return whole.replace(/[.']/g, '').replace(',', '.');
  if (LETTER_AND_NUMBER.test(whole)) return foldWord(lowerWord(whole)).replace('.', '');
  return NUMBER_GROUPS.test(whole) ? whole.replaceAll('-', '').toLowerCase() : null;
}

/** A run of letters and digits without a joiner. */
function emitPart(part: string, emit: (token: Token) => void, more: { inside?: boolean; starred?: boolean }): void {
  if (!HAS_DIGIT.test(part)) return emitWord(part, emit, more);
  const text = foldWord(lowerWord(part)).slice(0, MAX_LENGTH);
  const mixed = /\p{L}/u.test(text);
  const kind = mixed && !more.inside ? 'identifier' : 'part';
  emit({ kind, text, spelling: false, capitals: false, inside: more.inside ?? false, starred: more.starred ?? false });
  if (!mixed) return;
  // TPS71725QDRV is also found by TPS, 71725 and QDRV; shorter pieces (CO2, p53, H1N1) mean nothing alone.
  for (const piece of text.match(/\p{L}{3,}|\p{Nd}{3,}/gu) ?? []) {
    if (HAS_DIGIT.test(piece)) emit({ kind: 'part', text: piece, spelling: true, capitals: false, inside: true, starred: false });
    else emitWord(piece, emit, { spelling: true, inside: true });
  }
}

function emitWord(
  word: string,
  emit: (token: Token) => void,
  more: { spelling?: boolean; inside?: boolean; starred?: boolean },
): void {
  const text = lowerWord(word.length > MAX_LENGTH ? word.slice(0, MAX_LENGTH) : word);
  // A diacritic alone, as ´ and ¨ become by NFKC, or a tatweel: no word, and nothing is left of it as a term.
  if (text.charCodeAt(0) > LAST_OF_ASCII && foldWord(text) === '') return;
  const capitals = word.length > 1 && word.length <= 5 && text !== word && word === word.toUpperCase();
  emit({ kind: 'word', text, spelling: more.spelling ?? false, capitals, inside: more.inside ?? false, starred: more.starred ?? false });
}
