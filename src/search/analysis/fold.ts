/**
 * Folding: what makes two spellings the same word. Text is normalised once (NFKC, invisible characters out); words are then
 * lower-cased and their diacritics folded. Rules: search.md section 2, trust.md 5.2 and 5.6.
 */
import { mayBeMark } from './characters.ts';

const NOT_ASCII = /[^\x00-\x7f]/;
/** Soft hyphen, zero-width characters, bidi controls, tag characters, variation selectors, interlinear marks. */
const INVISIBLE =
  /[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufe00-\ufe0f\ufff9-\ufffb\u{e0000}-\u{e007f}\u{e0100}-\u{e01ef}]/gu;
const CONTROL = /[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f]/g;
const MARK_PILE = /(\p{M}{8})\p{M}+/gu;
const MOST_MARKS = 8;
const FIRST_MARK = 0x300;

/** The zeros of scripts that count with digits of their own; nine more follow each. */
const ZEROS = [
  0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xde6, 0xe50, 0xed0, 0xf20, 0x1040, 0x1090, 0x17e0, 0x1810,
];
const DIGITS = new RegExp(`[${ZEROS.map((zero) => `${String.fromCharCode(zero)}-${String.fromCharCode(zero + 9)}`).join('')}]`, 'g');

/** ٢, २ and ๒ are 2. */
function plainDigit(digit: string): string {
  const code = digit.charCodeAt(0);
  return String(code - ZEROS.findLast((zero) => zero <= code)!);
}

/** Text without more combining marks in a row than any script stacks: they are noise (Zalgo). */
export function cutMarkPiles(text: string): string {
  let run = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    run = code >= FIRST_MARK && mayBeMark(code) ? run + 1 : 0;
    if (run > MOST_MARKS) return text.replace(MARK_PILE, '$1');
  }
  return text;
}

/**
 * Text ready for tokens: NFKC (ligatures, full width), soft hyphens and other invisible characters out, every dash that
 * joins words the same, digits of all scripts as 0 to 9, line ends `\n`. Lone surrogates become U+FFFD, NUL and other controls a space.
 */
export function normaliseText(text: string): string {
  let clean = text;
  if (NOT_ASCII.test(clean)) {
    clean = clean.toWellFormed().replace(INVISIBLE, '');
    clean = cutMarkPiles(clean).normalize('NFKC');
    clean = clean.replace(DIGITS, plainDigit).replace(/[\u2010\u2011\u2012\u2013\u2212]/g, '-').replace(/[\u2018\u2019\u02bc\uff07]/g, "'");
  }
  return clean.replace(CONTROL, ' ').replace(/\r\n?/g, '\n');
}

const LETTERS: Record<string, string> = {
  ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', đ: 'd', ð: 'd', þ: 'th', ł: 'l', ħ: 'h', ı: 'i', ŋ: 'n', ĸ: 'k', ſ: 's', ς: 'σ',
  أ: 'ا', إ: 'ا', آ: 'ا', ٱ: 'ا', ى: 'ي', ی: 'ي', ک: 'ك', ة: 'ه', ؤ: 'و', ئ: 'ي', '٠': '0', '١': '1', '٢': '2', '٣': '3', '٤': '4',
  '٥': '5', '٦': '6', '٧': '7', '٨': '8', '٩': '9', '۰': '0', '۱': '1', '۲': '2', '۳': '3', '۴': '4', '۵': '5', '۶': '6', '۷': '7',
  '۸': '8', '۹': '9',
};
const SPECIAL_LETTERS = new RegExp(`[${Object.keys(LETTERS).join('')}]`, 'gu');
/** Combining diacritics of Latin and Greek, Arabic vowel signs and tatweel, Hebrew points. */
const MARKS = /[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06ed]/g;
const CYRILLIC_SHORT = /[\u0438\u0456](?:\u0306|\u0308)/g;

/** Lower case of a normalised word with its diacritics kept; the Turkish İ and ı become i. */
export function lowerWord(word: string): string {
  const lower = word.toLowerCase();
  return NOT_ASCII.test(lower) ? lower.replaceAll('i\u0307', 'i').replaceAll('ı', 'i').normalize('NFC') : lower;
}

/** A lower-cased word without diacritics: é is e, ß is ss, ё is е, Arabic vowel signs are gone. й and ї are letters and stay. */
export function foldWord(lower: string): string {
  if (!NOT_ASCII.test(lower)) return lower;
  const spelled = lower.replace(SPECIAL_LETTERS, (letter) => LETTERS[letter] ?? letter).normalize('NFD');
  const kept = spelled.replace(CYRILLIC_SHORT, (letter) => letter.normalize('NFC'));
  return kept.replace(MARKS, '').normalize('NFC').replace(SPECIAL_LETTERS, (letter) => LETTERS[letter] ?? letter);
}

/**
 * Text for checking quoted phrases: folded, hyphenated line ends joined, everything between words one space, with a space at
 * both ends. Phrases are compared on this form, so case, diacritics, line breaks and punctuation never hide one.
 */
export function foldForPhrase(text: string): string {
  if (!NOT_ASCII.test(text)) return foldPlainForPhrase(text);
  const joined = normaliseText(text).replace(/(\p{L})-\n\s*(?=\p{Ll})/gu, '$1');
  return ` ${foldWord(lowerWord(joined)).replace(/[^\p{L}\p{N}\p{M}]+/gu, ' ').trim()} `;
}

/** The same for text of ASCII, a tenth of the time: thousands of excerpts may have to be looked into. */
function foldPlainForPhrase(text: string): string {
  const joined = text.includes('-') ? text.replace(CONTROL, ' ').replace(/\r\n?/g, '\n').replace(/([A-Za-z])-\n\s*(?=[a-z])/g, '$1') : text;
  return ` ${joined.toLowerCase().replace(/[^a-z0-9]+/g, ' ').trim()} `;
}
