/** One search by words: the query read for the scope, its words matched, scored, phrases checked, places looked up. */
import type { SearchReader } from '../storage/sqlite/search-reader.ts';
import { hasFunctionWords } from './analysis/languages.ts';
import { corrections, longerTerms } from './expand.ts';
import { EXPLAINED_DEPTH, EXPLAINED_PHRASES, explainSlots, explainWord, findMatched } from './explain-words.ts';
import { eachDense, findMatches, isMatched, type Matches, type MatchSource } from './matches.ts';
import { rankPhrases } from './phrases.ts';
import { readQuery, STOP_WEIGHT, type Query, type QueryWord } from './query.ts';
import type { ScoreBoard} from './score.ts';
import { scoreMatches, type ScoreInput } from './score.ts';
import type { SlotTable} from './slot-table.ts';
import { type ScopeMask } from './slot-table.ts';
import type { ExcerptReason, Explanation, Scope } from './types.ts';

/** A slot with its score; what fusion works on. */
export interface RankedSlot {
  slot: number;
  score: number;
}

export interface LexicalAnswer {
  ranked: RankedSlot[];
  mask: ScopeMask;
  /** A quoted phrase was found, or nothing but identifiers was asked for and found. */
  isExact: boolean;
  /** Only when asked for. */
  explained: ExplainedWords | null;
}

/** More than the answer needs: what lies behind it, and why. */
export interface ExplainedWords {
  /** `ranked`, and what follows it in a deeper search. */
  deeper: RankedSlot[];
  words: Explanation['words'];
  phrases: string[];
  /** Excerpts with any word of the query; of those with a quoted phrase, the ones that were seen to have it. */
  matched: number;
  /** Does an excerpt have any word? */
  hasWord(slot: number): boolean;
  /** What each word added to each of some excerpts. */
  addedTo(slots: Iterable<number>): Map<number, ExcerptReason['words']>;
}

export interface LexicalRequest {
  query: string;
  scope: Scope;
  depth: number;
  explain: boolean;
  /** Throws when the search was given up. */
  check: () => void;
}

/** What a thread keeps between searches. */
export interface LexicalEngine {
  reader: SearchReader;
  table: SlotTable;
  board: ScoreBoard;
}

/** Longer words are looked for with this many words of a query, corrections for that many: a bound on very long ones. */
const MAX_STARTS = 8;
const MAX_CORRECTED = 4;
/** Words of a very long query that are searched. */
export const MAX_SEARCHED = 64;
const CORRECTED_WEIGHT = 0.6;
const PART_OF_FOUND_WEIGHT = 0.3;

/** A word of the query with where it occurs. */
export interface Prepared {
  word: QueryWord;
  matches: Matches;
  weight: number;
}

/** Ranks inside one snapshot that the reader has open. Order: score, document id, slot. */
export function rankWords(engine: LexicalEngine, request: LexicalRequest): LexicalAnswer {
  const { reader, table, board } = engine;
  table.catchUp();
  const mask = table.maskOf(request.scope);
  board.fit(table.slotDocument.length);
  const query = readQuery(request.query, mask.languages);
  const source: MatchSource = { reader, table, mask, scratch: board.scratch };
  const mayMean = query.phrases.length > 0 || query.words.some((word) => word.kind !== 'stop' || word.ordinaryIn.length > 0);
  const read = mayMean && mask.excerpts > 0 ? prepareWords(source, query, request.check) : [];
  const isTelling = read.some(({ word }) => word.kind !== 'stop');
  const prepared = query.phrases.length > 0 || isTelling ? read : [];
  const input: ScoreInput = { reader, table, mask, board, depth: request.depth, check: request.check };
  const rankTo = (depth: number): { slots: RankedSlot[]; hasPhrase: boolean } => {
    const to = { ...input, depth };
    const byPhrase = query.phrases.length > 0 ? rankPhrases(source, to, query, prepared, rankPlain) : null;
    if (byPhrase !== null) return { slots: byPhrase, hasPhrase: true };
    // Function words are something only as a phrase.
    return { slots: isTelling ? rankPlain(to, prepared) : [], hasPhrase: false };
  };
  const { slots: ranked, hasPhrase } = rankTo(request.depth);
  const isExact = ranked.length > 0 && (hasPhrase || asksForIdentifiers(prepared));
  if (!request.explain) return { ranked, mask, isExact, explained: null };
  const answered = new Set(ranked.map(({ slot }) => slot));
  const found = rankTo(Math.max(request.depth, hasPhrase ? EXPLAINED_PHRASES : EXPLAINED_DEPTH)).slots;
  const any = findMatched(source, hasPhrase || isTelling ? prepared : []);
  const explained: ExplainedWords = {
    deeper: [...ranked, ...found.filter(({ slot }) => !answered.has(slot))],
    words: prepared.map((one) => explainWord(one, mask)),
    phrases: hasPhrase ? query.phrases.map((phrase) => phrase.trim()) : [],
    matched: hasPhrase ? found.length : any.count,
    hasWord: any.has,
    addedTo: (slots) => explainSlots(input, prepared, slots),
  };
  return { ranked, mask, isExact, explained };
}

