/** An OpenAI-compatible `/v1/embeddings`, through the AI SDK. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { z } from 'zod';
import { attemptDeps, Circuit, withAttempts, type AttemptDeps } from './attempts.ts';
import { boundedFetch, type Fetch } from './bounded-fetch.ts';
import { normalise, type EmbeddingKind, type EmbeddingProvider, type EmbeddingSource } from './embeddings.ts';
import { asProviderError, ProviderError } from './provider-error.ts';

const NAME = 'The embeddings endpoint';
/** Texts in one call: small enough for slow machines, large enough to hide the way. */
const BATCH = 32;
/** Longer texts are cut: models read a few thousand characters at most, and endpoints refuse what they cannot read. */
const TEXT_CHARS: Record<EmbeddingKind, number> = { query: 2_000, passage: 8_000 };
const MOST_DIMENSIONS = 4_096;
/** One attempt for a batch of passages may take this long. */
const PASSAGE_ATTEMPT_MS = 60_000;
/** A number as JSON, generously. */
const NUMBER_BYTES = 26;

const answerSchema = z.object({
  data: z.array(
    z.object({
      index: z.int().nonnegative().optional(),
      embedding: z.array(z.number()).min(8).max(MOST_DIMENSIONS),
    }),
  ),
});

export interface EndpointOptions {
  source: Extract<EmbeddingSource, { kind: 'endpoint' }>;
  model: string;
  prefixes: Record<EmbeddingKind, string>;
  budgets: Record<EmbeddingKind, number>;
  key: string | null;
  dimensions: number | null;
  fetch?: Fetch;
  attempts?: AttemptDeps;
}

export function openEndpoint(options: EndpointOptions): EmbeddingProvider {
  const { source, prefixes, budgets } = options;
  const deps = options.attempts ?? attemptDeps;
  const service = createOpenAICompatible({
    name: 'embeddings',
    baseURL: source.url.replace(/(?<!\/)\/+$/, '').replace(/\/embeddings$/, ''),
    ...(options.key === null ? {} : { apiKey: options.key }),
    fetch: boundedFetch(NAME, 65_536 + BATCH * MOST_DIMENSIONS * NUMBER_BYTES, options.fetch),
  });
  const models = {
    passage: service.embeddingModel(source.model),
    query: service.embeddingModel(source.queryModel ?? source.model),
  };
  // Questions and background work rest apart: a batch too large for the endpoint must not take meaning from searches.
  const circuits = { passage: new Circuit(NAME, deps.now), query: new Circuit(NAME, deps.now) };
  let dimensions = options.dimensions;

  const callOnce = async (values: string[], kind: EmbeddingKind, timeoutMs: number, signal?: AbortSignal): Promise<Float32Array[]> => {
    const timeout = AbortSignal.timeout(Math.max(1, Math.floor(timeoutMs)));
    try {
      const answer = await models[kind].doEmbed({
        values,
        abortSignal: signal === undefined ? timeout : AbortSignal.any([timeout, signal]),
      });
      return readVectors(answer.response?.body ?? { data: answer.embeddings.map((embedding) => ({ embedding })) }, values.length);
    } catch (error) {
      signal?.throwIfAborted();
      if (timeout.aborted) throw new ProviderError('timeout', `${NAME} did not answer in time`);
      throw asProviderError(error, NAME);
    }
  };

  const readVectors = (body: unknown, count: number): Float32Array[] => {
    const parsed = answerSchema.safeParse(body);
    if (!parsed.success) throw new ProviderError('bad_answer', `${NAME} answered something that is not a list of embeddings`);
    const { data } = parsed.data;
    if (data.length !== count) throw new ProviderError('bad_answer', `${NAME} answered ${data.length} embeddings for ${count} texts`);
    const vectors: Float32Array[] = [];
    data.forEach((entry, at) => {
      const length = entry.embedding.length;
      if (dimensions !== null && length !== dimensions) {
        throw new ProviderError('bad_answer', `${NAME} answered ${length} dimensions where this model's vectors have ${dimensions}`);
      }
      dimensions ??= length;
      const vector = Float32Array.from(entry.embedding);
      // Beyond what a 32-bit float holds, or nothing at all: no direction, nothing to compare.
      if (!vector.every(Number.isFinite) || vector.every((x) => x === 0)) {
        throw new ProviderError('bad_answer', `${NAME} answered an embedding without a direction`);
      }
      vectors[entry.index ?? at] = normalise(vector);
    });
    if (vectors.length !== count || vectors.includes(undefined as never)) {
      throw new ProviderError('bad_answer', `${NAME} answered embeddings with wrong numbers`);
    }
    return vectors;
  };

  return {
    model: options.model,
    get dimensions() {
      return dimensions;
    },
    async embed(texts, kind, signal) {
      const all: Float32Array[] = [];
      for (let at = 0; at < texts.length; at += BATCH) {
        const values = texts.slice(at, at + BATCH).map((text) => prefixes[kind] + shorten(text, TEXT_CHARS[kind]));
        const vectors = await circuits[kind].run(() =>
          withAttempts(deps, { budgetMs: budgets[kind], signal }, (leftMs) =>
            callOnce(values, kind, kind === 'query' ? leftMs : Math.min(leftMs, PASSAGE_ATTEMPT_MS), signal),
          ),
        );
        all.push(...vectors);
      }
      return all;
    },
    async close() {},
  };
}

/** Endpoints refuse empty texts and half surrogates. */
function shorten(text: string, chars: number): string {
  const cut = text.slice(0, chars).toWellFormed();
  return cut.trim() === '' ? '-' : cut;
}
