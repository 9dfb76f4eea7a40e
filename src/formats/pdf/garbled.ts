import { kindOf, LATIN, NEITHER } from './letters.ts';

/**
 * Is this text layer noise? A font without a way back to characters gives private-use or control characters, or letters
 * shifted by a constant ("7KLV LV" for "This is"). Such a page is treated as a picture, never indexed.
 */

/** In-word letter pairs that make up about half of running text in European languages written in Latin letters. */
const PAIRS = (
  'th he in er an re on en at es ed te ti or st ar nd to nt is of it al as de se le sa si ra ld ur ch ie ei un ge be di el la ' +
  'ne me li ve co ro ic ri io hi ea om ma ta ce ll ns us em ou ac et il di ia ad ol os do ca po pr no da ha ng ss wi au ne sc ' +
  'ht ic ke we ee aa oo ij va ag am ät än ön ör på är ka ko så åd ão çã do qu ue ai au tr pe mo na ni so su lo vo ho go'
).split(' ');
/** The same, by both letters' codes: `first << 8 | second`. */
const isCommonPair = new Uint8Array(0x10000);
for (const pair of PAIRS) isCommonPair[(pair.charCodeAt(0) << 8) | pair.charCodeAt(1)] = 1;
const isVowel = new Uint8Array(0x10000);
for (const vowel of 'aeiouyäöüåæøáéíóúàèìòùâêîôûãõœ') isVowel[vowel.charCodeAt(0)] = 1;

/** Fewer letters than this prove nothing. */
const ENOUGH_LETTERS = 80;
/** After this many the rest of a page says nothing new. */
const PROOF_LETTERS = 3000;

/** `unmapped`: characters PDFium itself could not map, of `text.length`. */
export function isGarbled(text: string, unmapped = 0): boolean {
  let visible = 0;
  let noise = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit > 0x20 && unit < 0x7f) {
      visible += 1;
      continue;
    }
    const code = text.codePointAt(at)!;
    if (code > 0xffff) at += 1;
    if (code === 0x20 || code === 0x0a || code === 0xfffe) continue;
    visible += 1;
    const isPrivate = (code >= 0xe000 && code <= 0xf8ff) || code >= 0xf0000;
    const isControl = code < 0x20 || (code >= 0x7f && code < 0xa0);
    if (isPrivate || isControl || code === 0xfffd) noise += 1;
  }
  if (visible < 8) return false;
  if (noise / visible > 0.3 || unmapped / visible > 0.5) return true;

  const { letters, vowels, pairs, common } = countLetters(text);
  if (letters < ENOUGH_LETTERS || letters < visible * 0.3) return false;
  const commonShare = common / pairs;
  return commonShare < 0.12 || (commonShare < 0.2 && vowels / letters < 0.24);
}

/** Over words of four Latin letters or more, as many as prove something: a word with a digit or another script in it is none. */
function countLetters(text: string): { letters: number; vowels: number; pairs: number; common: number } {
  const count = { letters: 0, vowels: 0, pairs: 0, common: 0 };
  const lower = text.toLowerCase();
  for (let start = 0; start < lower.length && count.letters <= PROOF_LETTERS; start += 1) {
    let kind = kindOf(lower.charCodeAt(start));
    if (kind === NEITHER) continue;
    let isLatin = true;
    let end = start;
    for (; kind !== NEITHER && end < lower.length; kind = kindOf(lower.charCodeAt(end))) {
      if (kind !== LATIN) isLatin = false;
      end += 1;
    }
    if (isLatin && end - start >= 4) countWord(lower, start, end, count);
    start = end;
  }
  return count;
}

function countWord(lower: string, start: number, end: number, count: ReturnType<typeof countLetters>): void {
  count.letters += end - start;
  count.pairs += end - start - 1;
  let before = 0x100;
  for (let at = start; at < end; at += 1) {
    const unit = lower.charCodeAt(at);
    count.vowels += isVowel[unit]!;
    if (before < 0x100 && unit < 0x100) count.common += isCommonPair[(before << 8) | unit]!;
    before = unit;
  }
}
