/** Quoted phrases: which excerpts can have them, which of these are looked into, and whether they are there. */
import type { ExcerptPlace } from '../storage/sqlite/search-reader.ts';
import { foldForPhrase } from './analysis/fold.ts';
import type { Prepared, RankedList, RankedSlot } from './lexical.ts';
import { markAll, type Matches, type MatchSource } from './matches.ts';
import type { Query } from './query.ts';
import type { ScoreInput } from './score.ts';
import { countBits } from './slot-table.ts';

/** Excerpts whose text is read to look for phrases, best first; fewer when function words are all that is asked for. */
const MAX_CHECKS = 2_000;
const MAX_FUNCTION_CHECKS = 600;
/** Occurrences that are scored to choose them, at most. */
const MAX_CHOOSING = 100_000;

type RankPlain = (input: ScoreInput, prepared: readonly Prepared[]) => RankedList;

/** Only excerpts that have every quoted phrase; null when none has, and the query is read as plain words. */
export function rankPhrases(
  source: MatchSource,
  input: ScoreInput,
  query: Query,
  prepared: readonly Prepared[],
  rankPlain: RankPlain,
): RankedList | null {
  const allowed = Uint32Array.from(input.mask.words);
  for (const one of narrowing(query, prepared)) {
    const bits = new Uint32Array(allowed.length);
    markAll(source, one.matches, bits);
    let left = 0;
    for (let w = 0; w < allowed.length; w++) left |= allowed[w]! &= bits[w]!;
    if (left === 0) return null;
  }
  const isTelling = prepared.some(({ word }) => word.kind !== 'stop');
  const most = isTelling ? MAX_CHECKS : MAX_FUNCTION_CHECKS;
  const narrowed = { ...input, allowed, depth: Math.max(most, input.depth) };
  const choosing = withinBudget(prepared, allowed.reduce((sum, word) => sum + countBits(word), 0));
  const { slots } = rankPlain(narrowed, choosing);
  const kept: RankedSlot[] = [];
  const layouts = new Map<number, ExcerptPlace[]>();
  let checked = 0;
  for (const ranked of slots) {
    if (kept.length === input.depth || checked === most) break;
    if (++checked % 32 === 0) input.check();
    if (hasPhrases(input, ranked.slot, query.phrases, layouts)) kept.push(ranked);
  }
  if (kept.length === 0) return null;
  const matched = Math.max(kept.length, slots.length - checked + kept.length);
  return { slots: choosing.length < prepared.length ? rankPlain({ ...input, allowed: bitsOf(kept, allowed.length) }, prepared).slots : kept, matched };
}

/** Words without which an excerpt cannot have all phrases. */
function narrowing(query: Query, prepared: readonly Prepared[]): Prepared[] {
  const inPhrases = prepared.filter(({ word, matches }) => {
    // Pieces of identifiers follow from the whole, and an identifier may be written in words.
    return word.phrases.length > 0 && word.wholeOf === null && !(word.kind === 'identifier' && matches.cost === 0);
  });
  // Function words are in most excerpts: they are asked only where a phrase has nothing else.
  const telling = new Set(inPhrases.filter(({ word }) => word.kind !== 'stop').flatMap(({ word }) => word.phrases));
  const isOnlyFunction = query.phrases.map((_, phrase) => !telling.has(phrase));
  return inPhrases.filter(({ word }) => word.kind !== 'stop' || word.phrases.some((phrase) => isOnlyFunction[phrase]));
}

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

function hasPhrases(input: ScoreInput, slot: number, phrases: readonly string[], layouts: Map<number, ExcerptPlace[]>): boolean {
  const { table, reader } = input;
  const document = table.slotDocument[slot]!;
  // A long document has many excerpts to look into, and one layout.
  let layout = layouts.get(document);
  if (layout === undefined) layouts.set(document, (layout = reader.layout(table.refs[document]!)));
  const place = layout[slot - table.first[document]!];
  const row = place === undefined ? null : reader.text(place.chunk);
  if (row === null) return false;
  const text = foldForPhrase(row.section === null ? row.text : `${row.section}\n${row.text}`);
  return phrases.every((phrase) => text.includes(phrase) || (isUnspaced(phrase) && text.includes(phrase.trim())));
}

const isUnspaced = (phrase: string): boolean =>
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{M}\s]+$/u.test(phrase);
