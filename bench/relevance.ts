/**
 * `npm run bench:relevance -- --corpus DIR [--json]`: how good the ranking is on a judged collection. Last line: JSON
 * `{"set","ndcg10","recall100","queries","msPerQuery"}`. `--per-query FILE` writes each query's nDCG@10 for tests of
 * significance (`bench/significance.ts`).
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { createSearchIndex } from '../src/search/pool.ts';
import type { RankedExcerpt, SearchIndex, SearchRequest } from '../src/search/types.ts';
import { firstOfEach, ndcgAt10, readRelevanceSet, recallAt100, type RelevanceSet } from './relevance-set.ts';
import { createSearchLibrary } from './search-library.ts';

const DEPTH = 400;

/** A collection in a library: how it is asked, and whose id each answer has. */
interface LoadedCorpus {
  rank(request: Pick<SearchRequest, 'query' | 'depth'>): Promise<RankedExcerpt[]>;
  /** Collection's id of a document. */
  idOf(document: number): string;
  close(): Promise<void>;
}

/** Loads a collection into an index of its own: one document a text, the title as its title, the id as its file name. */
function loadCorpus(set: RelevanceSet): Promise<LoadedCorpus> {
  const folder = mkdtempSync(join(tmpdir(), 'sergo-relevance-'));
  const library = createSearchLibrary(join(folder, 'library.db'));
  const documents = set.documents.map((document, i) => ({ ...document, ref: i + 1, folder: 1, name: `${document.id}.txt` }));
  for (let i = 0; i < documents.length; i += 200) library.add(documents.slice(i, i + 200));
  library.settle();
  const index: SearchIndex = createSearchIndex({ databasePath: library.path, threads: 1, timeoutMs: 60_000 });
  return Promise.resolve({
    rank: (request) => index.rank({ ...request, scope: { folders: [1], documents: [] } }),
    idOf: (document) => set.documents[document - 1]!.id,
    close: async () => {
      await index.close();
      library.close();
      rmSync(folder, { recursive: true, force: true });
    },
  });
}

const { values } = parseArgs({
  options: { corpus: { type: 'string' }, json: { type: 'boolean', default: false }, 'per-query': { type: 'string' } },
});
if (values.corpus === undefined) {
  process.stderr.write('Say which collection: npm run bench:relevance -- --corpus DIR (with corpus.jsonl, queries.jsonl, qrels.tsv)\n');
  process.exit(2);
}
const set = readRelevanceSet(resolve(values.corpus));
const loading = performance.now();
const corpus = await loadCorpus(set);
const loadMs = performance.now() - loading;
const perQuery: { query: string; ndcg10: number; recall100: number; ms: number }[] = [];
for (const query of set.queries) {
  const began = performance.now();
  const ranked = await corpus.rank({ query: query.text, depth: DEPTH });
  const ms = performance.now() - began;
  const ids = firstOfEach(ranked.map((excerpt) => corpus.idOf(excerpt.document)));
  const judged = set.judgements.get(query.id)!;
  perQuery.push({ query: query.id, ndcg10: ndcgAt10(ids, judged), recall100: recallAt100(ids, judged), ms });
}
await corpus.close();
const mean = (of: (one: (typeof perQuery)[number]) => number): number => perQuery.reduce((sum, one) => sum + of(one), 0) / perQuery.length;
const round = (value: number): number => Math.round(value * 10_000) / 10_000;
const result = {
  set: set.name,
  ndcg10: round(mean((one) => one.ndcg10)),
  recall100: round(mean((one) => one.recall100)),
  queries: perQuery.length,
  msPerQuery: round(mean((one) => one.ms)),
};
if (values['per-query'] !== undefined) writeFileSync(values['per-query'], JSON.stringify(perQuery));
if (!values.json) {
  process.stdout.write(
    `${set.name}: ${set.documents.length} documents loaded in ${(loadMs / 1_000).toFixed(1)} s, ${result.queries} judged queries\n` +
      `nDCG@10 ${result.ndcg10}   recall@100 ${result.recall100}   ${result.msPerQuery} ms a query\n`,
  );
}
process.stdout.write(`${JSON.stringify(result)}\n`);
