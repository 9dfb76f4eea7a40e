import { kindOf, NEITHER } from './letters.ts';

/**
 * End-of-line hyphens. PDFium marks one with U+FFFE and drops the line break. A soft one joins ("adip￾iscing" →
 * "adipiscing"); one that belongs to the word stays ("fuel￾fired" → "fuel-fired"). No dictionary: the document itself says
 * which of the two it writes elsewhere. The line break goes behind the word, so that lines stay lines.
 */

export const HYPHEN_MARK = '\ufffe';

export interface WordCounts {
  /** Lower-cased words without hyphens inside, and how often. */
  words: Map<string, number>;
  /** The same words as they are written. */
  written: Set<string>;
  /** Lower-cased hyphenated words of one line. */
  hyphenated: Map<string, number>;
  /** What stands before or behind a hyphen in them. */
  firsts: Map<string, number>;
  seconds: Map<string, number>;
}

export const newWordCounts = (): WordCounts => ({
  words: new Map(),
  written: new Set(),
  hyphenated: new Map(),
  firsts: new Map(),
  seconds: new Map(),
});

const isLetter = (text: string, at: number): boolean => at >= 0 && at < text.length && kindOf(text.charCodeAt(at)) !== NEITHER;

const isHyphen = (text: string, at: number): boolean => {
  const unit = text.charCodeAt(at);
  return unit === 0x2d || unit === 0x2010 || unit === 0x2011;
};
const add = (map: Map<string, number>, key: string): void => void map.set(key, (map.get(key) ?? 0) + 1);

/** Counts the words of one page's text; words with a mark inside are what is to be decided, so they do not count. */
export function countWords(text: string, counts: WordCounts): void {
  for (let start = 0; start < text.length; start += 1) {
    if (!isLetter(text, start)) continue;
    let hyphen = -1;
    let end = start + 1;
    for (; ; end += 1) {
      if (isLetter(text, end)) continue;
      if (!isHyphen(text, end) || !isLetter(text, end + 1)) break;
      if (hyphen < 0) hyphen = end - start;
    }
    const marked = text[start - 1] === HYPHEN_MARK || text[end] === HYPHEN_MARK;
    if (!marked) countWord(text.slice(start, end), hyphen, counts);
    start = end;
  }
}

/** `hyphen`: where the first one is, -1 for none. */
function countWord(written: string, hyphen: number, counts: WordCounts): void {
  const word = written.toLowerCase();
  if (hyphen < 0) {
    add(counts.words, word);
    counts.written.add(written);
    return;
  }
  add(counts.hyphenated, word.replaceAll(/[\u2010\u2011]/g, '-'));
  add(counts.firsts, word.slice(0, hyphen));
  add(counts.seconds, word.slice(hyphen + 1));
}

/** Parts that English joins with a hyphen again and again; "based" after anything is `-based`. */
const COMMON_SECONDS = new Set(
  'based fired related specific driven oriented free like level scale term wide known sized powered shaped aware minded'.split(' '),
);
/** Small words inside a chain of hyphens: "state-of-the￾art", "up-to￾date". */
const LINKS = new Set('a an and as at by de du for in la le of on or the to up und von'.split(' '));
const COMMON_FIRSTS = new Set('self non well long short high low cross half quasi'.split(' '));

/** True when the hyphen belongs to the word. `before` and `after` are the letters and digits on both sides of the mark. */
export function keepsHyphen(before: string, after: string, counts: WordCounts): boolean {
  if (before === '' || after === '') return true;
  if (/\d$/.test(before) || /^\d/.test(after)) return true;
  const a = before.toLowerCase();
  const b = after.toLowerCase();
  const joined = counts.words.get(a + b) ?? 0;
  const apart = counts.hyphenated.get(`${a}-${b}`) ?? 0;
  if (joined !== apart) return apart > joined;
  // "Nord-Süd", "E-Mail-Adresse": a capital inside a word is not hyphenation; in ALL CAPS it says nothing.
  if (/^\p{Lu}/u.test(after)) return !(/^\p{Lu}+$/u.test(before) && /^\p{Lu}+$/u.test(after) && before.length > 1);
  if (COMMON_SECONDS.has(b) && counts.words.has(a)) return true;
  if (COMMON_FIRSTS.has(a)) return a.length > 3 || counts.firsts.has(a);
  // "coal-fired" elsewhere makes "fuel￾fired" one as well, if "fuel" is a word here.
  const secondSeen = counts.seconds.has(b) && counts.words.has(a) && a.length >= 3;
  const firstSeen = counts.firsts.has(a) && counts.words.has(b) && b.length >= 3;
  if (secondSeen || firstSeen) return true;
  // Both halves are words of this document. Short ones ("for", "the") begin or end ordinary words too, and a German
  // compound is broken between nouns, which elsewhere have a capital: the second half counts as it is written.
  return a.length >= 4 && b.length >= 4 && counts.words.has(a) && counts.written.has(after);
}

const REST_OF_WORD = /^[^\s\ufffe]*/;

/** Marks what PDFium left as it was, a hyphen at a line's end with a small letter below; joins at soft hyphens. */
export function markHyphens(text: string): string {
  return text
    .replaceAll(/\u00ad\n(\S*)( ?)/g, (_all, rest: string, space: string) => rest + (space === '' ? '' : '\n'))
    .replaceAll(/(?<=\p{Ll})[-\u2010]\n(?=\p{Ll})/gu, HYPHEN_MARK);
}

/** Decides every mark of one page's text. */
export function resolveHyphens(text: string, counts: WordCounts): string {
  if (!text.includes(HYPHEN_MARK)) return text;
  const parts = text.split(HYPHEN_MARK);
  const out = [parts[0]!];
  // The end of what is written so far: looking it up in the whole text for each mark would be quadratic.
  let end = parts[0]!.slice(-LONGEST_HALF);
  for (const part of parts.slice(1)) {
    const below = part.startsWith('\n') ? part.slice(1) : part;
    const before = lettersBefore(end);
    const after = lettersAfter(below);
    const rest = REST_OF_WORD.exec(below)![0];
    const tail = below.slice(rest.length);
    const broken = tail.startsWith(' ') ? `\n${tail.slice(1)}` : tail;
    const at = end.length - before.length;
    const isChain = at > 1 && isHyphen(end, at - 1) && isLetter(end, at - 2) && LINKS.has(before.toLowerCase());
    const piece = (isChain || keepsHyphen(before, after, counts) ? '-' : '') + rest + broken;
    out.push(piece);
    end = (end + piece).slice(-LONGEST_HALF);
  }
  return out.join('');
}

/** UTF-16 units; no half of a word is longer. */
const LONGEST_HALF = 200;

function lettersBefore(text: string): string {
  let start = text.length;
  while (start > 0 && isLetter(text, start - 1)) start -= 1;
  return text.slice(start);
}

function lettersAfter(text: string): string {
  let end = 0;
  while (end < LONGEST_HALF && isLetter(text, end)) end += 1;
  return text.slice(0, end);
}
