/**
 * The one error for what a caller can act on. Each door turns it into its own shape once (HTTP status and JSON, or an
 * MCP result); anything else that is thrown is logged with the request id and answered by a generic sentence.
 */
export class AppError extends Error {
  readonly code: ErrorCode;
  /** The input that was wrong, when one can be named. */
  readonly field: string | undefined;
  /** Seconds after which a repeated call may succeed; becomes Retry-After. */
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, message: string, more: { field?: string; retryAfterSeconds?: number } = {}) {
    super(message);
    this.name = 'AppError';
    this.code = code;
    this.field = more.field;
    this.retryAfterSeconds = more.retryAfterSeconds;
  }
}

/** HTTP status per code: the only place where the two meet. */
export const httpStatusOf = {
  bad_request: 400,
  invalid: 400,
  no_auth: 401,
  bad_key: 401,
  bad_login: 401,
  personal_key: 403,
  external_key: 403,
  agent_key: 403,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  too_large: 413,
  wrong_type: 415,
  not_ready: 409,
  rate_limited: 429,
  internal: 500,
  busy: 503,
  disk_full: 507,
} as const;

export type ErrorCode = keyof typeof httpStatusOf;

/** The sentence for "not found" and "not yours": one constant, so that the two cannot drift apart (seeds/000). */
export const NOT_FOUND_SENTENCE = 'Not found, or not yours to see — the two are deliberately indistinguishable';

export const notFound = (): AppError => new AppError('not_found', NOT_FOUND_SENTENCE);
