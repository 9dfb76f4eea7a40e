/**
 * What went wrong with a model endpoint, in words for health and logs. Never carries the endpoint's own text, which may
 * repeat what was sent, nor a key.
 */
export type ProviderTrouble =
  /** No answer, a 5xx or a cut body: may work a little later. */
  | 'unavailable'
  /** Too many requests (429). */
  | 'limited'
  /** Took longer than it may. */
  | 'timeout'
  /** A wrong key, address or model, a redirect: every call will fail until the settings change. */
  | 'refused'
  /** This text, not the next one: 400, 413, 422. */
  | 'unfit'
  /** An answer that is not what was asked for. */
  | 'bad_answer'
  /** Not asked at all: it failed too often just now. */
  | 'resting';

const repeatable: ReadonlySet<ProviderTrouble> = new Set(['unavailable', 'limited', 'timeout', 'bad_answer']);

export class ProviderError extends Error {
  readonly trouble: ProviderTrouble;
  /** What the endpoint asked for in Retry-After. */
  readonly retryAfterMs: number | undefined;

  constructor(trouble: ProviderTrouble, message: string, retryAfterMs?: number) {
    super(message);
    this.name = 'ProviderError';
    this.trouble = trouble;
    this.retryAfterMs = retryAfterMs;
  }

  get isRepeatable(): boolean {
    return repeatable.has(this.trouble);
  }
}

/** The ProviderError inside whatever a library made of it; anything else is trouble of the unavailable kind. */
export function asProviderError(error: unknown, name: string): ProviderError {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    if (at instanceof ProviderError) return at;
    if (at.name === 'TimeoutError') return new ProviderError('timeout', `${name} did not answer in time`);
    if (/JSONParse|TypeValidation|InvalidResponse/.test(at.name)) {
      return new ProviderError('bad_answer', `${name} answered something that is not the JSON that was asked for`);
    }
  }
  return new ProviderError('unavailable', `${name} could not be reached`);
}
