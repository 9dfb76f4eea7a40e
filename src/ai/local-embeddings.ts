/** A model in a folder, in a process of its own: started with the first text, ended when idle, started again after a crash. */
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { setPriority } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { z } from 'zod';
import { attemptDeps, Circuit, type AttemptDeps } from './attempts.ts';
import type { EmbeddingKind, EmbeddingProvider } from './embeddings.ts';
import { ProviderError } from './provider-error.ts';

const NAME = 'The local embedding model';
const BATCH = 8;
/** Tokens are counted by the child; this keeps a monstrous text from being sent. */
const TEXT_CHARS = 20_000;
const START_MS = 60_000;
/** One batch may take this long: a long text takes about a second. */
const BATCH_MS = 60_000;
/** The process holds several hundred megabytes: it goes when nobody needed it for a while. */
const IDLE_MS = 120_000;

const messageSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('ready'), dimensions: z.int().positive().nullable() }),
  z.object({ kind: z.literal('vectors'), id: z.int(), vectors: z.array(z.instanceof(Float32Array)) }),
  z.object({ kind: z.literal('error'), id: z.int().nullable(), message: z.string() }),
]);
type Message = z.infer<typeof messageSchema>;

export interface LocalOptions {
  folder: string;
  model: string;
  prefixes: Record<EmbeddingKind, string>;
  budgets: Record<EmbeddingKind, number>;
  dimensions: number | null;
  /** Lets everything else go first. */
  isBackground?: boolean;
  idleMs?: number;
  batchMs?: number;
  attempts?: AttemptDeps;
  /** The program to start, for tests. */
  program?: string;
}

export function openLocal(options: LocalOptions): EmbeddingProvider {
  const folder = resolve(options.folder);
  const idleMs = options.idleMs ?? IDLE_MS;
  const circuit = new Circuit(NAME, (options.attempts ?? attemptDeps).now);
  let dimensions = options.dimensions;
  let child: ModelProcess | null = null;
  let idle: NodeJS.Timeout | undefined;
  let closed = false;
  // Questions go before passages: the process does one batch at a time, and a batch is short.
  const waiting: { kind: EmbeddingKind; start(): void }[] = [];
  let busy = false;

  const next = (): void => {
    const at = Math.max(0, waiting.findIndex((entry) => entry.kind === 'query'));
    const [entry] = waiting.splice(at, 1);
    busy = entry !== undefined;
    if (entry) entry.start();
    else {
      clearTimeout(idle);
      idle = setTimeout(() => void dropChild(), idleMs);
      idle.unref();
    }
  };
  const takeTurn = (kind: EmbeddingKind): Promise<void> =>
    new Promise((start) => {
      clearTimeout(idle);
      if (busy) waiting.push({ kind, start });
      else {
        busy = true;
        start();
      }
    });
  const dropChild = async (): Promise<void> => {
    const gone = child;
    child = null;
    await gone?.stop();
  };

  const embedBatch = async (texts: string[], kind: EmbeddingKind, signal?: AbortSignal): Promise<Float32Array[]> => {
    await takeTurn(kind);
    try {
      signal?.throwIfAborted();
      if (closed) throw new ProviderError('unavailable', `${NAME} is closed`);
      if (child === null || !child.alive) child = startModel(folder, options.isBackground ?? false, options.program);
      const vectors = await child.embed(texts, options.batchMs ?? BATCH_MS);
      for (const vector of vectors) {
        dimensions ??= vector.length;
        if (vector.length !== dimensions) throw new ProviderError('bad_answer', `${NAME} does not give vectors of ${dimensions} numbers`);
        // It computes the same for the same text: no other try would help this one.
        if (!vector.every(Number.isFinite) || vector.every((x) => x === 0)) throw new ProviderError('unfit', `${NAME} gives a text a vector without a direction`);
      }
      return vectors;
    } catch (error) {
      // One odd text after the other must not keep questions waiting for new processes.
      if (error instanceof ProviderError && error.trouble !== 'refused' && error.trouble !== 'unfit') await dropChild();
      throw error;
    } finally {
      next();
    }
  };

  return {
    model: options.model,
    get dimensions() {
      return dimensions;
    },
    async embed(texts, kind, signal) {
      const all: Float32Array[] = [];
      const prefix = options.prefixes[kind];
      for (let at = 0; at < texts.length; at += BATCH) {
        const batch = texts.slice(at, at + BATCH).map((text) => prefix + text.slice(0, TEXT_CHARS).toWellFormed());
        // One more try with a fresh process: a crash is often of the process, not of the text.
        const twice = async (): Promise<Float32Array[]> =>
          embedBatch(batch, kind, signal).catch((error: unknown) => {
            if (closed || !(error instanceof ProviderError) || error.trouble !== 'unavailable') throw error;
            return embedBatch(batch, kind, signal);
          });
        // A question does not wait longer than it may; the process goes on and answers the next one warm.
        const work = circuit.run(twice);
        all.push(...(await (kind === 'query' ? within(work, options.budgets.query, signal) : work)));
      }
      return all;
    },
    async close() {
      closed = true;
      clearTimeout(idle);
      await dropChild();
    },
  };
}

