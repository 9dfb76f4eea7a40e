/** The embedded search index as the rest of Sergo sees it: a small pool of threads, each with a connection of its own. */
import { Worker } from 'node:worker_threads';
import { AppError } from '../errors.ts';
import { chooseFellows } from './fellows.ts';
import type { RankMessage, RankReply, ThreadData } from './messages.ts';
import type { RankAnswer } from './ranking.ts';
import type { SearchIndex, SearchRequest } from './types.ts';
import type { Meaning } from './vectors/meaning.ts';
import { createModelMemory, type ModelMemory, type QuestionVector } from './vectors/vector-table.ts';

export interface SearchIndexOptions {
  databasePath: string;
  /** Default 2: more gave no more throughput on two cores. */
  threads?: number;
  /** A search that takes longer is given up as `busy`. Default 5,000. */
  timeoutMs?: number;
  /** Searches that may wait for a thread; beyond, `busy` at once. Default 256. */
  queueLimit?: number;
  /** Told of a thread that died or a search that failed for a reason of ours. */
  onError?: (error: Error) => void;
  /** Turns queries into vectors where an embedding model is set; without it searches go by words. */
  meaning?: Pick<Meaning, 'ask'>;
}

interface Job {
  request: SearchRequest;
  question: QuestionVector | null;
  /** Where another search's thread puts what it found for this one while it waited. */
  look: SharedArrayBuffer | null;
  resolve: (answer: RankAnswer) => void;
  reject: (error: Error) => void;
  signal: AbortSignal | undefined;
  onAbort: () => void;
  /** Not given to a thread by then: busy. */
  latest: number;
}

interface Thread {
  worker: Worker;
  givenUp: Int32Array;
  job: (Job & { id: number }) | null;
  /** Starting takes a moment (most of all on a loaded machine): a search's time begins after it. */
  ready: boolean;
  /** What it was told of the memory of vectors. */
  memory: ModelMemory | null;
  timer: NodeJS.Timeout | null;
}

/** After a search was told to stop, how long until its thread is replaced. */
const STUCK_MS = 2_000;
const START_MS = 30_000;

const busy = (why: string): AppError => new AppError('busy', why, { retryAfterSeconds: 2 });
const aborted = (): Error => new DOMException('The search was given up by its caller.', 'AbortError');

