import { z } from 'zod';
import { giveGrant, listGrants, removeGrant, type GrantTarget, type GrantView } from '../../access/grants.ts';
import { actorOf } from './authentication.ts';
import type { ConsoleApp, ConsoleDeps } from './deps.ts';
import { empty, errorAnswers, idParams, time } from './schemas.ts';

const tags = ['grants'];
const grantSchema = z
  .object({
    id: z.string(),
    user: z.object({ userId: z.string(), name: z.string(), email: z.string() }),
    right: z.enum(['read', 'edit']),
    grantedBy: z.object({ userId: z.string(), name: z.string() }),
    created: time,
    on: z
      .object({ kind: z.enum(['folder', 'document']), id: z.string() })
      .describe('The object itself, or a folder above it'),
  })
  .meta({ id: 'Grant' });
const grantInput = z.strictObject({ email: z.string().min(1).max(320), right: z.enum(['read', 'edit']) });

const shown = ({ createdAt, ...grant }: GrantView) => ({ ...grant, created: new Date(createdAt).toISOString() });

/** Sharing: every grant that reaches an object is listed on it and can be removed there (P13). */
export function addGrantRoutes(app: ConsoleApp, deps: ConsoleDeps): void {
  const objects: [string, (id: string) => GrantTarget][] = [
    ['folders', (folderId) => ({ folderId })],
    ['documents', (documentId) => ({ documentId })],
  ];
  for (const [path, target] of objects) {
    app.get(
      `/${path}/:id/grants`,
      {
        schema: {
          summary: 'Who may see it',
          tags,
          params: idParams,
          response: { 200: z.object({ grants: z.array(grantSchema) }), ...errorAnswers },
        },
      },
      async (request) => ({
        grants: (await listGrants(deps.library, actorOf(request), target(request.params.id))).map(shown),
      }),
    );
    app.post(
      `/${path}/:id/grants`,
      {
        schema: {
          summary: 'Share it with somebody',
          tags,
          params: idParams,
          body: grantInput,
          response: { 201: grantSchema, ...errorAnswers },
        },
      },
      async (request, reply) =>
        reply
          .code(201)
          .send(shown(await giveGrant(deps.library, actorOf(request), target(request.params.id), request.body))),
    );
  }

  app.delete(
    '/grants/:id',
    {
      schema: {
        summary: 'Stop sharing, or give back what was shared with me',
        tags,
        params: idParams,
        response: { 204: empty, ...errorAnswers },
      },
    },
    async (request, reply) => {
      await removeGrant(deps.library, actorOf(request), request.params.id);
      return reply.code(204).send(null);
    },
  );
}
