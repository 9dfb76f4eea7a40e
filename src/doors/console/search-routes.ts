import { z } from 'zod';
import type { UserActor } from '../../access/actor.ts';
import { guarded } from '../../access/guard.ts';
import { scopeOf, scopeOfOwnKey, type ResolvedScope } from '../../access/scope.ts';
import { AppError } from '../../errors.ts';
import { cleanText } from '../agent/text.ts';
import { shortenForAudit } from '../agent/tool.ts';
import { actorOf } from './authentication.ts';
import type { ConsoleApp, ConsoleDeps } from './deps.ts';
import { abortWhenGone } from './page-routes.ts';
import { errorAnswers } from './schemas.ts';
import { explainedSchema, resultSchema } from './search-schemas.ts';

const MAX_OFFSET = 80;
/** As in the agent tool. */
const MAX_QUERY_LENGTH = 4_000;

const searchQuery = z.object({
  q: z.string().default('').describe('Plain words or a question'),
  limit: z.coerce.number().int().min(1).max(20).default(10),
  offset: z.coerce.number().int().min(0).max(MAX_OFFSET).default(0),
  folders: z
    .union([z.string(), z.array(z.string()).max(100)])
    .optional()
    .describe('Only these folders, by name or path; repeat it for several'),
  explain: z.enum(['0', '1']).optional().describe('1: why each candidate is where it is, instead of the answer'),
  asKey: z.string().optional().describe('The id of one of my agent keys: search exactly what it reads'),
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
        querystring: searchQuery,
        response: { 200: z.union([z.array(resultSchema), explainedSchema]), ...errorAnswers },
      },
    },
    async (request, reply) => {
      const actor = actorOf(request);
      const { q, limit, offset, folders, asKey, explain } = request.query;
      const { storage, audit } = deps.library;
      const scope = asKey === undefined ? await scopeOf(storage, actor) : await scopeAs(deps, actor, asKey);
      const query = readQuery(q);
      const names = folders === undefined ? null : [folders].flat();
      const wanted = names === null || names.length === 0 ? null : names;
      const as = asKey === undefined ? '' : `, as key ${asKey}`;
      const shown = shortenForAudit(query);
      const asked = { query, folders: wanted, limit, offset, asKey: asKey ?? null };
      if (explain === '1') {
        const explained = await deps.ports.explain(scope, { query, limit, folders: wanted }, abortWhenGone(reply));
        await audit.record({
          actor,
          action: 'search',
          detail: `${shown} — explained, ${explained.candidates.length} candidates${as}`,
          asked: { ...asked, found: null },
        });
        return explained;
      }
      const found = await deps.ports.search(scope, { query, limit, offset, folders: wanted }, abortWhenGone(reply));
      await audit.record({
        actor,
        action: 'search',
        detail: `${shown} — ${found.count} ${found.count === 1 ? 'result' : 'results'}${offset > 0 ? `, from ${offset}` : ''}${as}`,
        asked: { ...asked, found: found.count },
      });
      // An offset that would be refused is not worth naming.
      if (found.nextOffset !== null && found.nextOffset <= MAX_OFFSET)
        reply.header('x-next-offset', String(found.nextOffset));
      return found.results;
    },
  );
}

/** The words of a query; AppError invalid with the agent tool's own sentences. */
function readQuery(text: string): string {
  if (text.length > MAX_QUERY_LENGTH)
    throw new AppError('invalid', 'The query is too long — use at most 4,000 characters', { field: 'q' });
  const words = cleanText(text).trim();
  if (words === '') throw new AppError('invalid', 'Give a query to search for.', { field: 'q' });
  return words;
}

/** What a key of the actor's reads; somebody else's is not found, and that it was asked for is in the log. */
function scopeAs(deps: ConsoleDeps, actor: UserActor, keyId: string): Promise<ResolvedScope> {
  const attempt = { action: 'search', object: { kind: 'key', id: keyId }, detail: 'as this key' } as const;
  return guarded(deps.library, actor, attempt, () => scopeOfOwnKey(deps.library.storage, actor, keyId));
}
