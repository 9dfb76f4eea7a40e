/** Wires meaning: for `serve`, how queries become vectors; for the worker, how excerpts do. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { createEmbeddingProvider, embeddingSourceSchema, modelOf, type EmbeddingProvider, type EmbeddingSource } from '../ai/embeddings.ts';
import { createReranker } from '../ai/rerank.ts';
import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import { withRerank } from '../search/rerank.ts';
import type { SearchIndex } from '../search/types.ts';
import { runEmbedLoop } from '../search/vectors/embed-loop.ts';
import { createMeaning, type Meaning } from '../search/vectors/meaning.ts';
import type { VectorModel } from '../search/vectors/types.ts';
import type { ChunkStore } from '../storage/ports.ts';
import { openVectorStore } from '../storage/sqlite/vector-store.ts';

type Embeddings = NonNullable<Config['embeddings']>;

/** The model that made stored vectors. The key that is set goes only to where it is set for. */
function providerFor(model: VectorModel, settings: Embeddings, more: { isBackground?: boolean; queryBudgetMs?: number }): EmbeddingProvider | null {
  const data = sourceOf(model);
  if (data === null) return null;
  const isOurs = data.kind === 'endpoint' && settings.source.kind === 'endpoint' && new URL(data.url).origin === new URL(settings.source.url).origin;
  return createEmbeddingProvider({ source: data, key: isOurs ? settings.key : null, dimensions: model.dimensions, ...more });
}

const startsSlowly = (model: VectorModel): boolean => sourceOf(model)?.kind === 'local';
const sourceOf = (model: VectorModel): EmbeddingSource | null => embeddingSourceSchema.safeParse(model.source).data ?? null;

/** Far sooner than a process that nobody needs ends, and soon enough for a model that begins to serve. */
const WARM_MS = 10_000;
/** A command asks a question, or a few, of a local model that has to start first. */
const COMMAND_QUERY_MS = 30_000;

/** Null where no model is set: then searches go by words. For a command it is not kept warm; its questions wait for the model instead. */
export function openMeaning(config: Config, databasePath: string, deps: { clock: Clock; log: Logger; isCommand: boolean }): Meaning | null {
  const settings = config.embeddings;
  if (settings === null) return null;
  const store = openVectorStore(databasePath, { readonly: true });
  const meaning = createMeaning({
    store,
    clock: deps.clock,
    providerOf: (model) => providerFor(model, settings, deps.isCommand && startsSlowly(model) ? { queryBudgetMs: COMMAND_QUERY_MS } : {}),
    startsSlowly,
    onTrouble: (trouble) => {
      if (trouble === null) deps.log.info('questions are understood by meaning again');
      else deps.log.warn(`searches go by words only: ${trouble}`);
    },
  });
  const keepWarm = (): void =>
    void meaning.keepWarm().catch((error: unknown) => deps.log.warn({ err: error }, 'the embedding model could not be kept ready'));
  if (!deps.isCommand) keepWarm();
  const timer = deps.isCommand ? undefined : setInterval(keepWarm, WARM_MS).unref();
  return {
    ...meaning,
    async close() {
      clearInterval(timer);
      await meaning.close();
      store.close();
    },
  };
}

/** What readiness says of meaning: trouble there never makes Sergo unready. */
export function meaningDetail(meaning: Meaning | null): string {
  if (meaning === null) return 'off: no embedding model is set, searches go by words';
  const { done, excerpts, next, trouble } = meaning.status();
  const share = (part: number, all: number): string => `${all === 0 ? 100 : Math.floor((part / all) * 100)} %`;
  const parts = [done < excerpts ? `${share(done, excerpts)} of the excerpts have vectors` : 'on'];
  if (next !== null) parts.push(`a new model has covered ${share(next.done, next.excerpts)}`);
  if (trouble !== null) parts.push(`trouble: ${trouble}`);
  return parts.join('; ');
}

/** What people should know of search as it is now, for health. `unranked`: what keeps a reranker from its work. */
export function searchNotices(meaning: Meaning | null, unranked: string | null): string[] {
  const trouble = meaning?.status().trouble ?? null;
  return [
    ...(trouble === null ? [] : [`search by meaning: ${trouble}; what it does not reach is found by its words`]),
    ...(unranked === null ? [] : [`reranking: ${unranked}; results keep the order of the index`]),
  ];
}

/** The index, reranked where a model for that is set. */
export function rerankWith(config: Config, index: SearchIndex, chunks: ChunkStore, onTrouble: (trouble: string | null) => void): SearchIndex {
  if (config.rerank === null) return index;
  return withRerank(index, {
    reranker: createReranker(config.rerank),
    textsOf: (refs) => chunks.byRefs(refs),
    onTrouble,
  });
}

/** Makes vectors in the background until it is stopped. */
export function startEmbedding(
  config: Config,
  databasePath: string,
  { log, hasRoom }: { log: Logger; hasRoom(): Promise<boolean> },
): { stop(): Promise<void> } {
  const settings = config.embeddings;
  if (settings === null) return { stop: async () => {} };
  const stopping = new AbortController();
  const store = openVectorStore(databasePath);
  const providers = new Map<number, EmbeddingProvider | null>();
  const loop = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      try {
        await runEmbedLoop(
          {
            store,
            wanted: { name: modelOf(settings.source), source: settings.source },
            providerOf: (model) => {
              if (!providers.has(model.ref)) providers.set(model.ref, providerFor(model, settings, { isBackground: true }));
              return providers.get(model.ref)!;
            },
            hasRoom,
            wait: (ms, signal) => sleep(ms, undefined, { signal }).catch(() => undefined),
            onTrouble: (trouble) => {
              if (trouble === null) log.info('vectors are being made again');
              else log.warn(`vectors are not being made: ${trouble}`);
            },
            onRefused: (count) => log.warn(`the embedding model cannot take ${count} of the last excerpts: they are found by their words only`),
          },
          stopping.signal,
        );
      } catch (error) {
        // A busy database or a full disk: later is soon enough.
        log.warn({ err: error }, 'making vectors was interrupted');
        await sleep(10_000, undefined, { signal: stopping.signal }).catch(() => undefined);
      }
    }
  };
  const running = loop();
  return {
    async stop() {
      stopping.abort(new Error('stopping'));
      for (const provider of providers.values()) await provider?.close();
      await running;
      store.close();
    },
  };
}
