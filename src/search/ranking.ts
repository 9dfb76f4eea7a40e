/** A search as a thread runs it: by words, fused with meaning where there is some, and the places of the best looked up. */
import type { SearchReader } from '../storage/sqlite/search-reader.ts';
import { fuseRankings, type VectorSlot } from './fuse.ts';
import { inOrder, rankWords, type LexicalEngine, type LexicalRequest, type RankedSlot } from './lexical.ts';
import { ScoreBoard } from './score.ts';
import { SlotTable, type ScopeMask } from './slot-table.ts';
import type { Explanation, RankedExcerpt } from './types.ts';

/**
 * A thread's second leg: the nearest excerpts by meaning inside the mask, and how near those are that words found, best
 * first; or null when it has none to offer.
 */
export type VectorLeg = (mask: ScopeMask, found: readonly RankedSlot[], depth: number) => VectorSlot[] | null;

export interface RankAnswer {
  ranked: RankedExcerpt[];
  explanation: Explanation | null;
}

export function createEngine(reader: SearchReader): LexicalEngine {
  return { reader, table: new SlotTable(reader), board: new ScoreBoard() };
}

/** Ranks on one snapshot: what a commit changes is either wholly in the answer or not at all. */
export function rank(engine: LexicalEngine, request: LexicalRequest, vectors: VectorLeg | null = null): RankAnswer {
  const { reader, table } = engine;
  return reader.snapshot(() => {
    const { ranked, mask, isExact, explanation } = rankWords(engine, request);
    // Who asks for a phrase or a part number means that and nothing like it.
    const near = vectors === null || isExact ? null : vectors(mask, ranked, request.depth);
    const best = inOrder(table, fuseRankings(ranked, near)).slice(0, request.depth) as ReturnType<typeof fuseRankings>;
    const layouts = new Map<number, ReturnType<SearchReader['layout']>>();
    const excerpts = best.map((one): RankedExcerpt => {
      const document = table.slotDocument[one.slot]!;
      const ref = table.refs[document]!;
      let layout = layouts.get(ref);
      if (layout === undefined) layouts.set(ref, (layout = reader.layout(ref)));
      const { chunk, page, position } = layout[one.slot - table.first[document]!]!;
      const excerpt: RankedExcerpt = { chunk, document: ref, documentId: table.ids[document]!, page, position, score: one.score };
      if (!request.explain) return excerpt;
      const { lexicalRank, lexicalScore, vectorRank, vectorScore } = one;
      return { ...excerpt, why: { words: one.words ?? [], lexicalRank, lexicalScore, vectorRank, vectorScore } };
    });
    return { ranked: excerpts, explanation };
  });
}
