import type { LanguageProfile } from './encoding-languages.ts';

/** Symbols that any text may have, where they are usual. */
const symbols = '’‘“”–—…•°§©®™€£½¼¾×±µ²³·«»„‚№†‹›¢¥¶\u00a0\u00ad';
const openers = '“„‚«‘¿¡‹';
const closers = '”»›';
const boxes = /[\u2500-\u259f]/u;
/** Signs that Unicode counts as letters. */
const signs = 'µºª';
const isLetter = (char: string): boolean => /\p{L}|\p{M}/u.test(char) && !signs.includes(char);

/** How well text fits the best of these languages: about 1 when every character beyond ASCII is where such text has it, 0 and less for noise. */
export function judge(text: string, languages: readonly LanguageProfile[]): number {
  const { characters, all, misplaced } = countCharacters(text);
  if (all === 0) return 0;
  const words = text.toLowerCase().match(/\p{L}+/gu)?.slice(0, 2_000) ?? [];
  let best = -Infinity;
  for (const language of languages) {
    const { weights, known } = tableOf(language);
    let sum = 0;
    for (const [char, count] of characters) sum += count * weightOf(char, weights, language);
    const hits = words.length === 0 ? 0 : words.filter((word) => known.has(word)).length / words.length;
    best = Math.max(best, sum / all + Math.min(0.4, hits) * 0.7 - (language.rarer ?? 0));
  }
  return best - misplaced / all;
}

interface Table {
  weights: Map<string, number>;
  known: Set<string>;
}
const tables = new WeakMap<LanguageProfile, Table>();

function tableOf(language: LanguageProfile): Table {
  const made = tables.get(language);
  if (made) return made;
  const weights = new Map<string, number>();
  for (const char of symbols) weights.set(char, 0.5);
  for (const char of language.marks ?? '') weights.set(char, 0.9);
  const letters = [...language.letters];
  for (const [at, char] of letters.entries()) {
    const weight = 1 - (at / letters.length) * 0.6;
    weights.set(char.toUpperCase(), weight * 0.9);
    weights.set(char, weight);
  }
  for (const char of language.common ?? '') weights.set(char, 1);
  const table = { weights, known: new Set(language.words.split(' ')) };
  tables.set(language, table);
  return table;
}

function weightOf(char: string, weights: Map<string, number>, language: LanguageProfile): number {
  const weight = weights.get(char);
  if (weight !== undefined) return weight;
  if (language.script?.test(char)) return language.common === undefined ? 0.1 : 0.45;
  if (boxes.test(char)) return 0.2;
  if (/[\ufffd\u0080-\u009f\ue000-\uf8ff]/u.test(char)) return -2;
  if (language.common !== undefined && /[\u3000-\u303f\uff01-\uff60]/u.test(char)) return 0.5;
  // A letter that the language does not use is rare, any other sign rarer.
  return /\p{L}/u.test(char) ? -0.6 : -1;
}

/** Characters beyond ASCII with their counts, and how many stand where they do not belong. */
function countCharacters(text: string): { characters: Map<string, number>; all: number; misplaced: number } {
  const characters = new Map<string, number>();
  let all = 0;
  let misplaced = 0;
  const chars = [...text];
  for (const [at, char] of chars.entries()) {
    if (char < '\u0080') continue;
    all += 1;
    characters.set(char, (characters.get(char) ?? 0) + 1);
    misplaced += char === '’' ? (isApostrophe(chars.slice(Math.max(0, at - 3), at).join(''), chars.slice(at + 1, at + 4).join('')) ? 0 : 0.5) : misplacedBy(char, chars[at - 1] ?? ' ', chars[at + 1] ?? ' ');
  }
  return { characters, all, misplaced };
}

function misplacedBy(char: string, before: string, after: string): number {
  const [follows, leads] = [isLetter(before), isLetter(after)];
  if (isLetter(char)) {
    const script = scriptOf(char);
    if ((follows && scriptOf(before) !== script) || (leads && scriptOf(after) !== script)) return 0.8;
    if (/\p{Lu}/u.test(char) && /\p{Ll}/u.test(before)) return 1;
    // `aB` inside a word: the small letter stands before a capital.
    if (/\p{Ll}/u.test(char) && /\p{Lu}/u.test(after)) return 1;
    if (char === 'ς' && leads) return 1;
    if (char === before && char === after && script !== 'cjk') return 1;
    // Thai and Hebrew vowels stand with a letter, at most two marks on each.
    if (/\p{M}/u.test(char) && (!follows || (/\p{M}/u.test(before) && /\p{M}/u.test(after)))) return 1;
    // One letter of another alphabet alone, or right after a full stop.
    if (!follows && !leads && script !== 'latin') return 0.4;
    if (/[.,;:!?]/.test(before)) return 0.5;
    return /[\p{N}£$]/u.test(before) || (/\p{N}/u.test(after) && !follows) ? 0.4 : 0;
  }
  // Frames are drawn in lines; as letters these would be the same one again and again.
  if (boxes.test(char)) return '─═'.includes(char) && (before === char || after === char) ? -0.7 : !follows && !leads ? 0 : 1;
  if (openers.includes(char)) return follows ? 1 : leads || /[\p{Lu}\p{N}\p{P}\p{S}]/u.test(after) ? 0 : 0.3;
  if (closers.includes(char)) return leads ? 1 : /\s/u.test(before) && char !== '»' ? 0.5 : 0;
  if (char === '—' || char === '–') return follows !== leads ? 0.5 : follows ? 0.7 : 0;
  if (char === '·') return follows && leads ? 0.4 : 0;
  if (char === '\u00a0') return follows && leads ? 0.3 : 0;
  if (char === '\u00ad') return follows && leads ? 0 : 0.5;
  if (char === '…') return leads ? 0.8 : 0;
  const isAfterNumber = /[\p{N}\s]/u.test(before);
  if (char === '°') return isAfterNumber && /[CFK\s\p{P}]/u.test(after) ? -0.6 : follows || leads ? 1 : 0;
  if (char === 'µ') return isAfterNumber && /[mgslAVF]/.test(after) ? -0.6 : 1;
  if ('£€¥$'.includes(char)) return /\p{N}/u.test(after) || /\p{N}/u.test(before) ? -0.5 : follows || leads ? 1 : 0;
  if ('©®™'.includes(char)) return leads ? 1 : /\s/u.test(after) ? -0.4 : 0;
  if ('½¼¾×±§¢№¶²³'.includes(char)) return follows || leads ? 1 : /[\p{N}\s()]/u.test(before) && /[\p{N}\s()]/u.test(after) ? -0.3 : 0;
  if ('ºª'.includes(char)) return leads ? 1 : 0;
  return follows && leads ? 1 : 0;
}

/** `l’été`, `dell’anno`, `don’t`, `John’s`, `years’ ago`: between letters it stands near the beginning or the end of a word. */
const isApostrophe = (before: string, after: string): boolean =>
  !/\p{L}$/u.test(before) || !/^\p{L}/u.test(after) || /(?:^|\P{L})\p{L}{1,2}$|(?:ll|qu|tt|un|gl)$/iu.test(before) || /^(?:[stmd]|ll|re|ve)(?:\P{L}|$)/iu.test(after);

function scriptOf(char: string): string {
  if (/\p{Script=Latin}/u.test(char)) return 'latin';
  if (/\p{Script=Cyrillic}/u.test(char)) return 'cyrillic';
  if (/\p{Script=Greek}/u.test(char)) return 'greek';
  if (/\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|ー/u.test(char)) return 'cjk';
  if (/\p{Script=Hangul}/u.test(char)) return 'hangul';
  return 'other';
}