function asksForIdentifiers(prepared: readonly Prepared[]): boolean {
  const telling = prepared.filter(({ word }) => word.kind !== 'stop' && word.wholeOf === null);
  return telling.length > 0 && telling.every(({ word, matches }) => word.kind === 'identifier' && matches.cost > 0);
}

function prepareWords(source: MatchSource, query: Query, check: () => void): Prepared[] {
  const read = query.words.map((word): Prepared => {
    check();
    const matches = findMatches(source, word);
    if (word.kind !== 'stop' || !isOrdinary(source, matches, word.ordinaryIn)) return { word, matches, weight: word.weight };
    word.kind = 'word';
    return { word, matches, weight: word.weight / STOP_WEIGHT };
  });
  const prepared = chooseTelling(read);
  const meaningful = prepared.filter((one) => one.word.kind === 'word' && one.word.correctable);
  let started = 0;
  for (const one of prepared) {
    const { starts } = one.word;
    const unmatched = !isMatched(one.matches);
    if (starts.when === 'always' || (starts.when === 'unmatched' && unmatched)) {
      if (++started > MAX_STARTS) break;
      const longer = longerTerms(source, one.word, check);
      if (longer.length > 0) {
        for (const term of longer) one.word.terms.set(term, starts.factor);
        one.matches = findMatches(source, one.word);
      }
    }
  }
  // One odd word among others is a slip of the hand; when most have no match, the scope is simply about something else.
  const odd = meaningful.filter((one) => !isMatched(one.matches));
  if (odd.length <= Math.max(2, meaningful.length / 3)) {
    for (const one of odd.slice(0, MAX_CORRECTED)) {
      const meant = corrections(source, one.word, source.mask.languages, check);
      if (meant.length === 0) continue;
      one.word.kind = 'corrected';
      one.word.terms = new Map(meant.map((term, i) => [term, 1 / (i + 1)]));
      one.weight *= CORRECTED_WEIGHT;
      one.matches = findMatches(source, one.word);
    }
  }
  for (const one of prepared) {
    const whole = one.word.wholeOf === null ? undefined : prepared[one.word.wholeOf];
    if (whole !== undefined && whole.matches.cost > 0) one.weight *= PART_OF_FOUND_WEIGHT;
  }
  return prepared;
}

/**
 * Of more than 64 words those that say most: what stands in phrases, identifiers that are found, the rarest words in scope, then those
 * that nothing has (they may be misspelt), function words last. Counted inside the scope, so that nothing outside decides (P10).
 */
function chooseTelling(prepared: Prepared[]): Prepared[] {
  if (prepared.length <= MAX_SEARCHED) return prepared;
  const urgency = ({ word, matches }: Prepared): number => {
    if (word.phrases.length > 0) return 0;
    if (word.kind === 'stop') return 4;
    if (!isMatched(matches)) return 3;
    return word.kind === 'identifier' ? 1 : 2;
  };
  const order = prepared.map((_, i) => i);
  order.sort((a, b) => urgency(prepared[a]!) - urgency(prepared[b]!) || prepared[a]!.matches.found - prepared[b]!.matches.found || a - b);
  const kept = order.slice(0, MAX_SEARCHED).toSorted((a, b) => a - b);
  const placeOf = new Map(kept.map((from, to) => [from, to]));
  return kept.map((i) => {
    const one = prepared[i]!;
    one.word.wholeOf = one.word.wholeOf === null ? null : (placeOf.get(one.word.wholeOf) ?? null);
    return one;
  });
}

/** From this share of its occurrences on, a function word of one language is a word of another that the scope speaks. */
const ORDINARY_SHARE = 0.2;

/** Is what matched mostly, or at least often, in languages where it is no function word? Documents of languages unknown here say nothing. */
function isOrdinary(source: MatchSource, matches: Matches, languages: readonly string[]): boolean {
  if (languages.length === 0) return false;
  const { table, mask } = source;
  const isKnown = table.languageNames.map(hasFunctionWords);
  const isOrdinaryThere = table.languageNames.map((language) => languages.includes(language));
  let [all, ordinary] = [0, 0];
  const count = (slot: number): void => {
    const language = table.language[table.slotDocument[slot]!]!;
    if (isKnown[language]) all++;
    if (isOrdinaryThere[language]) ordinary++;
  };
  for (const list of matches.lists) for (const slot of list.slots) count(slot);
  for (const dense of matches.dense) eachDense(dense, mask.words, count);
  return ordinary > 0 && ordinary >= ORDINARY_SHARE * all;
}

function rankPlain(input: ScoreInput, prepared: readonly Prepared[]): RankedSlot[] {
  const scored = scoreMatches(input, prepared);
  const slots = scored.slots.map((slot, i) => ({ slot, score: scored.scores[i]! }));
  return inOrder(input.table, slots).slice(0, input.depth);
}

/** Score, then document id, then place in the document: excerpts of a document are in slots by page and position. */
export function inOrder(table: SlotTable, slots: RankedSlot[]): RankedSlot[] {
  const idOf = (slot: number): string => table.ids[table.slotDocument[slot]!]!;
  return slots.toSorted((a, b) => {
    if (a.score !== b.score) return b.score - a.score;
    const [x, y] = [idOf(a.slot), idOf(b.slot)];
    return x === y ? a.slot - b.slot : x < y ? -1 : 1;
  });
}
