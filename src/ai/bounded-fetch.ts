/**
 * `fetch` for model endpoints that an admin has set: no redirects, no endless bodies, one kind of error. The address is
 * the admin's own setting, so a private one (a model on this machine) is meant; whatever the endpoint answers cannot send
 * the call anywhere else (trust.md P22).
 */
import { ProviderError } from './provider-error.ts';

export type Fetch = typeof globalThis.fetch;

/** A `fetch` whose answers are at most `maxBytes` and already read. Throws ProviderError. `name` is how errors call it. */
export function boundedFetch(name: string, maxBytes: number, fetch: Fetch = globalThis.fetch): Fetch {
  return async (input, init) => {
    let response: Response;
    try {
      response = await fetch(input, { ...init, redirect: 'manual' });
    } catch (error) {
      throw troubleOf(error, name);
    }
    if (!response.ok) {
      // The text of a refusal may repeat what was sent: it is neither read nor told.
      await response.body?.cancel().catch(() => undefined);
      throw refusal(response, name);
    }
    const bytes = await readUpTo(response, maxBytes, name);
    return new Response(bytes, { status: response.status, headers: { 'content-type': 'application/json' } });
  };
}

async function readUpTo(response: Response, maxBytes: number, name: string): Promise<Uint8Array<ArrayBuffer>> {
  const tooLong = (): ProviderError => new ProviderError('bad_answer', `${name} answered more than ${maxBytes} bytes`);
  if (Number(response.headers.get('content-length') ?? 0) > maxBytes) {
    await response.body?.cancel().catch(() => undefined);
    throw tooLong();
  }
  const parts: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const part of response.body ?? []) {
      length += part.length;
      // Leaving the loop ends the connection.
      if (length > maxBytes) throw tooLong();
      parts.push(part);
    }
  } catch (error) {
    throw troubleOf(error, name);
  }
  return new Uint8Array(Buffer.concat(parts));
}

function troubleOf(error: unknown, name: string): unknown {
  if (error instanceof ProviderError) return error;
  const called = error instanceof Error ? error.name : '';
  if (called === 'AbortError') return error;
  if (called === 'TimeoutError') return new ProviderError('timeout', `${name} did not answer in time`);
  return new ProviderError('unavailable', `${name} could not be reached, or ended its answer half way`);
}

function refusal(response: Response, name: string): ProviderError {
  const { status } = response;
  if (status >= 300 && status < 400) return new ProviderError('refused', `${name} answered with a redirect, which is not followed`);
  if (status === 429) {
    return new ProviderError('limited', `${name} says that it is asked too often (429)`, retryAfterMs(response.headers.get('retry-after')));
  }
  if (status === 401 || status === 403) return new ProviderError('refused', `${name} does not accept the key that is set (${status})`);
  if (status >= 500 || status === 408) {
    return new ProviderError('unavailable', `${name} is in trouble itself (${status})`, retryAfterMs(response.headers.get('retry-after')));
  }
  const ofThisText = status === 400 || status === 413 || status === 422;
  return new ProviderError(ofThisText ? 'unfit' : 'refused', `${name} refused the call (${status})`);
}

/** Seconds or a date, as RFC 9110 has it. */
export function retryAfterMs(header: string | null, now = Date.now()): number | undefined {
  if (header === null || header.trim() === '') return undefined;
  const seconds = Number(header);
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(header) - now;
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}
