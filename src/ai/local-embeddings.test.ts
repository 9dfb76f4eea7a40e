import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { tinyDimensions, writeTinyModel } from '../../test/support/tiny-model.ts';
import { createEmbeddingProvider, type EmbeddingProvider } from './embeddings.ts';
import { openLocal, type LocalOptions } from './local-embeddings.ts';

let base: string;
let folder: string;
const open: EmbeddingProvider[] = [];
beforeAll(() => {
  base = mkdtempSync(join(tmpdir(), 'sergo-local-model-'));
  folder = join(base, 'tiny');
  writeTinyModel(folder);
});
afterEach(async () => {
  for (const provider of open.splice(0)) await provider.close();
});
afterAll(() => rmSync(base, { recursive: true, force: true }));

function local(more: Partial<LocalOptions> = {}): EmbeddingProvider {
  const provider = openLocal({
    folder,
    model: 'local:tiny',
    prefixes: { query: '', passage: '' },
    // The process starts with the first text, which on a busy machine takes a while.
    budgets: { query: 60_000, passage: 60_000 },
    dimensions: null,
    ...more,
  });
  open.push(provider);
  return provider;
}

/** A program in place of the model's, to be in trouble on purpose. */
function program(name: string, body: string): string {
  const path = join(base, name);
  writeFileSync(path, body);
  return path;
}

const ready = `process.send({ kind: 'ready', dimensions: null });`;
const dot = (a: Float32Array, b: Float32Array): number => a.reduce((sum, x, i) => sum + x * b[i]!, 0);

