import { z } from 'zod';
import { replaySearch } from '../../search/replay.ts';
import { actorOf } from './authentication.ts';
import type { ConsoleApp, ConsoleDeps } from './deps.ts';
import { abortWhenGone } from './page-routes.ts';
import { errorAnswers, time } from './schemas.ts';
import { explainedSchema, resultSchema } from './search-schemas.ts';

const replaySchema = z
  .object({
    entry: z.object({
      seq: z.number().int(),
      at: time,
      masked: z.string().nullable().describe('The key’s value that asked'),
      endUser: z.string().nullable(),
      query: z.string(),
      folders: z.array(z.string()).nullable(),
      limit: z.number().int(),
      offset: z.number().int(),
      asKey: z.string().nullable(),
      found: z.number().int().nullable().describe('Excerpts in the answer of then'),
    }),
    key: z.object({ id: z.string(), name: z.string(), masked: z.string() }).nullable().describe('null: I searched as myself'),
    found: z.number().int().describe('Excerpts in the answer now'),
    nextOffset: z.number().int().nullable(),
    results: z.array(resultSchema).describe('What the key gets now'),
    explained: explainedSchema,
    notice: z.string().nullable().describe('What is different from then besides the library'),
  })
  .meta({ id: 'ReplayedSearch' });

export function addReplayRoutes(app: ConsoleApp, deps: ConsoleDeps): void {
  app.post(
    '/audit/:id/replay',
    {
      schema: {
        summary: 'Ask a search of the log again, as its key',
        description: 'For the owner of the key that asked, or for whoever asked in person: what it gets now, and why.',
        tags: ['audit'],
        params: z.object({ id: z.string().describe('`seq` of an entry `mcp search` or `search`') }),
        response: { 200: replaySchema, ...errorAnswers },
      },
    },
    async (request, reply) => {
      const { id } = request.params;
      const seq = /^[1-9]\d{0,15}$/.test(id) ? Number(id) : Number.NaN;
      const { entry, ...replayed } = await replaySearch(deps.library, deps.ports, actorOf(request), seq, abortWhenGone(reply));
      return { ...replayed, entry: { ...entry, at: new Date(entry.at).toISOString() } };
    },
  );
}
