/**
 * `npm run bench:relevance -- --corpus DIR [--json]`: how good the ranking is on a judged collection. Last line: JSON
 * `{"set","ndcg10","recall100","queries","msPerQuery"}`. `--per-query FILE` writes each query's nDCG@10 for tests of
 * significance (`bench/significance.ts`); `--index-only` skips the library's services.
 */
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { loadCorpus, loadIndexOnly } from './relevance-library.ts';
import { firstOfEach, ndcgAt10, readRelevanceSet, recallAt100 } from './relevance-set.ts';

const DEPTH = 400;

const { values } = parseArgs({
  options: { corpus: { type: 'string' }, json: { type: 'boolean', default: false }, 'per-query': { type: 'string' }, 'index-only': { type: 'boolean', default: false } },
});
if (values.corpus === undefined) {
  process.stderr.write('Say which collection: npm run bench:relevance -- --corpus DIR (with corpus.jsonl, queries.jsonl, qrels.tsv)\n');
  process.exit(2);
}
const set = readRelevanceSet(resolve(values.corpus));
if (set.queries.length === 0) {
  process.stderr.write(`No query of ${set.name} has a judged document: qrels.tsv holds query, document and grade, parted by tabs\n`);
  process.exit(2);
}
const loading = performance.now();
const corpus = await (values['index-only'] ? loadIndexOnly(set) : loadCorpus(set));
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
if (corpus.unread.length > 0) {
  const some = corpus.unread.slice(0, 3).map(({ id, reason }) => `${id}: ${reason}`).join('; ');
  process.stderr.write(`${corpus.unread.length} of ${set.documents.length} documents could not be read and are found by nothing (${some})\n`);
}
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
