import type { MultipartFile } from '@fastify/multipart';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { UserActor } from '../../access/actor.ts';
import { AppError } from '../../errors.ts';
import { purgeDocument, trashDocument } from '../../library/documents.ts';
import { admitUpload, replaceDocument, uploadDocument } from '../../library/uploads.ts';
import type { DocumentView } from '../../library/views.ts';
import { checkContentLength } from '../http-downloads.ts';
import { toAppError } from '../http-errors.ts';
import { actorOf } from './authentication.ts';
import type { ConsoleApp, RouteDeps } from './deps.ts';
import { documentSchema, errorAnswers, idParams } from './schemas.ts';

/** What boundaries and part headers may add to the files of one request. */
const ENVELOPE_BYTES = 1024 * 1024;
const MAX_FILES = 1000;

/** As the library calls a file whose name says nothing. */
const UNNAMED = 'untitled';

interface SentFile {
  name: string | null;
  source: AsyncIterable<Uint8Array>;
}

const uploadAnswer = z.object({
  documents: z.array(documentSchema),
  failed: z
    .array(z.object({ name: z.string(), code: z.string(), message: z.string() }))
    .describe('Files of this request that were not taken, and why'),
});

export function addUploadRoutes(app: ConsoleApp, deps: RouteDeps): void {
  const maxRequestBytes = deps.library.limits.maxFileBytes + ENVELOPE_BYTES;
  const tooLongFirst = async (request: FastifyRequest): Promise<void> => checkContentLength(request, maxRequestBytes);

  app.post(
    '/folders/:id/documents',
    {
      onRequest: tooLongFirst,
      bodyLimit: maxRequestBytes,
      schema: {
        summary: 'Upload one or more files',
        tags: ['documents'],
        consumes: ['multipart/form-data'],
        params: idParams,
        querystring: z.object({ preset: z.string().max(100).default('basic') }),
        response: { 202: uploadAnswer, ...errorAnswers },
      },
    },
    async (request, reply) => {
      const actor = actorOf(request);
      requireMultipart(request);
      const target = { folderId: request.params.id, preset: request.query.preset };
      const release = await admitUpload(deps.library, actor, target, announcedBytes(request));
      const answer = await takeFiles(deps, actor, request, (file) =>
        uploadDocument(deps.library, actor, target, { ...file, name: file.name ?? UNNAMED }),
      ).finally(release);
      return reply.code(202).send(answer);
    },
  );

  app.post(
    '/documents/:id/replace',
    {
      onRequest: tooLongFirst,
      bodyLimit: maxRequestBytes,
      schema: {
        summary: 'A new file for the same document; the old pages serve until the new ones are there',
        tags: ['documents'],
        consumes: ['multipart/form-data'],
        params: idParams,
        response: { 202: documentSchema, ...errorAnswers },
      },
    },
    async (request, reply) => {
      const actor = actorOf(request);
      requireMultipart(request);
      const part = await request.file({ limits: { files: 1, fileSize: Infinity } });
      if (part === undefined) throw noFile();
      const view = await takeOne(part, ({ name, source }) =>
        replaceDocument(deps.library, actor, request.params.id, name === null ? { source } : { name, source }),
      ).catch((error: unknown) => {
        throw brokenBody(request, error);
      });
      deps.progress.expect(view.ref);
      return reply.code(202).send(view);
    },
  );
}

/** Each file of the request in turn, straight through to the blob store; one that is refused does not stop the others. */
async function takeFiles(
  deps: RouteDeps,
  actor: UserActor,
  request: FastifyRequest,
  take: (file: SentFile) => Promise<DocumentView>,
): Promise<z.infer<typeof uploadAnswer>> {
  const documents: DocumentView[] = [];
  const failures: { name: string; error: AppError }[] = [];
  try {
    for await (const part of request.files({
      limits: { files: MAX_FILES, fileSize: Infinity, parts: MAX_FILES * 2 },
    })) {
      try {
        const view = await takeOne(part, take);
        documents.push(view);
        deps.progress.expect(view.ref);
      } catch (error) {
        // A body that ends early is the request's end, not this file's.
        if (isBrokenOff(request) || !(error instanceof AppError)) throw error;
        // Without a Content-Length nobody knows how much more would have to be read past.
        if (error.code === 'too_large' && request.headers['content-length'] === undefined) throw error;
        failures.push({ name: nameOf(part) ?? UNNAMED, error });
        part.file.resume();
      }
    }
  } catch (error) {
    await takeBack(deps, actor, documents);
    throw brokenBody(request, error);
  }
  if (documents.length === 0) throw failures[0]?.error ?? noFile();
  return { documents, failed: failures.map(({ name, error }) => ({ name, code: error.code, message: error.message })) };
}

/** What the form calls the file; null when it says nothing: a part may be of a file's type and have no `filename`. */
const nameOf = (part: { filename?: string | undefined }): string | null => part.filename || null;

function takeOne(
  part: MultipartFile,
  take: (file: SentFile) => Promise<DocumentView>,
): Promise<DocumentView> {
  if (part.fieldname !== 'file')
    throw new AppError('invalid', 'Send files in parts that are named `file`', { field: 'file' });
  // Whoever stops reading half-way must not destroy the stream: the rest of the form, and the answer, still have to pass.
  return take({ name: nameOf(part), source: part.file.iterator({ destroyOnReturn: false }) });
}

/** A request that broke leaves nothing: whoever sent it got no answer and will send it again. */
async function takeBack(deps: RouteDeps, actor: UserActor, documents: readonly DocumentView[]): Promise<void> {
  for (const { id } of documents) {
    // For good where it is the actor's own tree, to the owner's trash in a folder that was shared with them.
    await purgeDocument(deps.library, actor, id).catch(() =>
      trashDocument(deps.library, actor, id).catch(() => undefined),
    );
  }
}

/** Node destroys a request also when all of it was read: only together with an end that never came does it mean that the sender went away. */
const isBrokenOff = ({ raw }: FastifyRequest): boolean => raw.destroyed && !raw.complete;

function brokenBody(request: FastifyRequest, error: unknown): unknown {
  const { error: known, unknown } = toAppError(error);
  if (!unknown) return known;
  return isBrokenOff(request) || (error as Error | null)?.message.includes('multipart') === true
    ? new AppError('bad_request', 'The form ends before its last part does — send it again')
    : error;
}

const noFile = (): AppError =>
  new AppError('invalid', 'Send one or more files in parts that are named `file`', { field: 'file' });

function requireMultipart(request: FastifyRequest): void {
  if (!request.isMultipart()) throw new AppError('wrong_type', 'Send files as Content-Type: multipart/form-data');
}

function announcedBytes(request: FastifyRequest): number | undefined {
  const length = Number(request.headers['content-length']);
  return Number.isSafeInteger(length) ? Math.max(0, length - ENVELOPE_BYTES) : undefined;
}
