/** A search as a thread runs it: by words, fused with meaning where there is some, and the places of the best looked up. */
import type { SearchReader } from '../storage/sqlite/search-reader.ts';
import { EXPLAINED_DEPTH } from './explain-words.ts';
import { farthestOf, fuseRankings, type FusedSlot, type VectorSlot } from './fuse.ts';
import { inOrder, rankWords, type LexicalEngine, type ExplainedWords, type LexicalRequest, type RankedSlot } from './lexical.ts';
import { ScoreBoard } from './score.ts';
import { SlotTable, type ScopeMask } from './slot-table.ts';
import type { ExcerptReason, Explanation, RankedExcerpt } from './types.ts';

/**
 * A thread's second leg: the nearest excerpts by meaning inside the mask, and how near those are that words found, best
 * first; or null when it has none to offer.
 */
export type VectorLeg = (mask: ScopeMask, found: readonly RankedSlot[], depth: number) => VectorSlot[] | null;

export interface RankAnswer {
  ranked: RankedExcerpt[];
  /** When explained: what the depth cut off. */
  beyond: RankedExcerpt[];
  explanation: Explanation | null;
}

export function createEngine(reader: SearchReader): LexicalEngine {
  return { reader, table: new SlotTable(reader), board: new ScoreBoard() };
}

/** Ranks on one snapshot: what a commit changes is either wholly in the answer or not at all. */
export function rank(engine: LexicalEngine, request: LexicalRequest, vectors: VectorLeg | null = null): RankAnswer {
  const { reader, table } = engine;
  return reader.snapshot(() => {
    const { ranked, mask, isExact, explained } = rankWords(engine, request);
    // Who asks for a phrase or a part number means that and nothing like it.
    const near = vectors === null || isExact ? null : vectors(mask, ranked, request.depth);
    const best = inOrder(table, fuseRankings(ranked, near)).slice(0, request.depth);
    const placed = placesIn(engine);
    if (explained === null) return { ranked: best.map(placed), beyond: [], explanation: null };
    const wider = near === null ? null : vectors!(mask, explained.deeper, request.depth);
    const { beyond, reasons } = lookBeyond(engine, explained, { best, near, wider });
    const reasoned = (one: RankedSlot): RankedExcerpt => ({ ...placed(one), why: reasons.get(one.slot)! });
    return { ranked: best.map(reasoned), beyond: beyond.map(reasoned), explanation: explainSearch(explained, { inScope: mask.excerpts, best, near }) };
  });
}

/** Turns slots into what the rest of Sergo knows of them. */
function placesIn({ reader, table }: LexicalEngine): (one: RankedSlot) => RankedExcerpt {
  const layouts = new Map<number, ReturnType<SearchReader['layout']>>();
  return ({ slot, score }) => {
    const document = table.slotDocument[slot]!;
    const ref = table.refs[document]!;
    let layout = layouts.get(ref);
    if (layout === undefined) layouts.set(ref, (layout = reader.layout(ref)));
    const { chunk, page, position } = layout[slot - table.first[document]!]!;
    return { chunk, document: ref, documentId: table.ids[document]!, page, position, score };
  };
}

interface Candidates {
  best: readonly RankedSlot[];
  /** The candidates by meaning, and these with all that a deeper search by words finds. */
  near: readonly VectorSlot[] | null;
  wider: readonly VectorSlot[] | null;
}

/** What follows the best, measured as they were, and why each of both is where it is. */
function lookBeyond(engine: LexicalEngine, explained: ExplainedWords, { best, near, wider }: Candidates): { beyond: RankedSlot[]; reasons: Map<number, ExcerptReason> } {
  const fused = new Map<number, FusedSlot>(fuseRankings(explained.deeper, wider, undefined, farthestOf(near)).map((one) => [one.slot, one]));
  const answered = new Set(best.map(({ slot }) => slot));
  const others = [...fused.values()].filter(({ slot }) => !answered.has(slot));
  const beyond = inOrder(engine.table, others).slice(0, Math.max(0, EXPLAINED_DEPTH - best.length));
  const all = [...best, ...beyond];
  const words = explained.addedTo(all.map(({ slot }) => slot));
  const reasons = all.map(({ slot }, place): [number, ExcerptReason] => {
    const { lexicalRank, lexicalScore, vectorRank, vectorScore } = fused.get(slot)!;
    return [slot, { words: words.get(slot)!, lexicalRank, lexicalScore, vectorRank, vectorScore, fusedRank: place + 1, rerankRank: null }];
  });
  return { beyond, reasons: new Map(reasons) };
}

function explainSearch(explained: ExplainedWords, { inScope, best, near }: Pick<Candidates, 'best' | 'near'> & { inScope: number }): Explanation {
  const { words, phrases, matched, hasWord } = explained;
  const onlyMeant = (near ?? []).filter(({ slot }) => !hasWord(slot)).length;
  return { words, inScope, matched, droppedByDepth: Math.max(0, matched + onlyMeant - best.length), phrases };
}
