/** The question's side of meaning: a query becomes a vector, or the search goes on by words and health says why. */
import type { EmbeddingProvider } from '../../ai/embeddings.ts';
import { ProviderError } from '../../ai/provider-error.ts';
import type { Clock } from '../../clock.ts';
import type { VectorModel, VectorStore } from './types.ts';
import type { QuestionVector } from './vector-table.ts';

export interface MeaningDeps {
  store: Pick<VectorStore, 'models' | 'coverage'>;
  providerOf(model: VectorModel): EmbeddingProvider | null;
  clock: Clock;
  /** Whether its first answer after a pause takes longer than a question may wait: a model in a process of this machine. */
  startsSlowly?(model: VectorModel): boolean;
  /** Told when questions begin to fail (a sentence) and when they work again (null). */
  onTrouble?(trouble: string | null): void;
}

/** For health and the console. */
export interface MeaningStatus {
  model: string | null;
  /** Excerpts of the serving model's vectors. */
  done: number;
  excerpts: number;
  refused: number;
  /** The model that will replace it, while it is being built. */
  next: { model: string; done: number; excerpts: number } | null;
  /** Why searches go by words only now, or vectors are not made; one sentence. */
  trouble: string | null;
}

export interface Meaning {
  /** The vector of a query, or null: then the search goes by words. Never throws but for the caller's own abort. */
  ask(query: string, signal?: AbortSignal): Promise<QuestionVector | null>;
  status(): MeaningStatus;
  /**
   * Asks a plain question of a serving model that starts slowly. Again and again, so that it stays ready: otherwise the first page of an
   * answer would come from words alone, and the next one, of the same query, from words and meaning.
   */
  keepWarm(): Promise<void>;
  close(): Promise<void>;
}

/** Agents ask the same thing again with the next offset: within minutes, and rarely more than these. */
const KEPT_QUESTIONS = 500;
const KEPT_MS = 10 * 60_000;
const MODELS_MS = 1_000;
const STATUS_MS = 5_000;
const PLAIN_QUESTION = 'What is on this page?';

export function createMeaning(deps: MeaningDeps): Meaning {
  const kept = new Map<string, { vector: Promise<Float32Array>; until: number }>();
  const providers = new Map<number, EmbeddingProvider | null>();
  let models: { list: VectorModel[]; until: number } = { list: [], until: 0 };
  let trouble: string | null = null;
  let closed = false;
  let counted: { at: number; status: MeaningStatus } | null = null;

  const serving = (): VectorModel | null => {
    const now = deps.clock.now();
    // A clock that was set back must not hold on to an old list.
    if (now >= models.until || now < models.until - MODELS_MS) models = { list: deps.store.models(), until: now + MODELS_MS };
    return models.list.find((model) => model.state === 'serving' && model.dimensions !== null) ?? null;
  };
  const providerOf = (model: VectorModel): EmbeddingProvider | null => {
    if (!providers.has(model.ref)) providers.set(model.ref, deps.providerOf(model));
    return providers.get(model.ref)!;
  };
  const note = (now: string | null): void => {
    if (now === trouble || closed) return;
    trouble = now;
    deps.onTrouble?.(now);
  };
  const noteError = (error: unknown): void => {
    if (!(error instanceof ProviderError)) note('The embedding model failed for a reason of ours; see the log');
    // Health is for everybody: what a model says of somebody's question is not.
    else if (error.trouble === 'unfit') note('The embedding model refused the last question');
    // That it rests says less than what came before.
    else if (error.trouble !== 'resting' || trouble === null) note(error.message);
  };
  const vectorOf = (model: VectorModel, query: string): Promise<Float32Array> => {
    const key = `${model.ref} ${query}`;
    const now = deps.clock.now();
    const known = kept.get(key);
    if (known && now < known.until) {
      kept.delete(key);
      kept.set(key, known);
      return known.vector;
    }
    const provider = providerOf(model);
    const vector =
      provider === null
        ? Promise.reject(new ProviderError('refused', 'The model that made the vectors is not described in a way that this version reads'))
        : // Not ended by one caller's abort: another may wait for the same question.
          provider.embed([query], 'query').then(([first]) => {
            if (first!.length !== model.dimensions) {
              throw new ProviderError('bad_answer', 'The embedding model answers other dimensions than its vectors have');
            }
            return first!;
          });
    kept.set(key, { vector, until: now + KEPT_MS });
    if (kept.size > KEPT_QUESTIONS) kept.delete(kept.keys().next().value!);
    vector.catch(() => kept.delete(key));
    return vector;
  };

  return {
    async ask(query, signal) {
      signal?.throwIfAborted();
      const text = query.normalize('NFC').replace(/\s+/g, ' ').trim().slice(0, 2_000);
      if (text === '') return null;
      const model = serving();
      if (model === null) return null;
      try {
        const vector = await vectorOf(model, text);
        note(null);
        return { model: model.ref, vector };
      } catch (error) {
        noteError(error);
        return null;
      } finally {
        signal?.throwIfAborted();
      }
    },

    status() {
      // Counting what is covered reads every document, and readiness is asked every few seconds.
      if (counted === null || Math.abs(deps.clock.now() - counted.at) > STATUS_MS) counted = { at: deps.clock.now(), status: count() };
      return { ...counted.status, trouble: trouble ?? counted.status.trouble };
    },

    async keepWarm() {
      // Before its first vector as well: the first question comes soon after.
      const model = deps.store.models().find(({ state }) => state === 'serving');
      if (model === undefined || !deps.startsSlowly?.(model)) return;
      try {
        await providerOf(model)?.embed([PLAIN_QUESTION], 'query');
        note(null);
      } catch (error) {
        // It is starting, and nobody waited.
        if (!(error instanceof ProviderError) || error.trouble !== 'timeout') noteError(error);
      }
    },

    async close() {
      closed = true;
      for (const provider of providers.values()) await provider?.close();
    },
  };

  function count(): MeaningStatus {
    const list = deps.store.models();
    const now = list.find((model) => model.state === 'serving');
    const next = list.find((model) => model.state === 'building');
    const covered = now ? deps.store.coverage(now.ref) : { done: 0, excerpts: 0, refused: 0 };
    const coming = next ? deps.store.coverage(next.ref) : null;
    return {
      model: now?.name ?? null,
      ...covered,
      next: next && coming ? { model: next.name, done: coming.done, excerpts: coming.excerpts } : null,
      trouble: now?.trouble ?? next?.trouble ?? null,
    };
  }
}
