import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startFakeModels, type FakeModels, type Trouble } from '../../test/support/fake-models.ts';
import { attemptDeps, Circuit, withAttempts } from './attempts.ts';
import { retryAfterMs } from './bounded-fetch.ts';
import { createEmbeddingProvider, modelOf, prefixesOf, type EmbeddingSource } from './embeddings.ts';
import { openEndpoint } from './endpoint-embeddings.ts';
import { ProviderError } from './provider-error.ts';

let fake: FakeModels;
let pauses: number[];
beforeEach(async () => {
  fake = await startFakeModels();
  pauses = [];
});
afterEach(() => fake.close());

const source = (more: Partial<Extract<EmbeddingSource, { kind: 'endpoint' }>> = {}): Extract<EmbeddingSource, { kind: 'endpoint' }> => ({
  kind: 'endpoint',
  url: fake.url,
  model: 'words-32',
  queryModel: null,
  queryPrefix: null,
  passagePrefix: null,
  ...more,
});

/** Real calls, but pauses that take no time. */
const open = (dimensions: number | null = 32, budgets = { query: 2_000, passage: 120_000 }): ReturnType<typeof openEndpoint> =>
  openEndpoint({
    source: source(),
    model: 'words-32',
    prefixes: { query: '', passage: '' },
    budgets,
    key: 'sk-test',
    dimensions,
    attempts: { ...attemptDeps, wait: async (ms) => void pauses.push(ms) },
  });

describe('an OpenAI-compatible endpoint', () => {
  test('gives one vector of length 1 for each text, in order, however many and in whatever order they come back', async () => {
    const provider = open(null);
    const texts = Array.from({ length: 70 }, (_, i) => `page ${'abcdefgh'[i % 8]}${'ijklmnop'[Math.floor(i / 8) % 8]} of a report`);
    const vectors = await provider.embed(texts, 'passage');
    expect(vectors).toHaveLength(70);
    expect(provider.dimensions).toBe(32);
    const alone = await provider.embed([texts[41]!], 'passage');
    expect([...vectors[41]!]).toEqual([...alone[0]!]);
    for (const vector of vectors) expect(Math.hypot(...vector)).toBeCloseTo(1, 5);
    expect(fake.calls.map((call) => call.body.input?.length)).toEqual([32, 32, 6, 1]);
    expect(fake.calls[0]).toMatchObject({ path: '/v1/embeddings', authorization: 'Bearer sk-test', body: { model: 'words-32', encoding_format: 'float' } });
  });

  test('empty texts and half surrogates are sent as something that endpoints take', async () => {
    const vectors = await open().embed(['', '   ', 'half \ud83d'], 'passage');
    expect(vectors).toHaveLength(3);
    expect(fake.calls[0]?.body.input).toEqual(['-', '-', 'half \ufffd']);
  });

  const passing: Trouble[] = ['limited', 'error-500', 'cut', 'reset', 'not-json', 'wrong-shape', 'fewer', 'wrong-dimension', 'not-finite', 'zero', 'huge', 'huge-announced'];
  test.each(passing)('%s once is tried again', async (trouble) => {
    fake.troubles = [trouble];
    expect(await open().embed(['solar power'], 'passage')).toHaveLength(1);
    expect(fake.calls).toHaveLength(2);
  });

  test.each(passing)('%s always ends after four attempts, with a sentence that tells nothing of the answer', async (trouble) => {
    fake.always = trouble;
    const error = await open().embed(['solar power'], 'passage').catch((e: unknown) => e);
    expect(error).toBeInstanceOf(ProviderError);
    expect((error as Error).message).toMatch(/^The embeddings endpoint /);
    expect((error as Error).message).not.toMatch(/secret|sk-test|solar/);
    expect(fake.calls).toHaveLength(4);
    expect(pauses).toHaveLength(3);
  });

  test.each(['unauthorised', 'redirect'] as const)('%s is not tried again', async (trouble) => {
    fake.always = trouble;
    await expect(open().embed(['solar power'], 'passage')).rejects.toMatchObject({ trouble: 'refused' });
    expect(fake.calls).toHaveLength(1);
  });

  test('a body of 100 MB is left after a few', async () => {
    fake.troubles = ['huge'];
    await open().embed(['solar power'], 'passage');
    expect(fake.sentBytes).toBeLessThan(40 * 1024 ** 2);
  });

  test.each(['hang', 'slow-body'] as const)('%s ends with the time that a question has', async (trouble) => {
    fake.always = trouble;
    const provider = open(32, { query: 200, passage: 200 });
    await expect(provider.embed(['solar power'], 'query')).rejects.toMatchObject({ trouble: 'timeout' });
    await expect(provider.embed(['solar power'], 'passage')).rejects.toMatchObject({ trouble: 'timeout' });
  });

  test('Retry-After is waited for, and pauses grow', async () => {
    fake.troubles = ['limited', 'error-500', 'error-500'];
    await open().embed(['solar power'], 'passage');
    expect(pauses[0]).toBeGreaterThanOrEqual(1_000);
    expect(pauses[1]).toBeGreaterThanOrEqual(400);
    expect(pauses[2]).toBeGreaterThanOrEqual(800);
    expect(pauses[2]).toBeLessThanOrEqual(1_600);
  });

  test('a question does not begin a pause that its time does not cover', async () => {
    fake.always = 'limited';
    await expect(open(32, { query: 900, passage: 900 }).embed(['solar power'], 'query')).rejects.toMatchObject({ trouble: 'limited' });
    expect(fake.calls).toHaveLength(1);
  });

  test('after three failed calls the endpoint is left alone', async () => {
    fake.always = 'unauthorised';
    const provider = open();
    for (let i = 0; i < 3; i++) await expect(provider.embed(['a'], 'query')).rejects.toMatchObject({ trouble: 'refused' });
    await expect(provider.embed(['a'], 'query')).rejects.toMatchObject({ trouble: 'resting' });
    expect(fake.calls).toHaveLength(3);
    // Passages are another circuit.
    await expect(provider.embed(['a'], 'passage')).rejects.toMatchObject({ trouble: 'refused' });
  });

  test('texts that are refused, however many in a row, do not make the endpoint rest', async () => {
    fake.troubleOf = ({ input }) => (input!.some((text) => text.includes('odd')) ? 'unfit' : null);
    const provider = open();
    for (const kind of ['query', 'passage'] as const) {
      for (let i = 0; i < 5; i++) await expect(provider.embed(['odd'], kind)).rejects.toMatchObject({ trouble: 'unfit' });
      expect(await provider.embed(['solar power'], kind)).toHaveLength(1);
    }
    // After real failures, a refusal is the sign that it is back.
    fake.troubles = ['unauthorised', 'unauthorised', 'unfit', 'unauthorised'];
    for (let i = 0; i < 4; i++) await expect(provider.embed(['a'], 'query')).rejects.toMatchObject({ trouble: i === 2 ? 'unfit' : 'refused' });
    expect(await provider.embed(['solar power'], 'query')).toHaveLength(1);
  });

  test('a caller that goes away ends the call at once and is no failure of the endpoint', async () => {
    fake.always = 'hang';
    const provider = open();
    for (let i = 0; i < 4; i++) {
      const left = new AbortController();
      const call = provider.embed(['a'], 'query', left.signal);
      setTimeout(() => left.abort(new Error('gone')), 20);
      await expect(call).rejects.toThrow('gone');
    }
    fake.always = null;
    expect(await provider.embed(['a'], 'query')).toHaveLength(1);
  });
});

