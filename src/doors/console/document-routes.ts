import { z } from 'zod';
import {
  changeDocument,
  getDocument,
  listDocuments,
  purgeDocument,
  restoreDocument,
  trashDocument,
} from '../../library/documents.ts';
import { presets } from '../../library/presets.ts';
import { cancelProcessing, makePdfCopy, reprocessDocument } from '../../library/processing.ts';
import { openFile } from '../../library/reading.ts';
import { sendDownload } from '../http-downloads.ts';
import { actorOf } from './authentication.ts';
import type { ConsoleApp, RouteDeps } from './deps.ts';
import {
  documentSchema,
  empty,
  errorAnswers,
  idParams,
  listQuery,
  nameInput,
  purgeQuery,
  restoredDocumentSchema,
} from './schemas.ts';

const tags = ['documents'];
const one = { 200: documentSchema, ...errorAnswers };

export function addDocumentRoutes(app: ConsoleApp, deps: RouteDeps): void {
  const { library } = deps;

  app.get(
    '/documents',
    {
      schema: {
        summary: 'Everything I can read, newest first',
        tags,
        querystring: listQuery.extend({ folderId: z.string().optional().describe('Only this folder with all inside') }),
        response: {
          200: z.object({
            total: z.number().int(),
            documents: z.array(documentSchema),
            nextOffset: z.number().int().optional(),
          }),
          ...errorAnswers,
        },
      },
    },
    async (request) => {
      const { limit, offset } = request.query;
      const found = await listDocuments(library, actorOf(request), request.query);
      const next = offset + found.documents.length;
      return { ...found, ...(next < found.total && found.documents.length === limit ? { nextOffset: next } : {}) };
    },
  );

  app.get('/documents/:id', { schema: { summary: 'A document', tags, params: idParams, response: one } }, (request) =>
    getDocument(library, actorOf(request), request.params.id),
  );

  app.patch(
    '/documents/:id',
    {
      schema: {
        summary: 'Rename or move a document',
        tags,
        params: idParams,
        body: z.strictObject({ name: nameInput.optional(), folderId: z.string().optional() }),
        response: one,
      },
    },
    (request) => changeDocument(library, actorOf(request), request.params.id, request.body),
  );

  app.delete(
    '/documents/:id',
    {
      schema: {
        summary: 'To the trash, or away for good',
        tags,
        params: idParams,
        querystring: purgeQuery,
        response: { 204: empty, ...errorAnswers },
      },
    },
    async (request, reply) => {
      const remove = request.query.purge === 'true' ? purgeDocument : trashDocument;
      await remove(library, actorOf(request), request.params.id);
      return reply.code(204).send(null);
    },
  );

  app.post(
    '/documents/:id/restore',
    {
      schema: {
        summary: 'Out of the trash',
        tags,
        params: idParams,
        response: { 200: restoredDocumentSchema, ...errorAnswers },
      },
    },
    (request) => restoreDocument(library, actorOf(request), request.params.id),
  );

  app.post(
    '/documents/:id/reprocess',
    {
      schema: {
        summary: 'Read it again; the old pages serve until the new ones are there',
        tags,
        params: idParams,
        body: z.strictObject({ preset: z.string().max(100).default('basic') }),
        response: { 202: documentSchema, ...errorAnswers },
      },
    },
    async (request, reply) => {
      const view = await reprocessDocument(library, actorOf(request), request.params.id, request.body.preset);
      deps.progress.expect(view.ref);
      return reply.code(202).send(view);
    },
  );

  app.post(
    '/documents/:id/pdf-copy',
    {
      schema: {
        summary: 'Make a PDF copy',
        tags,
        params: idParams,
        response: { 202: documentSchema, ...errorAnswers },
      },
    },
    async (request, reply) => {
      const view = await makePdfCopy(library, actorOf(request), request.params.id);
      deps.progress.expect(view.ref);
      return reply.code(202).send(view);
    },
  );

  app.post(
    '/documents/:id/cancel',
    { schema: { summary: 'Stop the work on it', tags, params: idParams, response: one } },
    (request) => cancelProcessing(library, actorOf(request), request.params.id),
  );

  app.get(
    '/documents/:id/file',
    {
      schema: {
        summary: 'The original bytes, or those of an alternative file; takes Range',
        tags,
        params: idParams,
        querystring: z.object({ kind: z.enum(['original', 'pdf-copy', 'ocr']).default('original') }),
        produces: ['application/octet-stream'],
        response: errorAnswers,
      },
    },
    async (request, reply) => {
      const file = await openFile(library, actorOf(request), request.params.id, request.query.kind);
      return sendDownload(request, reply, { ...file, open: (range) => library.blobs.stream(file.sha256, range) });
    },
  );

  app.get(
    '/presets',
    {
      schema: {
        summary: 'How a document may be read',
        tags,
        response: {
          200: z.object({ presets: z.array(z.object({ id: z.string(), name: z.string(), description: z.string() })) }),
          ...errorAnswers,
        },
      },
    },
    () => ({ presets: [...presets] }),
  );
}