async function within<T>(work: Promise<T>, ms: number, signal?: AbortSignal): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  let stop: (() => void) | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new ProviderError('timeout', `${NAME} did not answer in time`)), ms);
    stop = () => reject(signal?.reason as Error);
    signal?.addEventListener('abort', stop, { once: true });
  });
  work.catch(() => undefined);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
    if (stop) signal?.removeEventListener('abort', stop);
  }
}

interface ModelProcess {
  readonly alive: boolean;
  embed(texts: string[], wallMs: number): Promise<Float32Array[]>;
  stop(): Promise<void>;
}

/** Reads nothing but the model and its own code, writes nothing, starts nothing; has no environment and so no secrets. */
function startModel(folder: string, isBackground: boolean, program = join(import.meta.dirname, 'local-model.ts')): ModelProcess {
  if (!existsSync(join(folder, 'model.onnx')) || !existsSync(join(folder, 'tokenizer.json'))) {
    throw new ProviderError('refused', `${NAME}: the folder that is set does not hold both model.onnx and tokenizer.json`);
  }
  const readable = [folder, import.meta.dirname, dirname(program), ...packageFolders()];
  const child: ChildProcess = spawn(
    process.execPath,
    ['--permission', ...readable.map((path) => `--allow-fs-read=${path}`), '--no-warnings', program, folder],
    { env: {}, cwd: folder, stdio: ['ignore', 'ignore', 'ignore', 'ipc'], serialization: 'advanced' },
  );
  child.unref();
  try {
    if (isBackground && child.pid !== undefined) setPriority(child.pid, 15);
  } catch {
    // It works with the usual priority as well.
  }
  child.channel?.unref();
  let alive = true;
  let take: ((message: Message | null) => void) | null = null;
  let fatal: string | null = null;
  const gone = new Promise<void>((done) => {
    const end = (): void => {
      alive = false;
      take?.(null);
      done();
    };
    child.once('exit', end);
    child.once('error', end);
  });
  child.on('message', (raw: unknown) => {
    const message = messageSchema.safeParse(raw);
    if (message.success && message.data.kind === 'error' && message.data.id === null) fatal = message.data.message;
    take?.(message.success ? message.data : null);
  });

  const nextMessage = async (ms: number): Promise<Message> => {
    let timer: NodeJS.Timeout | undefined;
    try {
      const message = await new Promise<Message | null>((resolveMessage, reject) => {
        take = resolveMessage;
        timer = setTimeout(() => reject(new ProviderError('timeout', `${NAME} took longer than ${ms / 1000} seconds`)), ms);
        if (!alive) resolveMessage(null);
      });
      if (message !== null && message.kind !== 'error') return message;
      if (fatal !== null) throw new ProviderError('refused', `${NAME}: ${fatal}`);
      // It runs and was loaded: what fails now is this input.
      if (message !== null) throw new ProviderError('unfit', `${NAME}: ${message.message}`);
      throw new ProviderError('unavailable', `${NAME} ended unexpectedly`);
    } finally {
      clearTimeout(timer);
      take = null;
    }
  };
  const ready = nextMessage(START_MS);
  ready.catch(() => undefined);
  let count = 0;

  return {
    get alive() {
      return alive;
    },
    async embed(texts, wallMs) {
      await ready;
      const id = ++count;
      const answer = nextMessage(wallMs);
      if (alive) child.send({ id, texts }, () => undefined);
      const message = await answer;
      if (message.kind !== 'vectors' || message.id !== id || message.vectors.length !== texts.length) {
        throw new ProviderError('bad_answer', `${NAME} answered something else than was asked`);
      }
      return message.vectors;
    },
    async stop() {
      // Who waits for its end must not end before it.
      child.ref();
      child.kill('SIGKILL');
      await gone;
    },
  };
}

/** Where the two packages of the child really are: with links, a package folder may be elsewhere than it seems. */
function packageFolders(): string[] {
  const require = createRequire(import.meta.url);
  const found = ['onnxruntime-web/wasm', '@huggingface/tokenizers', 'zod'].map((name) => {
    const path = require.resolve(name);
    return path.slice(0, path.lastIndexOf('node_modules') + 'node_modules'.length);
  });
  return [...new Set([...found, join(import.meta.dirname, '../../node_modules'), join(import.meta.dirname, '../../package.json')])];
}