export function createSearchIndex(options: SearchIndexOptions): SearchIndex {
  const timeoutMs = options.timeoutMs ?? 5_000;
  const queueLimit = options.queueLimit ?? 256;
  const report = options.onError ?? (() => {});
  const waiting: Job[] = [];
  /** The vectors of the model last asked of: one copy for all threads. */
  let memory: ModelMemory | null = null;
  let nextId = 1;
  let closed = false;
  const threads: Thread[] = Array.from({ length: options.threads ?? 2 }, () => emptyThread());

  function emptyThread(): Thread {
    return { worker: null as unknown as Worker, givenUp: new Int32Array(new SharedArrayBuffer(4)), job: null, ready: false, memory: null, timer: null };
  }

  /** Threads start with the first search, so that a server without searches does not pay for them. */
  function startWorker(thread: Thread): void {
    const data: ThreadData = { databasePath: options.databasePath, cancelled: thread.givenUp.buffer as SharedArrayBuffer };
    const worker = new Worker(new URL('./thread.ts', import.meta.url), {
      workerData: data,
      // Typed arrays live outside of this heap.
      resourceLimits: { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 16 },
    });
    worker.unref();
    thread.worker = worker;
    thread.ready = false;
    thread.memory = null;
    worker.on('message', (reply: RankReply) => {
      if (!('ready' in reply)) return finish(thread, worker, reply);
      thread.ready = true;
      if (thread.worker === worker && thread.job !== null) send(thread, thread.job);
    });
    worker.on('error', (error) => lose(thread, worker, error));
    worker.on('exit', () => lose(thread, worker, new Error('a search thread ended')));
  }

  function finish(thread: Thread, worker: Worker, reply: Exclude<RankReply, { ready: true }>): void {
    const job = thread.job;
    if (thread.worker !== worker || job === null || job.id !== reply.id) return;
    release(thread);
    if (!('failed' in reply)) job.resolve(reply);
    else if (reply.failed === 'given_up') job.reject(busy('The search took too long: use fewer or rarer words'));
    else {
      const error = new Error(`search failed: ${reply.message}`);
      report(error);
      job.reject(error);
    }
    next();
  }

  function lose(thread: Thread, worker: Worker, error: Error): void {
    if (thread.worker !== worker) return;
    const job = thread.job;
    release(thread);
    thread.worker = null as unknown as Worker;
    thread.ready = false;
    if (closed) return;
    report(error);
    job?.reject(busy('The search was interrupted: try again'));
    next();
  }

  function release(thread: Thread): void {
    if (thread.timer !== null) clearTimeout(thread.timer);
    thread.timer = null;
    thread.job?.signal?.removeEventListener('abort', thread.job.onAbort);
    thread.worker?.unref();
    thread.job = null;
  }

  function next(): void {
    for (const thread of threads) {
      if (thread.job !== null) continue;
      const job = takeWaiting();
      if (job === null) return;
      give(thread, job);
    }
  }

  /** The next that still wants an answer. */
  function takeWaiting(): Job | null {
    for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) {
      if (job.signal?.aborted) job.reject(aborted());
      else if (Date.now() > job.latest) job.reject(busy('Too many searches are running: try again in a moment'));
      else return job;
    }
    return null;
  }

  function give(thread: Thread, job: Job): void {
    if (thread.worker === null) startWorker(thread);
    const id = nextId++ & 0x7fffffff;
    thread.job = { ...job, id };
    job.signal?.removeEventListener('abort', job.onAbort);
    thread.job.onAbort = () => {
      stop(thread, id);
      job.reject(aborted());
    };
    job.signal?.addEventListener('abort', thread.job.onAbort, { once: true });
    thread.worker.ref();
    if (thread.ready) send(thread, thread.job);
    else replaceLater(thread, id, START_MS);
  }

  function stop(thread: Thread, id: number): void {
    Atomics.store(thread.givenUp, 0, id);
    if (thread.ready) replaceLater(thread, id, STUCK_MS);
  }

  /** A thread that does not come back to us is replaced. */
  function replaceLater(thread: Thread, id: number, afterMs: number): void {
    const { worker } = thread;
    if (thread.timer !== null) clearTimeout(thread.timer);
    thread.timer = setTimeout(() => {
      if (thread.worker !== worker || thread.job?.id !== id) return;
      lose(thread, worker, new Error('a search thread hung and was replaced'));
      void worker.terminate();
    }, afterMs).unref();
  }

  function send(thread: Thread, job: Job & { id: number }): void {
    const { id, request, question, look } = job;
    if (thread.timer !== null) clearTimeout(thread.timer);
    thread.timer = setTimeout(() => stop(thread, id), timeoutMs);
    const message: RankMessage = {
      id,
      query: request.query,
      folders: Int32Array.from(request.scope.folders),
      documents: Int32Array.from(request.scope.documents),
      depth: request.depth,
      explain: request.explain ?? false,
      question,
      company: { look, fellows: chooseFellows(job, waiting) },
      memory: question === null ? null : newMemoryFor(thread, question.model),
      timeoutMs,
    };
    thread.worker.postMessage(message, [message.folders.buffer as ArrayBuffer, message.documents.buffer as ArrayBuffer]);
  }

  /** Memory that a thread has not been told of, or null. */
  function newMemoryFor(thread: Thread, model: number): ModelMemory | null {
    // Models are numbered as they come: one that serves no longer is asked no more.
    if (memory === null || model > memory.model) memory = createModelMemory(model);
    if (thread.memory === memory || memory.model !== model) return null;
    return (thread.memory = memory);
  }

  /** Searches whose query is being turned into a vector: they wait as well. */
  let asking = 0;

  async function ask(request: SearchRequest, signal?: AbortSignal): Promise<RankAnswer> {
    if (options.meaning === undefined) return enqueue(request, null, signal);
    if (signal?.aborted) throw aborted();
    if (waiting.length + asking >= queueLimit) throw busy('Too many searches are waiting: try again in a moment');
    asking++;
    let question: QuestionVector | null;
    try {
      question = await options.meaning.ask(request.query, signal);
    } finally {
      asking--;
    }
    return enqueue(request, question, signal);
  }

  function enqueue(request: SearchRequest, question: QuestionVector | null, signal?: AbortSignal): Promise<RankAnswer> {
    if (closed) return Promise.reject(busy('The server is stopping: try again in a moment'));
    if (signal?.aborted) return Promise.reject(aborted());
    if (waiting.length >= queueLimit) return Promise.reject(busy('Too many searches are waiting: try again in a moment'));
    return new Promise((resolve, reject) => {
      const job: Job = { request, question, look: null, resolve, reject, signal, onAbort: () => {}, latest: Date.now() + timeoutMs + (threads.some((thread) => thread.ready) ? 0 : START_MS) };
      job.onAbort = () => {
        const at = waiting.indexOf(job);
        if (at >= 0) waiting.splice(at, 1);
        reject(aborted());
      };
      signal?.addEventListener('abort', job.onAbort, { once: true });
      waiting.push(job);
      next();
    });
  }

  return {
    rank: async (request, signal) => (await ask({ ...request, explain: request.explain ?? false }, signal)).ranked,
    explain: async (request, signal) => {
      const { ranked, beyond, explanation } = await ask({ ...request, explain: true }, signal);
      return { ranked, beyond, explanation: explanation! };
    },
    close: async () => {
      closed = true;
      for (const job of waiting.splice(0)) job.reject(busy('The server is stopping: try again in a moment'));
      await Promise.all(
        threads.map(async (thread) => {
          thread.job?.reject(busy('The server is stopping: try again in a moment'));
          release(thread);
          const worker = thread.worker;
          thread.worker = null as unknown as Worker;
          await worker?.terminate();
        }),
      );
    },
  };
}
