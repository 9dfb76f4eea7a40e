import { z } from 'zod';
import { listJudgedPages, removeJudgedPage, saveJudgedPage, type JudgedPageView } from '../../search/judged/judged-pages.ts';
import { actorOf } from './authentication.ts';
import type { ConsoleApp, ConsoleDeps } from './deps.ts';
import { empty, errorAnswers, idParams, time } from './schemas.ts';

const tags = ['search'];

const judgedSchema = z
  .object({
    id: z.string(),
    query: z.string(),
    key: z.object({ id: z.string(), name: z.string() }).nullable(),
    folder: z.object({ id: z.string(), path: z.string().nullable().describe('null: no longer mine to read') }).nullable(),
    document: z.object({ id: z.string(), name: z.string().nullable().describe('null: no longer mine to read') }),
    page: z.number().int().nullable(),
    grade: z.number().int(),
    created: time,
    lastRank: z.number().int().nullable().describe('Place in the last run of `sergo judged run`, from 1; null: not found, or not run'),
    lastRun: time.nullable(),
  })
  .meta({ id: 'JudgedPage' });

const shown = ({ createdAt, lastRunAt, ...judged }: JudgedPageView) => ({
  ...judged,
  created: new Date(createdAt).toISOString(),
  lastRun: lastRunAt === null ? null : new Date(lastRunAt).toISOString(),
});

export function addJudgedRoutes(app: ConsoleApp, { library }: ConsoleDeps): void {
  app.get(
    '/judged',
    {
      schema: {
        summary: 'My judged pages, oldest first',
        tags,
        response: { 200: z.object({ judged: z.array(judgedSchema) }), ...errorAnswers },
      },
    },
    async (request) => ({ judged: (await listJudgedPages(library, actorOf(request))).map(shown) }),
  );

  app.post(
    '/judged',
    {
      schema: {
        summary: 'This page should have been found',
        description: 'Kept for `sergo judged run`, which asks the query again and says where the page is.',
        tags,
        body: z.strictObject({
          query: z.string().describe('As it was asked'),
          asKey: z.string().optional().describe('The id of one of my agent keys: search as it'),
          folderId: z.string().optional().describe('Search only this folder with all inside'),
          documentId: z.string(),
          page: z.int().min(1).max(1_000_000).optional().describe('Left out: any page of the document'),
          grade: z.int().min(1).max(3).default(2).describe('1 helps, 2 answers, 3 is the one'),
        }),
        response: { 201: judgedSchema, ...errorAnswers },
      },
    },
    async (request, reply) => {
      const { asKey, ...body } = request.body;
      return reply.code(201).send(shown(await saveJudgedPage(library, actorOf(request), { ...body, keyId: asKey })));
    },
  );

  app.delete(
    '/judged/:id',
    { schema: { summary: 'Forget a judgement', tags, params: idParams, response: { 204: empty, ...errorAnswers } } },
    async (request, reply) => {
      await removeJudgedPage(library, actorOf(request), request.params.id);
      return reply.code(204).send(null);
    },
  );
}
