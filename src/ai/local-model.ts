/**
 * The program of a local model's process: BERT-like ONNX models (MiniLM, E5, BGE, GTE). Texts come over IPC, vectors go
 * back. Takes the model's folder as its argument.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Tokenizer } from '@huggingface/tokenizers';
import * as ort from 'onnxruntime-web/wasm';
import { z } from 'zod';

const folder = process.argv[2] ?? '.';
const requestSchema = z.object({ id: z.int(), texts: z.array(z.string()) });
const send = (message: object): void => void process.send?.(message);

interface Settings {
  maxTokens: number;
  pooling: 'mean' | 'cls';
}

async function main(): Promise<void> {
  const settings = readSettings();
  const tokenizer = new Tokenizer(readJson('tokenizer.json') ?? {}, readJson('tokenizer_config.json') ?? {});
  ort.env.wasm.numThreads = 1;
  const session = await ort.InferenceSession.create(new Uint8Array(readFileSync(join(folder, 'model.onnx'))), {
    executionProviders: ['wasm'],
  });
  const output = session.outputNames.includes('last_hidden_state') ? 'last_hidden_state' : session.outputNames[0]!;

  const embed = async (text: string): Promise<Float32Array> => {
    // A word model without a word for the unknown leaves holes.
    const ids = cut(tokenizer.encode(text).ids.filter(Number.isInteger), settings.maxTokens);
    const row = (values: number[]): ort.Tensor => new ort.Tensor('int64', BigInt64Array.from(values, BigInt), [1, values.length]);
    const inputs: Record<string, ort.Tensor> = {};
    for (const name of session.inputNames) {
      inputs[name] = row(name === 'input_ids' ? ids : ids.map(() => (name === 'attention_mask' ? 1 : 0)));
    }
    const answer = (await session.run(inputs))[output]!;
    const vector = pool(answer.data as Float32Array, answer.dims, settings.pooling);
    answer.dispose();
    return vector;
  };

  process.on('message', (raw: unknown) => {
    const request = requestSchema.safeParse(raw);
    if (!request.success) return send({ kind: 'error', id: null, message: 'a request that is none' });
    const { id, texts } = request.data;
    void (async () => {
      const vectors: Float32Array[] = [];
      for (const text of texts) vectors.push(await embed(text));
      send({ kind: 'vectors', id, vectors });
    })().catch(async (error: unknown) => {
      // Some errors leave the session's memory in disorder: whoever comes next must get a process that is well.
      const isWell = await embed('text').then(
        () => true,
        () => false,
      );
      process.send?.({ kind: 'error', id, message: sentence(error) }, () => isWell || process.exit(1));
    });
  });
  send({ kind: 'ready', dimensions: null });
}

/** [1, tokens, dimensions] becomes one vector of length 1; models that pool themselves answer [1, dimensions]. */
function pool(data: Float32Array, dims: readonly number[], pooling: Settings['pooling']): Float32Array {
  const size = dims.at(-1)!;
  const tokens = dims.length === 3 && pooling === 'mean' ? dims[1]! : 1;
  const vector = new Float32Array(size);
  for (let token = 0; token < tokens; token++) {
    for (let i = 0; i < size; i++) vector[i]! += data[token * size + i]!;
  }
  let sum = 0;
  for (const x of vector) sum += x * x;
  const length = Math.sqrt(sum) || 1;
  return vector.map((x) => x / length);
}

/** Keeps the closing mark of a text that is cut. */
function cut(ids: number[], max: number): number[] {
  return ids.length <= max ? ids : [...ids.slice(0, max - 1), ids.at(-1)!];
}

const countSchema = z.int().min(8).max(8_192);

/** What the folder says of itself, in the files that model hubs use; else what most BERT models have. */
function readSettings(): Settings {
  const limits = [
    (readJson('sentence_bert_config.json') as { max_seq_length?: unknown } | null)?.max_seq_length,
    (readJson('tokenizer_config.json') as { model_max_length?: unknown } | null)?.model_max_length,
    (readJson('config.json') as { max_position_embeddings?: unknown } | null)?.max_position_embeddings,
  ]
    .map((value) => countSchema.safeParse(value))
    .flatMap((parsed) => (parsed.success ? [parsed.data] : []));
  const pooling = readJson('1_Pooling/config.json') as { pooling_mode_cls_token?: unknown } | null;
  return { maxTokens: Math.min(512, ...limits), pooling: pooling?.pooling_mode_cls_token === true ? 'cls' : 'mean' };
}

function readJson(name: string): object | null {
  try {
    return z.record(z.string(), z.unknown()).parse(JSON.parse(readFileSync(join(folder, name), 'utf8')));
  } catch {
    return null;
  }
}

/** Health repeats it to everybody: an error of the file system says no more than its code, since its sentence may have a path. */
function sentence(error: unknown): string {
  if (!(error instanceof Error)) return String(error).slice(0, 300);
  const { code, syscall } = error as NodeJS.ErrnoException;
  return syscall === undefined ? error.message.slice(0, 300) : (code ?? error.name);
}

process.on('disconnect', () => process.exit(0));
main().catch((error: unknown) => {
  send({ kind: 'error', id: null, message: `the model cannot be loaded (${sentence(error)})` });
  setTimeout(() => process.exit(1), 100);
});
