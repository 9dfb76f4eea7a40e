/**
 * `node bench/meaning-relevance.ts --corpus DIR [--corpus DIR] --embedder local:/folder|URL,MODEL [--cache FILE] [--weights 0.2,0.5]
 * [--rerank URL,MODEL]`: words alone, vectors alone and both together on judged collections, for each weight of meaning; then each
 * collection with the weight that is best on the other, and with the product's own, and a paired randomisation test against each
 * leg. With `--rerank` the product's order with its first 40 excerpts reordered by that `/rerank` service as well. Vectors are made
 * and searched as the product does it. Last line: JSON.
 */
import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { createEmbeddingProvider, type EmbeddingKind, type EmbeddingProvider, type EmbeddingSource } from '../src/ai/embeddings.ts';
import { createReranker, type Reranker } from '../src/ai/rerank.ts';
import { fuseRankings, VECTOR_WEIGHT } from '../src/search/fuse.ts';
import { inOrder, rankWords, type RankedSlot } from '../src/search/lexical.ts';
import { createEngine } from '../src/search/ranking.ts';
import { embedStep } from '../src/search/vectors/embed-loop.ts';
import { createVectorLegs } from '../src/search/vectors/vector-leg.ts';
import { openSearchReader } from '../src/storage/sqlite/search-reader.ts';
import { openVectorStore } from '../src/storage/sqlite/vector-store.ts';
import { vectorTables } from '../src/storage/sqlite/vector-tables.ts';
import { firstOfEach, ndcgAt10, readRelevanceSet, recallAt100 } from './relevance-set.ts';
import { createSearchLibrary } from './search-library.ts';

const { values: options } = parseArgs({
  options: {
    corpus: { type: 'string', multiple: true },
    embedder: { type: 'string' },
    cache: { type: 'string' },
    weights: { type: 'string', default: '0.2,0.3,0.4,0.5,0.6,0.7,0.8' },
    rerank: { type: 'string' },
  },
});
if (!options.corpus || !options.embedder) {
  process.stderr.write('Say which collections and which model: --corpus DIR --corpus DIR --embedder local:/folder, or --embedder http://localhost:8000/v1,MODEL\n');
  process.exit(2);
}
const DEPTH = 400;
const weights = [...new Set([...options.weights.split(',').map(Number), VECTOR_WEIGHT])].toSorted((a, b) => a - b);
/** As many as the product lets a reranker read. */
const RERANKED = 40;
const reranker = options.rerank === undefined ? null : rerankerOf(options.rerank);
const provider = cached(createEmbeddingProvider({ source: sourceOf(options.embedder), key: null, dimensions: null, queryBudgetMs: 120_000 }), options.cache);

interface Measured {
  ndcg: number[];
  recall: number[];
}
const measured = new Map<string, Map<string, Measured>>();
for (const corpus of options.corpus) {
  const set = await measure(resolve(corpus));
  measured.set(set.name, set.rankings);
}
await provider.close();

const rows = [...measured].flatMap(([set, rankings]) =>
  [...rankings].map(([ranking, { ndcg, recall }]) => ({ set, ranking, ndcg10: round(mean(ndcg)), recall100: round(mean(recall)) })),
);
console.table(rows);
const crossed = measured.size === 2 ? crossCheck() : [];
if (crossed.length > 0) console.table(crossed);
const product = [...measured.keys()].map((name) => compare(name, `both ${VECTOR_WEIGHT}`));
console.table(product);
const reranked = reranker === null ? [] : [...measured.keys()].map((name) => compare(name, 'reranked', [`both ${VECTOR_WEIGHT}`]));
if (reranked.length > 0) console.table(reranked);
console.log(JSON.stringify({ bench: 'meaning-relevance', model: provider.model, rows, crossed, product, reranked }));

async function measure(folder: string): Promise<{ name: string; rankings: Map<string, Measured> }> {
  const set = readRelevanceSet(folder);
  const place = mkdtempSync(join(tmpdir(), 'sergo-meaning-'));
  const library = createSearchLibrary(join(place, 'library.db'));
  for (const statement of vectorTables) library.db.exec(statement);
  const documents = set.documents.map((document, i) => ({ ...document, ref: i + 1, folder: 1, name: `${document.id}.txt` }));
  for (let i = 0; i < documents.length; i += 200) library.add(documents.slice(i, i + 200));
  library.settle();

  const store = openVectorStore(library.path);
  store.choose('bench', {});
  const deps = { store, providerOf: () => provider, wanted: { name: 'bench', source: {} }, wait: async () => {} };
  for (let step = 0; ; step++) {
    const outcome = await embedStep(deps, new AbortController().signal);
    if (outcome === 'trouble') throw new Error(store.models()[0]?.trouble ?? 'the embedder fails');
    if (outcome === 'nothing') break;
    if (step % 20 === 0) process.stderr.write(`${set.name}: ${store.coverage(1).done} of ${store.coverage(1).excerpts} vectors\n`);
  }
  store.close();

  const engine = createEngine(openSearchReader(library.path));
  const { legFor } = createVectorLegs(library.path);
  const rankings = new Map<string, Measured>();
  for (const query of set.queries) {
    const [vector] = await provider.embed([query.text], 'query');
    const judged = set.judgements.get(query.id)!;
    const note = (ranking: string, slots: RankedSlot[]): void => {
      const ids = firstOfEach(inOrder(engine.table, slots).slice(0, DEPTH).map(({ slot }) => set.documents[engine.table.refs[engine.table.slotDocument[slot]!]! - 1]!.id));
      const kept = rankings.get(ranking) ?? { ndcg: [], recall: [] };
      kept.ndcg.push(ndcgAt10(ids, judged));
      kept.recall.push(recallAt100(ids, judged));
      rankings.set(ranking, kept);
    };
    const { best, texts } = engine.reader.snapshot(() => {
      const scope = { folders: [1], documents: [] };
      const words = rankWords(engine, { query: query.text, scope, depth: DEPTH, explain: false, check: () => {} });
      const leg = legFor({ model: 1, vector: vector! });
      const near = leg(words.mask, words.ranked, DEPTH);
      note('words', words.ranked);
      note('vectors', leg(words.mask, [], DEPTH) ?? []);
      // As the product does it: who asks for an identifier alone gets no meaning.
      const meant = words.isExact ? null : near;
      for (const weight of weights) note(`both ${weight}`, fuseRankings(words.ranked, meant, weight));
      const ours: RankedSlot[] = inOrder(engine.table, fuseRankings(words.ranked, meant)).slice(0, DEPTH);
      return { best: ours, texts: reranker === null ? [] : ours.slice(0, RERANKED).map(({ slot }) => textOf(engine, slot)) };
    });
    if (reranker === null || best.length === 0) continue;
    const scores = await reranker.score(query.text, texts);
    const first = texts.map((_, i) => i).toSorted((a, b) => scores[b]! - scores[a]! || a - b);
    note('reranked', [...first.map((i) => best[i]!), ...best.slice(RERANKED)].map(({ slot }, place) => ({ slot, score: -place })));
  }
  library.close();
  rmSync(place, { recursive: true, force: true });
  return { name: set.name, rankings };
}

