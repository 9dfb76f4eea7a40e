/** What each character is to the cutting of tokens, looked up in a table: a regular expression for each would be most of indexing. */

/** Kinds of characters. Code points that a table does not hold are asked of the patterns below. */
export const OTHER = 0;
/** Letters, digits and marks of scripts that write spaces between words. */
export const SPACED = 1;
/** Han, kana, Hangul, Thai and their like. */
export const UNSPACED = 2;
/** Half of a code point beyond the first 65,536. */
const SURROGATE = 3;
const UNKNOWN = 255;

/** Scripts that write no spaces, for character classes of patterns with the flag `v`. */
export const UNSPACED_CLASS =
  '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}\\u30fc\\u3005';
const IS_UNSPACED = new RegExp(`^[${UNSPACED_CLASS}]`, 'v');
const IS_SPACED = /^[\p{L}\p{N}\p{M}]/u;

const kinds = new Uint8Array(0x10000).fill(UNKNOWN);
kinds.fill(SURROGATE, 0xd800, 0xe000);

function kindOf(character: string): number {
  return IS_UNSPACED.test(character) ? UNSPACED : IS_SPACED.test(character) ? SPACED : OTHER;
}

/** Kind of the character that starts at `at` (the end of the text is none). */
export function kindAt(text: string, at: number): number {
  if (at >= text.length) return OTHER;
  const code = text.charCodeAt(at);
  let kind = kinds[code]!;
  if (kind === UNKNOWN) kinds[code] = kind = kindOf(text[at]!);
  return kind === SURROGATE ? kindOf(String.fromCodePoint(text.codePointAt(at)!)) : kind;
}

/** Where the run of characters of one kind that holds `at` ends. */
export function endOfRun(text: string, at: number, kind: number): number {
  let end = at;
  while (end < text.length) {
    const code = text.charCodeAt(end);
    if (kinds[code] === kind) end++;
    else if (kindAt(text, end) !== kind) break;
    // Known from now on, or one of two halves.
    else end += code >= 0xd800 && code < 0xdc00 ? 2 : 1;
  }
  return end;
}

const NO_MARK = 1;
const MARK = 2;
const marks = new Uint8Array(0x10000);

/** Is this UTF-16 unit a combining mark, or half of a character that may be one? */
export function mayBeMark(unit: number): boolean {
  let mark = marks[unit]!;
  if (mark === 0) marks[unit] = mark = (unit >= 0xd800 && unit < 0xe000) || /\p{M}/u.test(String.fromCharCode(unit)) ? MARK : NO_MARK;
  return mark === MARK;
}
