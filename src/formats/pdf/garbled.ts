/**
 * Is this text layer noise? A font without a way back to characters gives private-use or control characters, or letters
 * shifted by a constant ("7KLV LV" for "This is"). Such a page is treated as a picture, never indexed.
 */

/** In-word letter pairs that make up about half of running text in European languages written in Latin letters. */
const PAIRS = new Set(
  (
    'th he in er an re on en at es ed te ti or st ar nd to nt is of it al as de se le sa si ra ld ur ch ie ei un ge be di el la ' +
    'ne me li ve co ro ic ri io hi ea om ma ta ce ll ns us em ou ac et il di ia ad ol os do ca po pr no da ha ng ss wi au ne sc ' +
    'ht ic sch ke we ee aa oo ij va ag am ät än ön ör på är ka ko så åd ão çã do qu ue ai au tr pe mo na ni so su lo vo ho go'
  ).split(' '),
);
const LATIN_WORD = /(?<![\p{L}\p{N}])\p{Script=Latin}{4,}(?![\p{L}\p{N}])/gu;
const VOWELS = new Set('aeiouyäöüåæøáéíóúàèìòùâêîôûãõœ');
/** Fewer letters than this prove nothing. */
const ENOUGH_LETTERS = 80;

/** `unmapped`: characters PDFium itself could not map, of `text.length`. */
export function isGarbled(text: string, unmapped = 0): boolean {
  let visible = 0;
  let noise = 0;
  for (let at = 0; at < text.length; at += 1) {
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

  let letters = 0;
  let vowels = 0;
  let pairs = 0;
  let common = 0;
  for (const [word] of text.matchAll(LATIN_WORD)) {
    const lower = word.toLowerCase();
    letters += lower.length;
    for (let i = 0; i < lower.length; i += 1) {
      if (VOWELS.has(lower[i]!)) vowels += 1;
      if (i === 0) continue;
      pairs += 1;
      if (PAIRS.has(lower.slice(i - 1, i + 1))) common += 1;
    }
    if (letters > 3000) break;
  }
  if (letters < ENOUGH_LETTERS || letters < visible * 0.3) return false;
  const commonShare = common / pairs;
  return commonShare < 0.12 || (commonShare < 0.2 && vowels / letters < 0.24);
}
