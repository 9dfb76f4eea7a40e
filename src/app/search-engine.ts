import type { Logger } from 'pino';
import type { OpenSearch } from '../cli/services.ts';
import type { Config } from '../config.ts';
import { createSearchIndex } from '../search/pool.ts';
import type { SearchIndex } from '../search/types.ts';
import type { Meaning } from '../search/vectors/meaning.ts';
import { createSearchPorts } from './console-ports.ts';
import { createLog } from './log.ts';
import { openMeaning, rerankWith, searchNotices } from './meaning.ts';
import { openLibrary, type OpenLibrary } from './open-library.ts';

export interface SearchEngine {
  index: SearchIndex;
  /** Null where no embedding model is set. */
  meaning: Meaning | null;
  /** What people should know of it now, for health; one sentence each. */
  notices(): string[];
  close(): Promise<void>;
}

/** Search as it is set up: words in threads, meaning and a reranker where there are models for them. */
export function openSearchEngine(config: Config, library: Pick<OpenLibrary, 'deps' | 'storage'>, log: Logger, isCommand = false): SearchEngine {
  const meaning = openMeaning(config, library.storage.databasePath, { clock: library.deps.clock, log, isCommand });
  const words = createSearchIndex({
    databasePath: library.storage.databasePath,
    threads: isCommand ? 1 : config.search.threads,
    onError: (error) => log.error({ err: error }, 'search'),
    ...(meaning && { meaning }),
  });
  let unranked: string | null = null;
  const index = rerankWith(config, words, library.storage.chunks, (trouble) => {
    unranked = trouble;
    if (trouble === null) log.info('results are reranked again');
    else log.warn(`results are not reranked: ${trouble}`);
  });
  return {
    index,
    meaning,
    notices: () => searchNotices(meaning, unranked),
    async close() {
      await index.close();
      await meaning?.close();
    },
  };
}

/** The library with its search, for one command beside a running server. */
export async function openSearch(config: Config): Promise<OpenSearch> {
  const library = await openLibrary(config);
  const engine = openSearchEngine(config, library, createLog(config, 'command'), true);
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
