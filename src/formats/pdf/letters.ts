/** What each UTF-16 unit is to the reading of pages: a table, because a pattern asked for each character takes as long as PDFium does. */

export const LATIN = 1;
/** A letter of another script, or a digit. */
export const OTHER = 2;
export const NEITHER = 3;

/** By unit; 0 not asked yet. */
const kinds = new Uint8Array(0x10000);

/** LATIN, OTHER or NEITHER. Halves of a pair count as letters, of what they stand beside: scripts that write no hyphens, and are not Latin. */
export function kindOf(unit: number): number {
  const known = kinds[unit]!;
  if (known !== 0) return known;
  const char = String.fromCharCode(unit);
  const isOther = (unit >= 0xd800 && unit <= 0xdfff) || /[\p{L}\p{N}]/u.test(char);
  return (kinds[unit] = /\p{Script=Latin}/u.test(char) ? LATIN : isOther ? OTHER : NEITHER);
}
