import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { AppError, httpStatusOf, type ErrorCode } from '../errors.ts';

/** The one shape of every error that leaves `/api`. */
export interface ErrorBody {
  code: ErrorCode;
  message: string;
  field?: string;
  requestId: string;
}

const GENERIC = 'Something went wrong on our side — it is in the server log under this request id';
export const UNKNOWN_PATH = 'There is nothing at this address — /api/v1/openapi.json lists every call';

/** What fastify and its plugins throw, in our words. */
const FROM_FASTIFY: Record<string, { code: ErrorCode; message: string }> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: { code: 'wrong_type', message: 'Send this call as Content-Type: application/json' },
  FST_ERR_CTP_BODY_TOO_LARGE: { code: 'too_large', message: 'The body is larger than this call takes' },
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: {
    code: 'bad_request',
    message: 'The body is shorter or longer than its Content-Length says',
  },
  FST_ERR_CTP_INVALID_JSON_BODY: { code: 'bad_request', message: 'The body is not valid JSON' },
  FST_ERR_CTP_EMPTY_JSON_BODY: { code: 'bad_request', message: 'The body is not valid JSON' },
  FST_ERR_BAD_URL: { code: 'bad_request', message: 'The address is not a valid URL path' },
  FST_ERR_MAX_PARAM_LENGTH: { code: 'not_found', message: UNKNOWN_PATH },
  FST_ERR_REOPENED_CLOSE_SERVER: { code: 'busy', message: 'The server is shutting down — try again in a moment' },
  FST_INVALID_MULTIPART_CONTENT_TYPE: {
    code: 'wrong_type',
    message: 'Send files as Content-Type: multipart/form-data',
  },
  FST_REQ_FILE_TOO_LARGE: { code: 'too_large', message: 'The file is larger than this server takes' },
  FST_FILES_LIMIT: { code: 'too_large', message: 'There are more files in this request than one request may carry' },
  FST_PARTS_LIMIT: { code: 'too_large', message: 'There are more parts in this request than one request may carry' },
  FST_FIELDS_LIMIT: { code: 'too_large', message: 'There are more fields in this request than one request may carry' },
  FST_PROTO_VIOLATION: { code: 'bad_request', message: 'A field name in the form is not allowed' },
};

/** Turns anything thrown into an AppError; `unknown` is true when it was none of a caller's doing and belongs in the log. */
export function toAppError(error: unknown): { error: AppError; unknown: boolean } {
  if (error instanceof AppError) return { error, unknown: false };
  const code = (error as FastifyError | null)?.code;
  const known = typeof code === 'string' ? FROM_FASTIFY[code] : undefined;
  if (known !== undefined) return { error: new AppError(known.code, known.message), unknown: false };
  // Body parsers and stream errors carry a 4xx of their own; their text is theirs, so it is not passed on.
  const status = (error as FastifyError | null)?.statusCode;
  if (status === 400)
    return {
      error: new AppError('bad_request', 'The request could not be read: check its headers and body'),
      unknown: false,
    };
  return { error: new AppError('internal', GENERIC), unknown: true };
}

export function errorBody(error: AppError, requestId: string): ErrorBody {
  return {
    code: error.code,
    message: error.message,
    ...(error.field === undefined ? {} : { field: error.field }),
    requestId,
  };
}

/** The server's error handler: one shape, one place. */
export function handleError(thrown: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const { error, unknown } = toAppError(thrown);
  if (unknown) request.log.error({ err: thrown }, 'request failed');
  sendError(error, request, reply);
}

export function sendError(error: AppError, request: FastifyRequest, reply: FastifyReply): void {
  const status = httpStatusOf[error.code];
  if (error.retryAfterSeconds !== undefined) reply.header('retry-after', String(error.retryAfterSeconds));
  if (status === 401) reply.header('www-authenticate', 'Bearer');
  // The rest of a body that is not wanted is not read either.
  if (status === 413) reply.header('connection', 'close');
  else if (request.raw.complete === false) stopReading(request, reply);
  for (const name of ['etag', 'content-disposition', 'content-length', 'accept-ranges', 'content-range'])
    reply.removeHeader(name);
  // A route's own serializer knows its answers, not this one.
  reply
    .code(status)
    .type('application/json; charset=utf-8')
    .serializer(JSON.stringify)
    .send(errorBody(error, request.id));
}

/** Of a body that was refused before it was read: enough for a small one to end by itself, so that the connection can be used again. */
const MOST_PASSED_OVER_BYTES = 1024 * 1024;
const LOOK_EVERY_MS = 100;

/** Node reads past what nobody wants for as long as it comes; after an answer that is an error, no more than this. */
function stopReading(request: FastifyRequest, reply: FastifyReply): void {
  const { raw } = request;
  reply.raw.once('finish', () => {
    if (raw.complete) return;
    const before = raw.socket.bytesRead;
    const looking = setInterval(() => {
      const passedOver = raw.socket.bytesRead - before;
      if (!raw.complete && !raw.socket.destroyed && passedOver <= MOST_PASSED_OVER_BYTES) return;
      clearInterval(looking);
      // The client has had its answer for a moment by now.
      if (!raw.complete) raw.socket.destroy();
    }, LOOK_EVERY_MS);
    looking.unref();
  });
}
