/** What must not reach a model or a tool description: control characters, bidi overrides, Unicode tags (DESIGN.md section 5). */
const UNWANTED = /[[\p{Cc}--[\t\n]]\u202A-\u202E\u2066-\u2069\u{E0000}-\u{E007F}]/v;
const EVERY_UNWANTED = new RegExp(UNWANTED, 'gv');

/** Text of several lines, fit for a model. Joiners stay: Persian and emoji need them. */
export function cleanText(text: string): string {
  if (text.isWellFormed() && !UNWANTED.test(text)) return text;
  return text.toWellFormed().replace(/\r\n?/g, '\n').replace(EVERY_UNWANTED, '');
}

/** A name or a description: one line of text. */
export function cleanLine(text: string): string {
  return cleanText(text).replace(/\s+/g, (spaces) => (/[\n\t\u2028\u2029]/.test(spaces) ? ' ' : spaces));
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/**
 * The longest beginning of `text` with at most `max` UTF-16 units that does not end inside a character a person sees. Only
 * the surroundings of the cut are looked at. A single character longer than that (marks piled up without end) is cut
 * between code points.
 */
export function cutAtGrapheme(text: string, max: number): string {
  if (text.length <= max) return text;
  // One code point after the cut decides whether there is a boundary at it.
  const end = graphemes.segment(text.slice(0, max + 2)).containing(max)!.index;
  if (end > 0) return text.slice(0, end);
  const next = text.charCodeAt(max);
  return text.slice(0, next >= 0xdc00 && next <= 0xdfff ? max - 1 : max);
}
