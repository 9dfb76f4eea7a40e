/** Embedding models: text in, vectors of length 1 out. Two ways to one: an OpenAI-compatible endpoint, or a folder. */
import { z } from 'zod';

/** Models trained for search read a question and a passage differently. */
export type EmbeddingKind = 'passage' | 'query';

export interface EmbeddingProvider {
  /** Identity of the vectors: those of different models are never compared. */
  readonly model: string;
  /** Null until the first answer, unless it was given. */
  readonly dimensions: number | null;
  /** One vector a text, L2 length 1, in the order of `texts`. Throws ProviderError, or the signal's reason. */
  embed(texts: readonly string[], kind: EmbeddingKind, signal?: AbortSignal): Promise<Float32Array[]>;
  close(): Promise<void>;
}

/** Where a model is. Kept with its vectors, so that questions can still be asked of the old model while a new one is built. */
export type EmbeddingSource =
  | {
      kind: 'endpoint';
      /** Base address, such as `https://api.openai.com/v1`. */
      url: string;
      model: string;
      /** For services that name two models, one for questions. */
      queryModel: string | null;
      /** Put before each text; null: what the model is known to want. */
      queryPrefix: string | null;
      passagePrefix: string | null;
    }
  | {
      kind: 'local';
      /** Holds model.onnx and tokenizer.json. */
      folder: string;
      queryPrefix: string | null;
      passagePrefix: string | null;
    };

const prefixSchema = { queryPrefix: z.string().nullable(), passagePrefix: z.string().nullable() };
/** A source as it was stored: another version of Sergo may have written it. */
export const embeddingSourceSchema: z.ZodType<EmbeddingSource> = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('endpoint'), url: z.string(), model: z.string(), queryModel: z.string().nullable(), ...prefixSchema }),
  z.object({ kind: z.literal('local'), folder: z.string(), ...prefixSchema }),
]);

export interface ProviderOptions {
  source: EmbeddingSource;
  /** Sent as a bearer token to an endpoint. */
  key: string | null;
  /** What earlier vectors of this model have. */
  dimensions: number | null;
  /** Wall time of one call: questions wait for nobody, passages are work in the background. */
  queryBudgetMs?: number;
  passageBudgetMs?: number;
  /** A local model's process runs with the lowest priority. */
  isBackground?: boolean;
}

export const QUERY_BUDGET_MS = 2_000;
export const PASSAGE_BUDGET_MS = 120_000;

/** Starts nothing and calls nobody: packages and processes come with the first text. */
export function createEmbeddingProvider(options: ProviderOptions): EmbeddingProvider {
  const model = modelOf(options.source);
  let opening: Promise<EmbeddingProvider> | null = null;
  let opened: EmbeddingProvider | null = null;
  const open = (): Promise<EmbeddingProvider> => {
    opening ??= openProvider(options, model).then((provider) => (opened = provider));
    return opening;
  };
  return {
    model,
    get dimensions() {
      return opened?.dimensions ?? options.dimensions;
    },
    async embed(texts, kind, signal) {
      if (texts.length === 0) return [];
      return (await open()).embed(texts, kind, signal);
    },
    async close() {
      await (await opening)?.close();
    },
  };
}

async function openProvider(options: ProviderOptions, model: string): Promise<EmbeddingProvider> {
  const { source } = options;
  const prefixes = prefixesOf(source);
  const budgets = {
    query: options.queryBudgetMs ?? QUERY_BUDGET_MS,
    passage: options.passageBudgetMs ?? PASSAGE_BUDGET_MS,
  };
  if (source.kind === 'endpoint') {
    const { openEndpoint } = await import('./endpoint-embeddings.ts');
    return openEndpoint({ source, model, prefixes, budgets, key: options.key, dimensions: options.dimensions });
  }
  const { openLocal } = await import('./local-embeddings.ts');
  return openLocal({ folder: source.folder, model, prefixes, budgets, dimensions: options.dimensions, isBackground: options.isBackground ?? false });
}

/** Two sources whose vectors may be compared have the same name. */
export function modelOf(source: EmbeddingSource): string {
  const prefixes = prefixesOf(source);
  const marks = prefixes.passage === '' ? '' : ` [${prefixes.passage.trim()}]`;
  return source.kind === 'endpoint' ? `${source.model}${marks}` : `local:${source.folder}${marks}`;
}

/** E5 and BGE were trained with these words before each text, and lose without them. */
export function prefixesOf(source: EmbeddingSource): Record<EmbeddingKind, string> {
  const name = (source.kind === 'endpoint' ? source.model : (source.folder.split(/[\\/]/).findLast((part) => part !== '') ?? '')).toLowerCase();
  let known = { query: '', passage: '' };
  // The instruct variants take a sentence of instruction, which an admin sets as the prefix.
  if (/(^|[^a-z0-9])e5([^a-z0-9]|$)/.test(name) && !name.includes('instruct')) known = { query: 'query: ', passage: 'passage: ' };
  else if (/bge-(small|base|large)-en/.test(name)) known = { query: 'Represent this sentence for searching relevant passages: ', passage: '' };
  return { query: source.queryPrefix ?? known.query, passage: source.passagePrefix ?? known.passage };
}

/** Scales to length 1 in place. */
export function normalise(vector: Float32Array): Float32Array {
  let sum = 0;
  for (const x of vector) sum += x * x;
  const length = Math.sqrt(sum);
  if (length > 0) for (let i = 0; i < vector.length; i++) vector[i]! /= length;
  return vector;
}
