import { z } from 'zod';
import { createKey, editKey, getKey, listKeys, revokeKey, rollKey, type KeyView } from '../../access/keys.ts';
import { guarded } from '../../access/guard.ts';
import { scopeOfOwnKey } from '../../access/scope.ts';
import { AppError } from '../../errors.ts';
import { actorOf } from './authentication.ts';
import type { ConsoleApp, ConsoleDeps } from './deps.ts';
import { empty, errorAnswers, idParams, time } from './schemas.ts';

const tags = ['keys'];
const ids = z.array(z.string()).max(1000);
const text = z.string().max(2000);

const agentKey = z.strictObject({
  kind: z.literal('agent'),
  name: text.describe('2 to 32 lower-case letters, digits and dashes, starting with a letter'),
  description: text.describe('What the documents are and when to use them, for the model that reads it'),
  folderIds: ids.default([]),
  documentIds: ids.default([]),
});
const personalKey = z.strictObject({ kind: z.literal('personal'), name: text, description: text.optional() });

const keySchema = z
  .object({
    id: z.string(),
    kind: z.enum(['agent', 'personal', 'external']),
    name: z.string(),
    description: z.string(),
    masked: z.string(),
    created: time,
    lastUsed: time.nullable(),
    revoked: time.nullable(),
    owner: z.object({ userId: z.string(), name: z.string() }),
    folders: z.array(z.object({ id: z.string(), name: z.string(), path: z.string() })).optional(),
    documents: z.array(z.object({ id: z.string(), name: z.string() })).optional(),
  })
  .meta({ id: 'Key' });

const isoOrNull = (at: number | null) => (at === null ? null : new Date(at).toISOString());
const shown = ({ createdAt, lastUsedAt, revokedAt, ...key }: KeyView) => ({
  ...key,
  created: new Date(createdAt).toISOString(),
  lastUsed: isoOrNull(lastUsedAt),
  revoked: isoOrNull(revokedAt),
});

export function addKeyRoutes(app: ConsoleApp, deps: ConsoleDeps): void {
  const { library } = deps;

  app.post(
    '/keys',
    {
      schema: {
        summary: 'Make a key; its whole value is shown this once',
        tags,
        body: z.discriminatedUnion('kind', [agentKey, personalKey]),
        response: { 201: keySchema.extend({ key: z.string() }), ...errorAnswers },
      },
    },
    async (request, reply) => {
      const made = await createKey(library, actorOf(request), request.body);
      return reply.code(201).send({ ...shown(made), key: made.key });
    },
  );

  app.get(
    '/keys',
    {
      schema: {
        summary: 'My keys, newest first; admins may ask for all',
        tags,
        querystring: z.object({ all: z.enum(['true', 'false']).default('false') }),
        response: { 200: z.object({ keys: z.array(keySchema) }), ...errorAnswers },
      },
    },
    async (request) => ({
      keys: (await listKeys(library, actorOf(request), { all: request.query.all === 'true' })).map(shown),
    }),
  );

  app.get(
    '/keys/:id',
    { schema: { summary: 'A key', tags, params: idParams, response: { 200: keySchema, ...errorAnswers } } },
    async (request) => shown(await getKey(library, actorOf(request), request.params.id)),
  );

  app.patch(
    '/keys/:id',
    {
      schema: {
        summary: 'Change its name, description, or what it reads',
        tags,
        params: idParams,
        body: z.strictObject({
          name: text.optional(),
          description: text.optional(),
          folderIds: ids.optional(),
          documentIds: ids.optional(),
        }),
        response: { 200: keySchema, ...errorAnswers },
      },
    },
    async (request) => shown(await editKey(library, actorOf(request), request.params.id, request.body)),
  );

  app.post(
    '/keys/:id/roll',
    {
      schema: {
        summary: 'A new value; the old one works until the time chosen',
        tags,
        params: idParams,
        body: z.strictObject({ grace: z.enum(['now', '1h', '24h', '7d']) }),
        response: { 200: z.object({ key: z.string(), masked: z.string(), oldValidUntil: time }), ...errorAnswers },
      },
    },
    async (request) => {
      const rolled = await rollKey(library, actorOf(request), request.params.id, request.body.grace);
      return { ...rolled, oldValidUntil: new Date(rolled.oldValidUntil).toISOString() };
    },
  );

  app.delete(
    '/keys/:id',
    {
      schema: {
        summary: 'Revoke it, from the next call on',
        tags,
        params: idParams,
        response: { 204: empty, ...errorAnswers },
      },
    },
    async (request, reply) => {
      await revokeKey(library, actorOf(request), request.params.id);
      return reply.code(204).send(null);
    },
  );

  app.post(
    '/keys/:id/test',
    {
      schema: {
        summary: 'What would an agent with this key find, and has one come yet?',
        tags,
        params: idParams,
        response: {
          200: z.object({
            ok: z.boolean(),
            url: z.string(),
            folders: z.number().int(),
            documents: z.number().int(),
            lastUsed: time.nullable(),
          }),
          ...errorAnswers,
        },
      },
    },
    async (request) => {
      const actor = actorOf(request);
      const { id } = request.params;
      const key = await getKey(library, actor, id);
      return guarded(library, actor, { action: 'key read', object: { kind: 'key', id } }, async () => {
        if (key.owner.userId !== actor.user.id) throw new AppError('forbidden', 'Only its owner can test a key');
        const about = { url: `${deps.publicUrl}/mcp`, lastUsed: isoOrNull(key.lastUsedAt) };
        if (key.revokedAt !== null || key.kind !== 'agent') return { ok: false, folders: 0, documents: 0, ...about };
        const scope = await scopeOfOwnKey(library.storage, actor, id);
        return {
          ok: true,
          folders: scope.folders.length,
          documents: await library.storage.documents.count(scope),
          ...about,
        };
      });
    },
  );
}
