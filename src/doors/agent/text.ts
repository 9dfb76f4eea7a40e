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
  return cleanText(text).replace(/\s*[\n\t\u2028\u2029]\s*/g, ' ');
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });
const LOOK_BACK = 1000;

/**
 * The longest beginning of `text` with at most `max` UTF-16 units that does not end inside a character a person sees. Only
 * the surroundings of the cut are segmented. A single character longer than that (marks piled up without end) is cut
 * between code points.
 */
export function cutAtGrapheme(text: string, max: number): string {
  if (text.length <= max) return text;
  const start = findBoundaryBefore(text, max);
  let end = start;
  // One code point after the cut decides whether there is a boundary at it.
  for (const { index, segment } of graphemes.segment(text.slice(start, max + 2))) {
    if (start + index + segment.length > max) {
      end = start + index;
      break;
    }
  }
  if (end > start) return text.slice(0, end);
  return text.slice(0, isLowSurrogate(text, max) ? max - 1 : max);
}

/** A place at most `LOOK_BACK` before `max` that is surely between two characters, or the best guess there is. */
function findBoundaryBefore(text: string, max: number): number {
  const earliest = Math.max(0, max - LOOK_BACK);
  for (let at = max - 1; at > earliest; at--) {
    if (isPlain(text.charCodeAt(at)) && isPlain(text.charCodeAt(at - 1))) return at;
  }
  return isLowSurrogate(text, earliest) ? earliest + 1 : earliest;
}

/** Printable ASCII: between two of these there is always a boundary. */
function isPlain(unit: number): boolean {
  return unit >= 0x20 && unit < 0x7f;
}

function isLowSurrogate(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff;
}
