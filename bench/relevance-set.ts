/** Judged search collections in the form of `../shared/relevance`: what is in them and how well a ranking does on them. */
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

export interface RelevanceSet {
  name: string;
  documents: { id: string; title: string; text: string }[];
  queries: { id: string; text: string }[];
  /** Query id → document id → grade. */
  judgements: Map<string, Map<string, number>>;
}

export function readRelevanceSet(folder: string): RelevanceSet {
  const lines = (name: string): string[] => readFileSync(join(folder, name), 'utf8').split('\n').filter((line) => line.trim() !== '');
  const documents = lines('corpus.jsonl').map((line) => {
    const row = JSON.parse(line) as { _id: string; title?: string; text?: string };
    return { id: String(row._id), title: row.title ?? '', text: row.text ?? '' };
  });
  const judgements = new Map<string, Map<string, number>>();
  for (const line of lines('qrels.tsv')) {
    const [query, document, grade] = line.split('\t');
    // The line of headings.
    if (Number.isNaN(Number(grade))) continue;
    const graded = judgements.get(query!) ?? new Map<string, number>();
    graded.set(document!, Number(grade));
    judgements.set(query!, graded);
  }
  const queries = lines('queries.jsonl')
    .map((line) => JSON.parse(line) as { _id: string; text: string })
    .map((row) => ({ id: String(row._id), text: row.text }))
    .filter((query) => [...(judgements.get(query.id)?.values() ?? [])].some((grade) => grade > 0));
  return { name: basename(folder), documents, queries, judgements };
}

/** Normalised discounted cumulative gain of the first 10, with the grades as gains (as trec_eval does). */
export function ndcgAt10(ranked: readonly string[], judged: ReadonlyMap<string, number>): number {
  const discounted = (grades: readonly number[]): number => grades.reduce((sum, grade, i) => sum + grade / Math.log2(i + 2), 0);
  const ideal = [...judged.values()].filter((grade) => grade > 0).toSorted((a, b) => b - a).slice(0, 10);
  const gained = ranked.slice(0, 10).map((id) => Math.max(0, judged.get(id) ?? 0));
  return ideal.length === 0 ? 0 : discounted(gained) / discounted(ideal);
}

/** Share of the relevant documents among the first 100. */
export function recallAt100(ranked: readonly string[], judged: ReadonlyMap<string, number>): number {
  const relevant = [...judged].filter(([, grade]) => grade > 0).map(([id]) => id);
  const first = new Set(ranked.slice(0, 100));
  return relevant.length === 0 ? 0 : relevant.filter((id) => first.has(id)).length / relevant.length;
}

/** Excerpts become documents: each at the place of its best. */
export const firstOfEach = (ids: readonly string[]): string[] => [...new Set(ids)];
