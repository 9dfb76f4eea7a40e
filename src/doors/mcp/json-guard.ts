const QUOTE = 34;
const BACKSLASH = 92;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;
const OPEN_BRACKET = 91;
const CLOSE_BRACKET = 93;
const COLON = 58;

/**
 * What is wrong with this JSON text before any parser builds it: nesting deeper than `maxDepth`, or an object that
 * names a key twice (two readers could then see two different requests). Null when neither. Whether the text is JSON at
 * all is the parser's business; one pass, no recursion (trust.md 5.3, P25).
 */
export function findJsonFault(text: string, maxDepth: number): string | null {
  const open: (Names | null)[] = [];
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) {
      const end = endOfString(text, at);
      const names = open.length === 0 ? null : open[open.length - 1]!;
      if (names !== null && isKey(text, end) && !addName(names, readKey(text.slice(at, end))))
        return 'the same key appears twice in one object';
      at = end - 1;
    } else if (unit === OPEN_BRACE || unit === OPEN_BRACKET) {
      if (open.length === maxDepth) return `nested deeper than ${maxDepth} levels`;
      open.push(unit === OPEN_BRACE ? { few: [], many: null } : null);
    } else if (unit === CLOSE_BRACE || unit === CLOSE_BRACKET) {
      open.pop();
    }
  }
  return null;
}

/** Names of one object. Most have a handful, which are compared sooner than hashed. */
interface Names {
  few: string[];
  many: Set<string> | null;
}

const FEW = 8;

/** False when it is there already. */
function addName(names: Names, name: string): boolean {
  if (names.many !== null) {
    const before = names.many.size;
    return names.many.add(name).size > before;
  }
  if (names.few.includes(name)) return false;
  names.few.push(name);
  if (names.few.length > FEW) names.many = new Set(names.few);
  return true;
}

/** The place after the closing quote of the string that opens at `start`. */
function endOfString(text: string, start: number): number {
  let quote = text.indexOf('"', start + 1);
  while (quote !== -1) {
    let backslashes = 0;
    while (text.charCodeAt(quote - 1 - backslashes) === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return quote + 1;
    quote = text.indexOf('"', quote + 1);
  }
  return text.length;
}

function isKey(text: string, from: number): boolean {
  for (let at = from; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === COLON) return true;
    if (unit !== 32 && unit !== 9 && unit !== 10 && unit !== 13) return false;
  }
  return false;
}

/** Two spellings of one key (`"a"` and `"\u0061"`) are the same key. */
function readKey(quoted: string): string {
  if (!quoted.includes('\\')) return quoted;
  try {
    return JSON.stringify(JSON.parse(quoted));
  } catch {
    return quoted;
  }
}
