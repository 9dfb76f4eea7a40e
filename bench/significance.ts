/**
 * `node bench/significance.ts BEFORE AFTER`: two files of `bench:relevance --per-query`. Is the difference more than chance?
 * Paired randomisation test: how often does flipping the sign of each query's difference at random give as large a mean?
 */
import { readFileSync } from 'node:fs';

interface PerQuery {
  query: string;
  ndcg10: number;
  recall100: number;
}

const ROUNDS = 20_000;
const [before, after] = process.argv.slice(2).map((path) => JSON.parse(readFileSync(path, 'utf8')) as PerQuery[]);
if (before === undefined || after === undefined) {
  process.stderr.write('Give two files written by bench:relevance with --per-query\n');
  process.exit(2);
}
const old = new Map(before.map((one) => [one.query, one]));
for (const measure of ['ndcg10', 'recall100'] as const) {
  const differences = after.map((one) => one[measure] - (old.get(one.query)?.[measure] ?? 0));
  const mean = differences.reduce((sum, one) => sum + one, 0) / differences.length;
  let asLarge = 0;
  for (let round = 0; round < ROUNDS; round++) {
    let sum = 0;
    for (const one of differences) sum += Math.random() < 0.5 ? one : -one;
    if (Math.abs(sum / differences.length) >= Math.abs(mean) - 1e-12) asLarge++;
  }
  const p = asLarge / ROUNDS;
  process.stdout.write(`${measure}: ${mean >= 0 ? '+' : ''}${mean.toFixed(4)} over ${differences.length} queries, p = ${p.toFixed(4)}${p < 0.05 ? '' : ' (noise)'}\n`);
}
