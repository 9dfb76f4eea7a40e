/** For `explain`: how each word of a query was read, which excerpts have any of them, and what each word added to some of these. */
import type { Prepared } from './lexical.ts';
import { isMatched, markAll, markFolders, type MatchSource } from './matches.ts';
import { frequenciesOf, RANKING, rarity, type ScoreInput } from './score.ts';
import { countBits, hasBit, type ScopeMask } from './slot-table.ts';
import type { ExcerptReason, ExplainedWord } from './types.ts';

/** Places by words that are explained: far behind what a search deals, so that a page that missed is mostly among them. */
export const EXPLAINED_DEPTH = 400;
/** Excerpts that a quoted phrase is looked for in, so that those that have it are counted. */
export const EXPLAINED_PHRASES = 2_000;

/** Every excerpt with at least one of the words, the rare and the frequent, in text, title or the name of its folder. */
export function findMatched(source: MatchSource, prepared: readonly Prepared[]): { count: number; has(slot: number): boolean } {
  const bits = new Uint32Array(source.mask.words.length);
  for (const { matches } of prepared) {
    markAll(source, matches, bits);
    markFolders(source, matches, bits);
  }
  return { count: bits.reduce((sum, word) => sum + countBits(word), 0), has: (slot) => hasBit(bits, slot) };
}

export function explainWord({ word, matches, weight }: Prepared, mask: ScopeMask): ExplainedWord {
  const most = weight * rarity(matches.found, mask.excerpts) * (RANKING.k1 + 1);
  return {
    word: word.word,
    lookedUp: matches.terms.length > 0 ? matches.terms : [...word.terms.keys()],
    kind: word.kind,
    found: matches.found,
    weight: isMatched(matches) ? round(most) : 0,
  };
}

/** What each word added to each of some excerpts, largest first. */
export function explainSlots(input: ScoreInput, prepared: readonly Prepared[], slots: Iterable<number>): Map<number, ExcerptReason['words']> {
  const inOrder = Int32Array.from(new Set(slots)).sort();
  const added = new Map(Array.from(inOrder, (slot): [number, ExcerptReason['words']] => [slot, []]));
  for (const { word, matches, weight } of prepared) {
    const frequencies = frequenciesOf(input, matches, inOrder);
    const idf = weight * rarity(matches.found, input.mask.excerpts);
    inOrder.forEach((slot, i) => {
      const frequency = frequencies[i]!;
      if (frequency > 0) added.get(slot)!.push({ word: word.word, added: round((idf * (RANKING.k1 + 1) * frequency) / (RANKING.k1 + frequency)) });
    });
  }
  for (const words of added.values()) words.sort((a, b) => b.added - a.added);
  return added;
}

const round = (value: number): number => Math.round(value * 1_000) / 1_000;
