import type { FastifyReply } from 'fastify';
import { Readable } from 'node:stream';
import { z } from 'zod';
import { getKey } from '../../access/keys.ts';
import { AppError } from '../../errors.ts';
import type { AuditRow } from '../../storage/ports.ts';
import { actorOf } from './authentication.ts';
import type { ConsoleApp, ConsoleDeps } from './deps.ts';
import { errorAnswers, time } from './schemas.ts';

const tags = ['audit'];
const filters = z.object({
  limit: z.coerce.number().int().min(1).max(1000).default(100),
  before: z.coerce
    .number()
    .int()
    .min(1)
    .max(Number.MAX_SAFE_INTEGER)
    .optional()
    .describe('`next` of the answer before'),
  actorId: z.string().optional().describe('A user or key; members may name themselves and their own keys'),
  action: z.string().max(100).optional(),
  outcome: z.enum(['ok', 'denied', 'error']).optional(),
  objectId: z.string().max(100).optional(),
  endUser: z.string().max(256).optional(),
});

const entrySchema = z.object({
  seq: z.number().int(),
  at: time,
  actor: z.string(),
  actorId: z.string().optional(),
  masked: z.string().optional(),
  endUser: z.string().optional(),
  action: z.string(),
  object: z.object({ kind: z.string(), id: z.string() }).optional(),
  detail: z.string(),
  outcome: z.enum(['ok', 'denied', 'error']),
  requestId: z.string(),
});

const shown = (row: AuditRow): z.infer<typeof entrySchema> => ({
  seq: row.seq,
  at: new Date(row.at).toISOString(),
  actor: row.actor,
  ...(row.actorId === null ? {} : { actorId: row.actorId }),
  ...(row.masked === null ? {} : { masked: row.masked }),
  ...(row.endUser === null ? {} : { endUser: row.endUser }),
  action: row.action,
  ...(row.objectKind === null || row.objectId === null ? {} : { object: { kind: row.objectKind, id: row.objectId } }),
  detail: row.detail,
  outcome: row.outcome,
  requestId: row.requestId,
});

export function addAuditRoutes(app: ConsoleApp, deps: ConsoleDeps): void {
  const { library } = deps;

  app.get(
    '/audit',
    {
      schema: {
        summary: 'Who did what, newest first; members see their own actions',
        tags,
        querystring: filters,
        response: {
          200: z.object({ entries: z.array(entrySchema), next: z.number().int().optional() }),
          ...errorAnswers,
        },
      },
    },
    async (request) => {
      const actor = actorOf(request);
      const { limit, actorId, ...filter } = request.query;
      let whose = actorId;
      if (actor.user.role !== 'admin') {
        // Somebody else's key is not found, as everywhere.
        if (actorId !== undefined && actorId !== actor.user.id) await getKey(library, actor, actorId);
        whose ??= actor.user.id;
      }
      const rows = await library.audit.list({ ...filter, ...(whose === undefined ? {} : { actorId: whose }) }, limit);
      const last = rows.length === limit ? rows.at(-1)?.seq : undefined;
      return { entries: rows.map(shown), ...(last === undefined || last <= 1 ? {} : { next: last }) };
    },
  );

  app.get(
    '/audit/export',
    {
      schema: {
        summary: 'The whole log, oldest first, for admins',
        tags,
        querystring: z.object({ format: z.enum(['jsonl', 'csv']).default('jsonl') }),
        produces: ['application/jsonl', 'text/csv'],
        response: errorAnswers,
      },
    },
    async (request, reply) => {
      const actor = actorOf(request);
      const { format } = request.query;
      if (actor.user.role !== 'admin') throw new AppError('forbidden', 'Only admins export the audit log');
      await library.audit.record({ actor, action: 'audit exported', detail: format });
      reply.type(format === 'csv' ? 'text/csv; charset=utf-8' : 'application/jsonl; charset=utf-8');
      reply.header('content-disposition', `attachment; filename="sergo-audit.${format}"`);
      return (reply as FastifyReply).send(Readable.from(library.audit.export(format)));
    },
  );
}
