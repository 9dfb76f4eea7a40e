/** Values from outside on their way into the log: one line each, nothing that a terminal or a spreadsheet would act on (P38). */

const detailLimit = 500;
const endUserLimit = 256;
const nameLimit = 200;

export const cleanDetail = (text: string): string => cleanLine(text, detailLimit);
export const cleanEndUser = (text: string): string => cleanLine(text, endUserLimit);
export const cleanName = (text: string): string => cleanLine(text, nameLimit);

/** Control characters, lone surrogates, line separators, bidi controls, tags. */
const unsafe = /[\p{Cc}\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/u;

/**
 * Control characters (CR, LF, ANSI escape, NUL, C1), line separators, bidi overrides and tag characters become visible escapes;
 * a longer value is cut at `limit` characters, the last one then being `…`.
 */
function cleanLine(text: string, limit: number): string {
  if (text.length <= limit && !unsafe.test(text)) return text;
  // Cut before escaping as well: a value of a megabyte costs no more than one of a few hundred characters.
  const escaped = text
    .slice(0, limit * 2)
    .toWellFormed()
    .replace(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/gu, escapeOne);
  const characters = Array.from(escaped);
  if (characters.length <= limit && text.length <= limit * 2) return escaped;
  return `${characters.slice(0, limit - 1).join('')}…`;
}

function escapeOne(character: string): string {
  if (character === '\n') return '\\n';
  if (character === '\r') return '\\r';
  if (character === '\t') return '\\t';
  return `\\u{${character.codePointAt(0)?.toString(16) ?? ''}}`;
}
