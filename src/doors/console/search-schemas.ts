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
  matched: z.number().int(),
  droppedByDepth: z.number().int(),
  phrases: z.array(z.string()),
  candidates: z.array(
    z.object({
      document_id: z.string(),
      document: z.string(),
      page: placed,
      score: z.number(),
      place: z.number().int(),
      dropped: z.enum(['cap']).nullable(),
      why: z
        .object({
          words: z.array(z.object({ word: z.string(), added: z.number() })),
          lexicalRank: placed,
          lexicalScore: z.number(),
          vectorRank: placed,
          vectorScore: z.number().nullable(),
        })
        .nullable(),
    }),
  ),
});
