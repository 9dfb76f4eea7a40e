import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startFakeModels, type FakeModels } from '../../test/support/fake-models.ts';
import { attemptDeps } from './attempts.ts';
import { createReranker, type Reranker } from './rerank.ts';

let fake: FakeModels;
beforeEach(async () => void (fake = await startFakeModels()));
afterEach(() => fake.close());

const open = (url = fake.url, budgetMs = 3_000): Reranker =>
  createReranker({ url, model: 'rank-1', key: 'sk-r', budgetMs, attempts: { ...attemptDeps, wait: async () => undefined } });

describe('a rerank endpoint', () => {
  test('scores in the order of the texts, whatever the order of the answer', async () => {
    const scores = await open().score('solar power', ['wind', 'solar power plants', 'solar']);
    expect(scores).toEqual([0, 2 / 3, 1 / 3]);
    expect(fake.calls[0]).toMatchObject({ path: '/v1/rerank', authorization: 'Bearer sk-r', body: { model: 'rank-1', top_n: 3 } });
  });

  test('takes the whole address as well', async () => {
    await open(`${fake.url}/rerank/`).score('a', ['a']);
    expect(fake.calls[0]?.path).toBe('/v1/rerank');
  });

  test.each([
    ['Cohere', { results: [{ index: 1, relevance_score: 0.5 }, { index: 0, relevance_score: 0.1 }] }],
    ['Voyage', { data: [{ index: 0, relevance_score: 0.1 }, { index: 1, relevance_score: 0.5 }] }],
    ['text-embeddings-inference', [{ index: 1, score: 0.5 }, { index: 0, score: 0.1 }]],
  ])('reads the answer of %s', async (_, body) => {
    const reranker = createReranker({ url: 'http://models.test', model: 'm', key: null, fetch: async () => Response.json(body) });
    expect(await reranker.score('q', ['a', 'b'])).toEqual([0.1, 0.5]);
  });

  test.each(['not-json', 'wrong-shape', 'fewer', 'cut', 'huge', 'error-500', 'limited'] as const)('%s ends after four attempts', async (trouble) => {
    fake.always = trouble;
    await expect(open().score('a', ['a'])).rejects.toThrow(/^The rerank endpoint /);
    expect(fake.calls.length).toBeLessThanOrEqual(4);
  });

  test('hang ends with its time', async () => {
    fake.always = 'hang';
    await expect(open(fake.url, 150).score('a', ['a'])).rejects.toMatchObject({ trouble: 'timeout' });
  });
});
