import { z } from 'zod';

/** What a search answers and why, for `/search` and for replays. */
export const resultSchema = z.object({
  document_id: z.string(),
  document: z.string(),
  folder: z.string(),
  pages_estimated: z.literal(true).optional(),
  image_only_pages: z.array(z.number().int()).optional(),
  hits: z.array(
    z.object({
      page: z.number().int().optional(),
      section: z.string().optional(),
      view_page_may_help: z.literal(true).optional(),
      excerpt: z.string(),
    }),
  ),
});

const placed = z.number().int().nullable();
export const explainedSchema = z.object({
  words: z.array(
    z.object({ word: z.string(), lookedUp: z.array(z.string()), kind: z.string(), found: z.number().int(), weight: z.number() }),
  ),
  inScope: z.number().int(),
  matched: z.number().int().describe('Excerpts of the scope with at least one word; of a quoted phrase, those seen to have it'),
  droppedByDepth: z.number().int().describe('Of these, and of what only its meaning brought in, how many lie below the depth of a search'),
  phrases: z.array(z.string()),
  candidates: z.array(
    z.object({
      document_id: z.string(),
      document: z.string(),
      page: placed,
      score: z.number(),
      place: placed.describe('In the sequence that answers are dealt from, from 0; null below the depth'),
      dropped: z.enum(['cap', 'depth']).nullable().describe('Held back to a later answer by the cap, or from all by the depth'),
      why: z
        .object({
          words: z.array(z.object({ word: z.string(), added: z.number() })),
          lexicalRank: placed,
          lexicalScore: z.number(),
          vectorRank: placed,
          vectorScore: z.number().nullable(),
          fusedRank: z.number().int().describe('By words and meaning together, from 1, before any reranking'),
          rerankRank: placed.describe('After reranking, from 1; null where nothing was reranked'),
        })
        .nullable(),
    }),
  ),
});