describe('which words and models are sent', () => {
  test('models of the E5 and BGE families get the words they were trained with, unless set otherwise', async () => {
    expect(prefixesOf(source({ model: 'intfloat/multilingual-e5-small' }))).toEqual({ query: 'query: ', passage: 'passage: ' });
    expect(prefixesOf(source({ model: 'bge-small-en-v1.5' })).query).toMatch(/^Represent this sentence/);
    expect(prefixesOf(source({ model: 'text-embedding-3-small' }))).toEqual({ query: '', passage: '' });
    expect(prefixesOf(source({ model: 'e5-small', queryPrefix: '', passagePrefix: '' }))).toEqual({ query: '', passage: '' });
    expect(prefixesOf({ kind: 'local', folder: '/models/multilingual-e5-small/', queryPrefix: null, passagePrefix: null }).passage).toBe('passage: ');
  });

  test('a second model name is used for questions', async () => {
    const provider = createEmbeddingProvider({ source: source({ model: 'e5-passage', queryModel: 'e5-query', queryPrefix: '', passagePrefix: '' }), key: null, dimensions: null });
    await provider.embed(['solar'], 'passage');
    await provider.embed(['solar'], 'query');
    expect(fake.calls.map((call) => [call.body.model, call.authorization])).toEqual([['e5-passage', undefined], ['e5-query', undefined]]);
  });

  test('vectors made with other words before the text are of another model', () => {
    expect(modelOf(source({ passagePrefix: 'doc: ' }))).not.toBe(modelOf(source()));
  });
});

describe('attempts and rest', () => {
  test('Retry-After in seconds and as a date', () => {
    expect(retryAfterMs('2')).toBe(2_000);
    expect(retryAfterMs('Wed, 21 Oct 2026 07:28:00 GMT', Date.parse('Wed, 21 Oct 2026 07:27:30 GMT'))).toBe(30_000);
    expect(retryAfterMs('soon')).toBeUndefined();
    expect(retryAfterMs(null)).toBeUndefined();
  });

  test('an error of our own is never tried again', async () => {
    let runs = 0;
    const work = withAttempts(attemptDeps, { budgetMs: 1_000 }, async () => {
      runs++;
      throw new TypeError('a bug');
    });
    await expect(work).rejects.toThrow('a bug');
    expect(runs).toBe(1);
  });

  test('a rest ends with one call that tries', async () => {
    let now = 0;
    const circuit = new Circuit('It', () => now);
    const fail = (): Promise<never> => circuit.run(async () => Promise.reject(new ProviderError('unavailable', 'no')));
    for (let i = 0; i < 3; i++) await expect(fail()).rejects.toMatchObject({ trouble: 'unavailable' });
    await expect(fail()).rejects.toMatchObject({ trouble: 'resting' });
    now = 31_000;
    await expect(fail()).rejects.toMatchObject({ trouble: 'unavailable' });
    await expect(fail()).rejects.toMatchObject({ trouble: 'resting' });
    now = 62_000;
    let release = (): void => undefined;
    const trial = circuit.run(() => new Promise<void>((done) => (release = done)));
    await expect(fail()).rejects.toMatchObject({ trouble: 'resting' });
    release();
    await trial;
    expect(circuit.isResting).toBe(false);
  });
});
