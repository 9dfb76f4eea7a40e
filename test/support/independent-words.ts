/** Words (letters and digits, folded) and how many of them another text has too. */

const fold = (text: string): string => text.normalize('NFKC').replaceAll('\u00ad', '').toLowerCase();
const words = /[\p{L}\p{N}]{2,}/gu;

/** Words longer than one character; hyphens at line ends joined, soft hyphens out, ligatures folded. */
export const wordsOf = (text: string): string[] => fold(text).replace(/(\p{L})-\n(\p{L})/gu, '$1$2').match(words) ?? [];

/** Every letter and digit as a word of its own, for texts whose blanks say nothing. */
export const spelt = (text: string): string => (fold(text).match(/[\p{L}\p{N}]/gu) ?? []).map((letter) => letter + letter).join(' ');

/** How many of the words (with repeats) `text` has too. */
export function countFound(wanted: readonly string[], text: string): number {
  const folded = fold(text);
  const parted = countEach(folded.match(words) ?? []);
  // A word that was joined or parted at a line end counts either way, but once.
  const joined = countEach(folded.replace(/[-‐]\n?/gu, '').match(words) ?? []);
  let found = 0;
  for (const [word, count] of countEach(wanted)) found += Math.min(count, Math.max(parted.get(word) ?? 0, joined.get(word) ?? 0));
  return found;
}

function countEach(all: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const word of all) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

/** Share of the independent words (with repeats) that `text` has too; null when there are none to compare. */
export const wordRecall = (wanted: readonly string[], text: string): number | null => (wanted.length === 0 ? null : countFound(wanted, text) / wanted.length);
