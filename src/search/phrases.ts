/** Quoted phrases: which excerpts can have them, which of these are looked into, and whether they are there. */
import { foldWord } from './analysis/fold.ts';
import type { Prepared, RankedSlot } from './lexical.ts';
import { markAll, type Matches, type MatchSource } from './matches.ts';
import { createPhraseCheck } from './phrase-check.ts';
import type { Query, QueryWord } from './query.ts';
import type { ScoreInput } from './score.ts';
import { countBits } from './slot-table.ts';

/** Excerpts whose text is read to look for phrases, best first; fewer when function words are all that is asked for. */
const MAX_CHECKS = 2_000;
const MAX_FUNCTION_CHECKS = 600;
/** Occurrences that are scored to choose them, at most. */
const MAX_CHOOSING = 100_000;

type RankPlain = (input: ScoreInput, prepared: readonly Prepared[]) => RankedSlot[];

/** Only excerpts that have every quoted phrase; null when none has, and the query is read as plain words. */
export function rankPhrases(
  source: MatchSource,
  input: ScoreInput,
  query: Query,
  prepared: readonly Prepared[],
  rankPlain: RankPlain,
): RankedSlot[] | null {
  const allowed = narrow(source, narrowing(query, prepared));
  if (allowed === null) return null;
  const isTelling = prepared.some(({ word }) => word.kind !== 'stop');
  const most = isTelling ? MAX_CHECKS : MAX_FUNCTION_CHECKS;
  const narrowed = { ...input, allowed, depth: Math.max(most, input.depth) };
  const choosing = withinBudget(prepared, allowed.reduce((sum, word) => sum + countBits(word), 0));
  const slots = rankPlain(narrowed, choosing);
  const kept: RankedSlot[] = [];
  const hasPhrases = createPhraseCheck(input, query.phrases);
  let checked = 0;
  for (const ranked of slots) {
    if (kept.length === input.depth || checked === most) break;
    if (++checked % 32 === 0) input.check();
    if (hasPhrases(ranked.slot)) kept.push(ranked);
  }
  if (kept.length === 0) return null;
  return choosing.length < prepared.length ? rankPlain({ ...input, allowed: bitsOf(kept, allowed.length) }, prepared) : kept;
}

/** From so many pairs of characters on, excerpts that lack one of them are few enough to be looked into. */
const MANY_PAIRS = 3;

/**
 * Excerpts that have all these words, as bits; null when there are none. Of many pairs of characters one may be missing: a line of a script
 * without spaces ends anywhere, and what stands at both sides is no pair.
 */
function narrow(source: MatchSource, words: readonly Prepared[]): Uint32Array | null {
  const allowed = Uint32Array.from(source.mask.words);
  const isLenient = words.filter(({ word }) => word.kind === 'bigram').length >= MANY_PAIRS;
  const lacking = new Uint32Array(allowed.length);
  for (const { word, matches } of words) {
    const bits = new Uint32Array(allowed.length);
    markAll(source, matches, bits);
    const mayLack = isLenient && word.kind === 'bigram';
    let left = 0;
    for (let w = 0; w < allowed.length; w++) {
      lacking[w] = (lacking[w]! & bits[w]!) | (mayLack ? allowed[w]! & ~bits[w]! : 0);
      allowed[w]! &= bits[w]!;
      left |= allowed[w]! | lacking[w]!;
    }
    if (left === 0) return null;
  }
  for (let w = 0; w < allowed.length; w++) allowed[w]! |= lacking[w]!;
  return allowed;
}

/** Words without which an excerpt cannot have all phrases. */
function narrowing(query: Query, prepared: readonly Prepared[]): Prepared[] {
  const pieces = query.phrases.map((phrase) => phrase.trim().split(' '));
  const sure = prepared.filter((one) => isSigned(one) || one.word.phrases.some((phrase) => isPiece(one.word, pieces[phrase]!)));
  // Function words are in most excerpts: they are asked only where a phrase has nothing else.
  const telling = new Set(sure.filter(({ word }) => word.kind !== 'stop').flatMap(({ word }) => word.phrases));
  const isOnlyFunction = query.phrases.map((_, phrase) => !telling.has(phrase));
  return sure.filter(({ word }) => word.kind !== 'stop' || word.phrases.some((phrase) => isOnlyFunction[phrase]));
}

/**
 * Whoever has the phrase has its pieces. Spellings of several pieces in one (`longterm`, `covid-19`) it need not have, nor diacritics, nor
 * single letters and digits: `L'Oréal` and `U.S.` are indexed without theirs.
 */
function isPiece({ kind, word, exactForm }: QueryWord, pieces: readonly string[]): boolean {
  if (exactForm) return false;
  const folded = foldWord(word);
  if (kind === 'bigram') return pieces.some((piece) => piece.includes(folded));
  return Array.from(folded).length > 1 && pieces.includes(folded);
}

/** The signs behind `C++` and `C#` are part of the name, where anything has it. */
const isSigned = ({ word, matches }: Prepared): boolean =>
  word.phrases.length > 0 && word.kind === 'identifier' && /(?:\+\+|#)$/.test(word.word) && matches.cost > 0;

/**
 * The words by which excerpts are chosen to be looked into: the rarest, until so many occurrences are to be scored. Words that are
 * everywhere hardly tell excerpts apart, and scoring ten of them takes longer than looking.
 */
export function withinBudget<T extends { matches: Pick<Matches, 'found' | 'cost'> }>(prepared: readonly T[], excerpts: number, budget = MAX_CHOOSING): readonly T[] {
  let left = budget;
  const rarest = prepared.toSorted((a, b) => a.matches.found - b.matches.found);
  const chosen = new Set(rarest.filter(({ matches }) => (left -= Math.min(matches.cost, excerpts)) >= 0));
  if (chosen.size === 0 && rarest.length > 0) chosen.add(rarest[0]!);
  return chosen.size === prepared.length ? prepared : prepared.filter((one) => chosen.has(one));
}

function bitsOf(ranked: readonly RankedSlot[], words: number): Uint32Array {
  const bits = new Uint32Array(words);
  for (const { slot } of ranked) bits[slot >> 5]! |= 1 << (slot & 31);
  return bits;
}
