import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { readPage } from '../../library/reading.ts';
import { sendPicture } from '../http-downloads.ts';
import { actorOf } from './authentication.ts';
import type { ConsoleApp, ConsoleDeps } from './deps.ts';
import { errorAnswers, idParams } from './schemas.ts';

const tags = ['pages'];
const pageParams = idParams.extend({
  n: z.coerce.number().int().min(1).max(1_000_000).describe('Page number, from 1'),
});

const pageSchema = z.object({
  page: z.number().int(),
  text: z.string(),
  mark: z
    .enum(['view', 'image_only'])
    .nullable()
    .describe('view: the text may miss a figure, chart or table; image_only: a picture without text'),
  fate: z
    .enum(['text', 'ocr', 'image_only', 'garbled', 'empty', 'failed'])
    .describe('What became of this page when it was read'),
  notes: z.string().optional().describe('Speaker notes and comments: searchable, but kept apart from the text'),
  hidden: z.string().optional().describe('Text that the eye does not see on the page (white, zero size, off the page): never searched'),
});

const FORMATS = [
  { suffix: 'png', format: 'png', mime: 'image/png', summary: 'A page as a picture' },
  { suffix: 'pdf', format: 'pdf', mime: 'application/pdf', summary: 'A page alone as a PDF' },
] as const;

export function addPageRoutes(app: ConsoleApp, deps: ConsoleDeps): void {
  app.get(
    '/documents/:id/pages/:n',
    { schema: { summary: 'Text of a page', tags, params: pageParams, response: { 200: pageSchema, ...errorAnswers } } },
    (request) => readPage(deps.library, actorOf(request), request.params.id, request.params.n),
  );

  for (const { suffix, format, mime, summary } of FORMATS) {
    app.get(
      `/documents/:id/pages/:n.${suffix}`,
      { schema: { summary, tags, params: pageParams, produces: [mime], response: errorAnswers } },
      async (request, reply) => {
        const { id, n } = request.params;
        const page = await deps.ports.viewPage(actorOf(request), id, n, format, abortWhenGone(reply));
        return sendPicture(request as FastifyRequest, reply as FastifyReply, { ...page, mime, name: page.name });
      },
    );
  }
}

/** Nobody waits for a page whose reader has left. */
export function abortWhenGone(reply: { raw: FastifyReply['raw'] }): AbortSignal {
  const controller = new AbortController();
  reply.raw.once('close', () => controller.abort());
  return controller.signal;
}
