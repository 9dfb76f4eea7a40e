/**
 * Text with the statistics of prose, made from a seed: a vocabulary of made-up words whose frequencies fall as Zipf's law
 * says, function words among the most frequent, topics that make documents differ, identifiers and years sprinkled in.
 */

export interface TextMaker {
  /** That many words of running text in sentences and paragraphs, of one topic. */
  text(words: number): string;
  /** Words of about the middle of the vocabulary, as queries have them. */
  rareWords(count: number): string[];
  /** Content words of any frequency: titles. */
  words(count: number): string;
  /** A query: a few content words of one topic, sometimes with function words. */
  query(): string;
  random(): number;
}

const FUNCTION = 'the of and to in a is that for it as with was on be by at from this are which or an were their has have had not but'.split(' ');
const ONSETS = ['b', 'br', 'c', 'ch', 'cl', 'cr', 'd', 'dr', 'f', 'fl', 'g', 'gr', 'h', 'j', 'k', 'l', 'm', 'n', 'p', 'pl', 'pr', 'qu', 'r', 's', 'sc', 'sh', 'sp', 'st', 'str', 't', 'th', 'tr', 'v', 'w'];
const VOWELS = ['a', 'e', 'i', 'o', 'u', 'ai', 'ea', 'ou', 'io'];
const CODAS = ['', '', '', 'n', 'r', 'l', 's', 't', 'm', 'ck', 'nd', 'nt', 'rm', 'st'];
const ENDINGS = ['', '', '', 's', 'ing', 'ed', 'ion', 'al', 'ity', 'er', 'ment'];

/** Deterministic: the same seed gives the same texts. `vocabulary` is the number of different stems. */
export function textMaker(seed: number, vocabulary = 60_000): TextMaker {
  const random = generator(seed);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
  const stems = makeStems(generator(99), vocabulary);
  // Rank r of Zipf's law by inverting its cumulative sum.
  const logSize = Math.log(vocabulary);
  const zipf = (): number => Math.min(vocabulary - 1, Math.floor(Math.exp(random() * logSize)) - 1);
  const word = (topic: number): string => {
    const kind = random();
    if (kind < 0.42) return FUNCTION[Math.floor(FUNCTION.length * random() ** 2)]!;
    if (kind < 0.43) return String(1950 + Math.floor(random() * 100));
    if (kind < 0.435) return `${pick(['AEO', 'IEO', 'TPS', 'GEN', 'REV'])}${Math.floor(random() * 9_000) + 1_000}-${pick(['A', 'B', 'Q1', 'Q4', 'X'])}`;
    const stem = kind < 0.65 ? stems[(topic * 211 + Math.floor(300 * random() ** 2)) % vocabulary]! : stems[zipf()]!;
    // A word has few forms: which ones depends on the word.
    return stem + ENDINGS[(stem.charCodeAt(0) * 7 + stem.length * 5 + Math.floor(4 * random() ** 2)) % ENDINGS.length]!;
  };
  const text = (count: number): string => {
    const topic = Math.floor(random() * 2_000);
    const pieces: string[] = [];
    let sentence = 0;
    for (let i = 0; i < count; i++) {
      const next = word(topic);
      pieces.push(sentence === 0 ? next[0]!.toUpperCase() + next.slice(1) : next);
      sentence++;
      if (sentence > 8 && random() < 0.12) {
        pieces[pieces.length - 1] += random() < 0.15 ? '.\n\n' : '.';
        sentence = 0;
      }
    }
    return `${pieces.join(' ')}.`;
  };
  const rareWords = (count: number): string[] => Array.from({ length: count }, () => stems[200 + Math.floor(random() * 3_000)]!);
  return {
    text,
    rareWords,
    words: (count) => Array.from({ length: count }, () => stems[zipf()]!).join(' '),
    query: () => {
      const topic = Math.floor(random() * 2_000);
      const count = 2 + Math.floor(random() * 5);
      return Array.from({ length: count }, () => word(topic)).join(' ');
    },
    random,
  };
}

function makeStems(random: () => number, count: number): string[] {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
  const seen = new Set<string>();
  while (seen.size < count) {
    const syllables = 2 + Math.floor(random() * 2);
    let stem = '';
    for (let i = 0; i < syllables; i++) stem += pick(ONSETS) + pick(VOWELS) + (i === syllables - 1 ? pick(CODAS) : '');
    seen.add(stem);
  }
  return [...seen];
}

/** mulberry32: small, fast, the same everywhere. */
function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}
