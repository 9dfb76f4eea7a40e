import type { Logger } from 'pino';
import type { OpenSearch } from '../cli/services.ts';
import type { Config } from '../config.ts';
import { createSearchIndex } from '../search/pool.ts';
import type { SearchIndex } from '../search/types.ts';
import type { Meaning } from '../search/vectors/meaning.ts';
import { createSearchPorts } from './console-ports.ts';
import { createLog } from './log.ts';
import { openMeaning, rerankWith } from './meaning.ts';
import { openLibrary, type OpenLibrary } from './open-library.ts';

export interface SearchEngine {
  index: SearchIndex;
  /** Null where no embedding model is set. */
  meaning: Meaning | null;
  close(): Promise<void>;
}

/** Search as it is set up: words in threads, meaning and a reranker where there are models for them. */
export function openSearchEngine(config: Config, library: Pick<OpenLibrary, 'deps' | 'storage'>, log: Logger, threads = config.search.threads): SearchEngine {
  const meaning = openMeaning(config, library.storage.databasePath, { clock: library.deps.clock, log });
  const words = createSearchIndex({
    databasePath: library.storage.databasePath,
    threads,
    onError: (error) => log.error({ err: error }, 'search'),
    ...(meaning && { meaning }),
  });
  const index = rerankWith(config, words, library.storage.chunks, log);
  return {
    index,
    meaning,
    async close() {
      await index.close();
      await meaning?.close();
    },
  };
}

/** The library with its search, for one command beside a running server. */
export async function openSearch(config: Config): Promise<OpenSearch> {
  const library = await openLibrary(config);
  const engine = openSearchEngine(config, library, createLog(config, 'command'), 1);
  return {
    deps: library.deps,
    index: engine.index,
    ports: createSearchPorts({ library: library.deps, search: { storage: library.storage, index: engine.index, depth: config.search.depth } }),
    async close() {
      await engine.close();
      await library.close();
    },
  };
}