/** Of an excerpt, what a reranker reads. */
function textOf({ table, reader }: ReturnType<typeof createEngine>, slot: number): string {
  const document = table.slotDocument[slot]!;
  const row = reader.text(reader.layout(table.refs[document]!)[slot - table.first[document]!]!.chunk)!;
  return [row.section ?? '', row.text].filter((part) => part !== '').join('\n');
}

function rerankerOf(given: string): Reranker {
  const [url, model] = given.split(',');
  return createReranker({ url: url!, model: model ?? 'default', key: null, budgetMs: 120_000 });
}

/** One ranking of a collection against others of it. */
function compare(set: string, ranking: string, others = ['words', 'vectors']): object {
  const own = measured.get(set)!;
  const better = own.get(ranking)!;
  const against = others.flatMap((other) => {
    const before = own.get(other)!.ndcg;
    return [[`over ${other}`, round(mean(better.ndcg) - mean(before))], [`p ${other}`, Number(randomisation(better.ndcg, before).toPrecision(2))]] as const;
  });
  return { set, ranking, ndcg10: round(mean(better.ndcg)), recall100: round(mean(better.recall)), ...Object.fromEntries(against) };
}

/** Each collection with the weight that is best on the other, against its own legs. */
function crossCheck(): object[] {
  const names = [...measured.keys()];
  return names.map((name, i) => {
    const other = measured.get(names[1 - i]!)!;
    const weight = weights.toSorted((a, b) => mean(other.get(`both ${b}`)!.ndcg) - mean(other.get(`both ${a}`)!.ndcg))[0]!;
    return { weightFrom: names[1 - i], ...compare(name, `both ${weight}`) };
  });
}

/** Two-sided paired randomisation: how often random signs of the differences give a mean as far from 0. */
function randomisation(a: readonly number[], b: readonly number[], rounds = 20_000): number {
  const differences = a.map((value, i) => value - b[i]!);
  const observed = Math.abs(mean(differences));
  let seed = 12_345;
  const isNegative = (): boolean => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return seed >>> 31 === 1;
  };
  let asFar = 0;
  for (let i = 0; i < rounds; i++) {
    let sum = 0;
    for (const difference of differences) sum += isNegative() ? -difference : difference;
    if (Math.abs(sum / differences.length) >= observed - 1e-12) asFar++;
  }
  return (asFar + 1) / (rounds + 1);
}

/** Vectors made once are kept in a file of lines, so that an interrupted run goes on where it was. */
function cached(inner: EmbeddingProvider, file: string | undefined): EmbeddingProvider {
  const known = new Map<string, Float32Array>();
  if (file !== undefined && existsSync(file)) {
    for (const line of readFileSync(file, 'utf8').split('\n')) {
      const [key, data] = line.split(' ');
      if (!data) continue;
      const bytes = Uint8Array.from(Buffer.from(data, 'base64'));
      known.set(key!, new Float32Array(bytes.buffer));
    }
  }
  const keyOf = (text: string, kind: EmbeddingKind): string => createHash('sha256').update(`${kind}\n${text}`).digest('hex');
  return {
    model: inner.model,
    get dimensions() {
      return inner.dimensions;
    },
    async embed(texts, kind, signal) {
      const missing = texts.filter((text) => !known.has(keyOf(text, kind)));
      const made = await inner.embed(missing, kind, signal);
      missing.forEach((text, i) => {
        known.set(keyOf(text, kind), made[i]!);
        if (file !== undefined) appendFileSync(file, `${keyOf(text, kind)} ${Buffer.from(made[i]!.buffer, made[i]!.byteOffset, made[i]!.byteLength).toString('base64')}\n`);
      });
      return texts.map((text) => known.get(keyOf(text, kind))!);
    },
    close: () => inner.close(),
  };
}

function sourceOf(embedder: string): EmbeddingSource {
  const prefixes = { queryPrefix: null, passagePrefix: null };
  if (embedder.startsWith('local:')) return { kind: 'local', folder: resolve(embedder.slice('local:'.length)), ...prefixes };
  const [url, model, queryModel] = embedder.split(',');
  return { kind: 'endpoint', url: url!, model: model ?? 'default', queryModel: queryModel ?? null, ...prefixes };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}

function round(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}