describe('a model in a folder', () => {
  test('gives vectors of length 1 whose nearness is that of the texts', async () => {
    const provider = local();
    const [solar, same, wind, rates] = await provider.embed(['solar power plant', 'Solar POWER plant', 'wind power plant', 'interest rates rose'], 'passage');
    expect(provider.dimensions).toBe(tinyDimensions);
    expect(Math.hypot(...solar!)).toBeCloseTo(1, 5);
    expect(dot(solar!, same!)).toBeCloseTo(1, 5);
    expect(dot(solar!, wind!)).toBeGreaterThan(dot(solar!, rates!));
    // One at a time or together: the same vector.
    expect([...(await provider.embed(['wind power plant'], 'query'))[0]!]).toEqual([...wind!]);
  });

  test('long and empty texts are embedded too', async () => {
    const vectors = await local().embed(['solar power '.repeat(5_000), '', '\ud83d'], 'passage');
    expect(vectors).toHaveLength(3);
    for (const vector of vectors) expect(vector.every(Number.isFinite)).toBe(true);
  });

  test('its process has no environment, cannot read other files, write or start programs', async () => {
    const other = join(base, 'other.txt');
    writeFileSync(other, 'secret');
    const probe = program(
      'probe.ts',
      `import { readFileSync, writeFileSync } from 'node:fs'; import { execSync } from 'node:child_process';
       const attempt = (what) => { try { what(); return 1; } catch (error) { return error.code === 'ERR_ACCESS_DENIED' ? 2 : 3; } };
       ${ready}
       process.on('message', ({ id }) => process.send({ kind: 'vectors', id, vectors: [Float32Array.from([
         Object.keys(process.env).filter((name) => !name.startsWith('NODE_CHANNEL')).length,
         attempt(() => readFileSync('/etc/passwd')),
         attempt(() => writeFileSync(${JSON.stringify(join(folder, 'x'))}, 'x')),
         attempt(() => execSync('true')),
       ])] }));`,
    );
    const [answer] = await local({ program: probe }).embed(['x'], 'passage');
    expect([...answer!]).toEqual([0, 2, 2, 2]);
  });

  test('a crash is survived by a new process', async () => {
    const crash = program(
      'crash.ts',
      `${ready} process.on('message', ({ id, texts }) => {
         if (texts[0] === 'crash') process.exit(7);
         process.send({ kind: 'vectors', id, vectors: texts.map(() => Float32Array.from([1, 0])) });
       });`,
    );
    const provider = local({ program: crash });
    await expect(provider.embed(['crash'], 'passage')).rejects.toMatchObject({ trouble: 'unavailable' });
    expect(await provider.embed(['fine'], 'passage')).toHaveLength(1);
  });

  test('a hang ends with its time, and the next call has a new process', async () => {
    const hang = program(
      'hang.ts',
      `${ready} process.on('message', ({ id, texts }) => {
         if (texts[0] === 'hang') for (;;);
         process.send({ kind: 'vectors', id, vectors: texts.map(() => Float32Array.from([1, 0])) });
       });`,
    );
    const provider = local({ program: hang, batchMs: 300 });
    await expect(provider.embed(['hang'], 'passage')).rejects.toMatchObject({ trouble: 'timeout' });
    expect(await provider.embed(['fine'], 'passage')).toHaveLength(1);
  });

  test.each([
    ['other dimensions', `vectors: texts.map((_, i) => new Float32Array(2 + i).fill(1))`],
    ['fewer vectors', `vectors: []`],
    ['what is no number', `vectors: texts.map(() => Float32Array.from([1, NaN]))`],
    ['another shape', `vectors: 'none'`],
  ])('an answer with %s is refused', async (_, vectors) => {
    const wrong = program(`wrong-${vectors.length}.ts`, `${ready} process.on('message', ({ id, texts }) => process.send({ kind: 'vectors', id, ${vectors} }));`);
    await expect(local({ program: wrong }).embed(['a', 'b'], 'passage')).rejects.toThrow(/^The local embedding model/);
  });

  test('a text that its session cannot take is refused, however often, and the next one has its vector', async () => {
    const odd = join(base, 'odd');
    writeTinyModel(odd);
    // A tokenizer that knows more words than the model has rows.
    const tokenizer = JSON.parse(readFileSync(join(odd, 'tokenizer.json'), 'utf8')) as { model: { vocab: Record<string, number> } };
    tokenizer.model.vocab.poison = 9_999;
    writeFileSync(join(odd, 'tokenizer.json'), JSON.stringify(tokenizer));
    const provider = local({ folder: odd });
    await expect(provider.embed(['solar', 'poison'], 'passage')).rejects.toMatchObject({ trouble: 'unfit' });
    for (let i = 0; i < 4; i++) await expect(provider.embed(['poison'], 'query')).rejects.toMatchObject({ trouble: 'unfit' });
    expect(await provider.embed(['solar'], 'query')).toHaveLength(1);
  });

  test.each([
    ['zeros', '[0, 0]'],
    ['what is no number', '[1, NaN]'],
  ])('a vector of %s refuses that text', async (name, numbers) => {
    const wrong = program(
      `refused-${name.length}.ts`,
      `${ready} process.on('message', ({ id, texts }) => process.send({ kind: 'vectors', id, vectors: texts.map((text) => Float32Array.from(text === 'odd' ? ${numbers} : [process.pid, 0])) }));`,
    );
    const provider = local({ program: wrong });
    const [before] = await provider.embed(['a'], 'passage');
    await expect(provider.embed(['a', 'odd'], 'passage')).rejects.toMatchObject({ trouble: 'unfit' });
    // The same process: others do not wait for a new one.
    expect(await provider.embed(['a'], 'passage')).toEqual([before]);
  });

  test('a question does not wait longer than it may', async () => {
    const slow = program('slow.ts', `${ready} process.on('message', () => {});`);
    await expect(local({ program: slow, budgets: { query: 100, passage: 60_000 }, batchMs: 400 }).embed(['a'], 'query')).rejects.toMatchObject({ trouble: 'timeout' });
  });

  test('its process ends when idle and starts again when needed', async () => {
    const named = program(
      'named.ts',
      `${ready} process.on('message', ({ id, texts }) => process.send({ kind: 'vectors', id, vectors: texts.map(() => Float32Array.from([process.pid, 1])) }));`,
    );
    const provider = local({ program: named, idleMs: 50 });
    const [first] = await provider.embed(['solar'], 'passage');
    const isRunning = (): boolean => {
      try {
        return process.kill(first![0]!, 0);
      } catch {
        return false;
      }
    };
    await expect.poll(isRunning, { timeout: 10_000 }).toBe(false);
    const [second] = await provider.embed(['solar'], 'passage');
    expect(second![0]).not.toBe(first![0]);
  });

  test('a folder without a model, or with a broken one, is named', async () => {
    await expect(local({ folder: base }).embed(['a'], 'passage')).rejects.toThrow(/does not hold both model.onnx and tokenizer.json/);
    const broken = join(base, 'broken');
    writeTinyModel(broken);
    writeFileSync(join(broken, 'model.onnx'), 'no model');
    await expect(local({ folder: broken }).embed(['a'], 'passage')).rejects.toThrow(/the model cannot be loaded/);
    // A file that cannot be read: its path would be for everybody to see.
    rmSync(join(broken, 'model.onnx'));
    mkdirSync(join(broken, 'model.onnx'));
    const error = await local({ folder: broken }).embed(['a'], 'passage').catch((e: unknown) => e);
    expect((error as Error).message).toBe('The local embedding model: the model cannot be loaded (EISDIR)');
  });
});

const real = process.env.SERGO_TEST_EMBEDDER;
if (real === undefined) {
  console.warn('SKIPPED: real weights through the local model. Set SERGO_TEST_EMBEDDER to a folder with model.onnx and tokenizer.json.');
}
test.skipIf(real === undefined)('real weights put what means the same near each other', { timeout: 120_000 }, async () => {
  const provider = createEmbeddingProvider({
    source: { kind: 'local', folder: real!, queryPrefix: null, passagePrefix: null },
    key: null,
    dimensions: null,
  });
  open.push(provider);
  const [fox, paraphrase, bank] = await provider.embed(
    ['A quick brown fox jumps over the lazy dog.', 'The fast auburn fox leapt across a sleepy hound.', 'The central bank raised interest rates in June.'],
    'passage',
  );
  expect(dot(fox!, paraphrase!)).toBeGreaterThan(dot(fox!, bank!) + 0.15);
});
