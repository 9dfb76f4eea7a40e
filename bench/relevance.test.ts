/** `npm run bench:relevance` with ids and texts of every kind: each document is known by its id, and graded by its judgement. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadCorpus, loadIndexOnly } from './relevance-library.ts';
import { readRelevanceSet } from './relevance-set.ts';

const long = 'x'.repeat(300);
/** Each title has a word of its own, so that it can be asked for. */
const ids = [
  '<dbpedia:AC/DC>', '<dbpedia:Iron/DC>', 'a\\b', 'c/b', 'B', 'b', 'e\u0301', '\u00e9', `${long}1`, `${long}2`, '/', '..', ' spaced ', 'spaced', 'tab\there', '1.txt', '1', 'bidi\u202Ename', '文書/一',
  '\u{1f600}',
];
const words = 'apple brick candle dragon eagle falcon garden hammer island jungle kettle lantern marble needle oyster pepper quartz ribbon saddle timber'.split(' ');

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sergo-relevance-test-'));
  const documents: object[] = ids.map((id, i) => ({ _id: id, title: `The ${words[i]}`, text: 'Of the same text there are many.' }));
  documents.push({ _id: 'no-title', title: '', text: 'A walnut.' }, { _id: 'no-title-key', text: 'A walnut tree.' }, { _id: 'no-text', title: 'The violin', text: '' }, { _id: 'nothing', title: '', text: '' });
  await writeFile(join(folder, 'corpus.jsonl'), documents.map((row) => JSON.stringify(row)).join('\n'));
  const queries = [...words.map((word) => ({ _id: word, text: word })), { _id: 'walnut', text: 'walnut tree' }, { _id: 'violin', text: 'violin' }, { _id: 'unjudged', text: 'apple' }];
  await writeFile(join(folder, 'queries.jsonl'), `${queries.map((row) => JSON.stringify(row)).join('\n')}\n`);
  const judged = [...words.map((word, i) => [word, ids[i], 1]), ['walnut', 'no-title-key', 3], ['walnut', 'no-title', 1], ['walnut', ids[0], 0], ['violin', 'no-text', 2]];
  // An id with a tab in it cannot be written in a file of tabs.
  const rows = judged.filter(([, id]) => !String(id).includes('\t')).map((row) => row.join('\t'));
  await writeFile(join(folder, 'qrels.tsv'), ['query-id\tcorpus-id\tscore', ...rows].join('\n'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test.each([['the library', loadCorpus], ['the index only', loadIndexOnly]])('documents are known by their ids, whatever becomes of these as names: %s', { timeout: 120_000 }, async (_, load) => {
  const corpus = await load(readRelevanceSet(folder));
  const found = async (query: string): Promise<string[]> => (await corpus.rank({ query, depth: 10 })).map(({ document }) => corpus.idOf(document));
  for (const [i, word] of words.entries()) expect(await found(word), word).toEqual([ids[i]]);
  expect(await found('walnut')).toEqual(['no-title', 'no-title-key']);
  expect(await found('violin')).toEqual(['no-text']);
  if (load === loadCorpus) expect(corpus.unread).toEqual([{ id: 'nothing', reason: expect.stringContaining('empty') }]);
  await corpus.close();
});

test('a line of headings is not needed, grades are gains', async () => {
  const set = readRelevanceSet(folder);
  expect(set.queries.map(({ id }) => id)).toEqual([...words.filter((_, i) => ids[i] !== 'tab\there'), 'walnut', 'violin']);
  expect([...set.judgements.get('walnut')!]).toEqual([['no-title-key', 3], ['no-title', 1], [ids[0], 0]]);
});

test('the command says how good the ranking is in its last line, and what could not be read', { timeout: 120_000 }, async () => {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [join(import.meta.dirname, 'relevance.ts'), '--corpus', folder, '--json']);
  const last = JSON.parse(stdout.trim().split('\n').at(-1)!);
  expect(last).toEqual({ set: expect.stringMatching(/^sergo-relevance-test-/), ndcg10: 1, recall100: 1, queries: 21, msPerQuery: expect.any(Number) });
  expect(stderr).toContain('1 of 24 documents could not be read and are found by nothing (nothing: ');
});
