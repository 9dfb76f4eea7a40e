import { z } from 'zod';
import type { UserActor } from '../../access/actor.ts';
import { guarded } from '../../access/guard.ts';
import { scopeOf, scopeOfOwnKey, type ResolvedScope } from '../../access/scope.ts';
import { actorOf } from './authentication.ts';
import type { ConsoleApp, ConsoleDeps } from './deps.ts';
import { abortWhenGone } from './page-routes.ts';
import { errorAnswers } from './schemas.ts';

const query = z.object({
  q: z.string().max(10_000).default('').describe('Plain words or a question'),
  limit: z.coerce.number().int().min(1).max(20).default(10),
  offset: z.coerce.number().int().min(0).max(80).default(0),
  folders: z
    .union([z.string(), z.array(z.string()).max(100)])
    .optional()
    .describe('Only these folders, by name or path; repeat it for several'),
  asKey: z.string().optional().describe('The id of one of my agent keys: search exactly what it reads'),
});

const resultSchema = z.object({
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

/** The agent tool's search, with the same engine and the same answer; where the next excerpts start is in `x-next-offset`. */
export function addSearchRoutes(app: ConsoleApp, deps: ConsoleDeps): void {
  app.get(
    '/search',
    {
      schema: {
        summary: 'Search as myself or as one of my agent keys',
        description:
          'Answers what the agent tool `search` returns. When there are more excerpts, the header X-Next-Offset says the offset of the next ones.',
        tags: ['search'],
        querystring: query,
        response: { 200: z.array(resultSchema), ...errorAnswers },
      },
    },
    async (request, reply) => {
      const actor = actorOf(request);
      const { q, limit, offset, folders, asKey } = request.query;
      const { storage, audit } = deps.library;
      const scope = asKey === undefined ? await scopeOf(storage, actor) : await scopeAs(deps, actor, asKey);
      const names = folders === undefined ? null : [folders].flat();
      const found = await deps.ports.search(
        scope,
        { query: q, limit, offset, folders: names === null || names.length === 0 ? null : names },
        abortWhenGone(reply),
      );
      const as = asKey === undefined ? '' : `, as key ${asKey}`;
      await audit.record({
        actor,
        action: 'search',
        detail: `${q} — ${found.count} results${offset > 0 ? `, from ${offset}` : ''}${as}`,
      });
      if (found.nextOffset !== null) reply.header('x-next-offset', String(found.nextOffset));
      return found.results;
    },
  );
}

/** What a key of the actor's reads; somebody else's is not found, and that it was asked for is in the log. */
function scopeAs(deps: ConsoleDeps, actor: UserActor, keyId: string): Promise<ResolvedScope> {
  const attempt = { action: 'search', object: { kind: 'key', id: keyId }, detail: 'as this key' } as const;
  return guarded(deps.library, actor, attempt, () => scopeOfOwnKey(deps.library.storage, actor, keyId));
}
