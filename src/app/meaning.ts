/** Wires meaning: for `serve`, how queries become vectors; for the worker, how excerpts do. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { createEmbeddingProvider, embeddingSourceSchema, modelOf, type EmbeddingProvider } from '../ai/embeddings.ts';
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
function providerFor(model: VectorModel, settings: Embeddings, isBackground: boolean): EmbeddingProvider | null {
  const source = embeddingSourceSchema.safeParse(model.source);
  if (!source.success) return null;
  const { data } = source;
  const isOurs = data.kind === 'endpoint' && settings.source.kind === 'endpoint' && new URL(data.url).origin === new URL(settings.source.url).origin;
  return createEmbeddingProvider({ source: data, key: isOurs ? settings.key : null, dimensions: model.dimensions, isBackground });
}

/** Null where no model is set: then searches go by words. */
export function openMeaning(config: Config, databasePath: string, deps: { clock: Clock; log: Logger }): Meaning | null {
  const settings = config.embeddings;
  if (settings === null) return null;
  const store = openVectorStore(databasePath, { readonly: true });
  const meaning = createMeaning({
    store,
    clock: deps.clock,
    providerOf: (model) => providerFor(model, settings, false),
    onTrouble: (trouble) => {
      if (trouble === null) deps.log.info('questions are understood by meaning again');
      else deps.log.warn(`searches go by words only: ${trouble}`);
    },
  });
  return {
    ...meaning,
    async close() {
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

/** The index, reranked where a model for that is set. */
export function rerankWith(config: Config, index: SearchIndex, chunks: ChunkStore, log: Logger): SearchIndex {
  if (config.rerank === null) return index;
  return withRerank(index, {
    reranker: createReranker(config.rerank),
    textsOf: (refs) => chunks.byRefs(refs),
    onTrouble: (trouble) => {
      if (trouble === null) log.info('results are reranked again');
      else log.warn(`results are not reranked: ${trouble}`);
    },
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
              if (!providers.has(model.ref)) providers.set(model.ref, providerFor(model, settings, true));
              return providers.get(model.ref)!;
            },
            hasRoom,
            wait: (ms, signal) => sleep(ms, undefined, { signal }).catch(() => undefined),
            onTrouble: (trouble) => {
              if (trouble === null) log.info('vectors are being made again');
              else log.warn(`vectors are not being made: ${trouble}`);
            },
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
