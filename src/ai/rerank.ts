/**
 * A `/rerank` endpoint, as Cohere, Jina, vLLM, llama.cpp and TEI speak it: {model, query, documents, top_n} in, a list of
 * {index, relevance_score} out (TEI: {index, score}).
 */
import { z } from 'zod';
import { attemptDeps, Circuit, withAttempts, type AttemptDeps } from './attempts.ts';
import { boundedFetch, type Fetch } from './bounded-fetch.ts';
import { asProviderError, ProviderError } from './provider-error.ts';

const NAME = 'The rerank endpoint';
/** Searches wait for it. */
export const RERANK_BUDGET_MS = 3_000;
const TEXT_CHARS = 4_000;
const QUERY_CHARS = 2_000;
const MAX_ANSWER_BYTES = 4 * 1024 ** 2;

const entrySchema = z
  .object({ index: z.int().nonnegative(), relevance_score: z.number().optional(), score: z.number().optional() })
  .transform(({ index, relevance_score, score }) => ({ index, score: relevance_score ?? score }))
  .refine((entry): entry is { index: number; score: number } => entry.score !== undefined);
const list = z.array(entrySchema);
const answerSchema = z.union([list, z.object({ results: list }).transform((a) => a.results), z.object({ data: list }).transform((a) => a.data)]);

export interface Reranker {
  readonly model: string;
  /** One score a text, in the order of `texts`: higher fits better. Throws ProviderError, or the signal's reason. */
  score(query: string, texts: readonly string[], signal?: AbortSignal): Promise<number[]>;
}

export interface RerankOptions {
  /** Base address, or the whole one ending in `/rerank`. */
  url: string;
  model: string;
  key: string | null;
  budgetMs?: number;
  fetch?: Fetch;
  attempts?: AttemptDeps;
}

export function createReranker(options: RerankOptions): Reranker {
  const deps = options.attempts ?? attemptDeps;
  const url = `${options.url.replace(/(?<!\/)\/+$/, '').replace(/\/rerank$/, '')}/rerank`;
  const fetch = boundedFetch(NAME, MAX_ANSWER_BYTES, options.fetch);
  const circuit = new Circuit(NAME, deps.now);

  const callOnce = async (query: string, texts: readonly string[], timeoutMs: number, signal?: AbortSignal): Promise<number[]> => {
    const timeout = AbortSignal.timeout(Math.max(1, Math.floor(timeoutMs)));
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...(options.key === null ? {} : { authorization: `Bearer ${options.key}` }) },
        body: JSON.stringify({
          model: options.model,
          query: query.slice(0, QUERY_CHARS).toWellFormed(),
          documents: texts.map((text) => text.slice(0, TEXT_CHARS).toWellFormed()),
          top_n: texts.length,
        }),
        signal: signal === undefined ? timeout : AbortSignal.any([timeout, signal]),
      });
      return readScores(await response.json().catch(() => null), texts.length);
    } catch (error) {
      signal?.throwIfAborted();
      if (timeout.aborted) throw new ProviderError('timeout', `${NAME} did not answer in time`);
      throw asProviderError(error, NAME);
    }
  };

  return {
    model: options.model,
    async score(query, texts, signal) {
      if (texts.length === 0) return [];
      return circuit.run(() =>
        withAttempts(deps, { budgetMs: options.budgetMs ?? RERANK_BUDGET_MS, signal }, (leftMs) => callOnce(query, texts, leftMs, signal)),
      );
    },
  };
}

function readScores(body: unknown, count: number): number[] {
  const parsed = answerSchema.safeParse(body);
  if (!parsed.success) throw new ProviderError('bad_answer', `${NAME} answered something that is not a list of scores`);
  const scores = Array.from<number>({ length: count }).fill(Number.NaN);
  for (const { index, score } of parsed.data) if (index < count) scores[index] = score;
  if (scores.some(Number.isNaN)) throw new ProviderError('bad_answer', `${NAME} did not score every text`);
  return scores;
}
