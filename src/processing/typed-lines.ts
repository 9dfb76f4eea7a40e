const letters = (text: string): string => text.normalize('NFKC').replace(/[^\p{L}\p{N}]/gu, '').toLowerCase();

const pairsOf = (text: string): string[] => Array.from({ length: Math.max(0, text.length - 1) }, (_, at) => text.slice(at, at + 2));

/** Is this recognised line one of the typed ones, as far as two letters beside each other tell? Some of them are misread. */
function isTyped(line: string, known: ReadonlySet<string>): boolean {
  const pairs = pairsOf(letters(line));
  return pairs.filter((pair) => known.has(pair)).length >= pairs.length / 2;
}

/**
 * What a scan says together with the few lines that are typed over it: those that were recognised along with the picture are not said
 * twice. Undefined when nothing but the typed lines was recognised.
 */
export function addTypedLines(typed: string, recognised: string): string | undefined {
  if (typed.trim() === '') return recognised;
  const known = new Set(pairsOf(letters(typed)));
  if (recognised.split('\n').every((line) => isTyped(line, known))) return undefined;
  const found = letters(recognised);
  const missing = typed.split('\n').filter((line) => line.trim() !== '' && !found.includes(letters(line)));
  return missing.length === 0 ? recognised : `${missing.join('\n')}\n\n${recognised}`;
}
