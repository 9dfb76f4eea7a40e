/**
 * The background work of the worker process: vectors for every excerpt that has none, of the model that serves and of the
 * one that is being built. Stopped anywhere, it goes on where the last commit left it.
 */
import type { EmbeddingProvider } from '../../ai/embeddings.ts';
import { ProviderError } from '../../ai/provider-error.ts';
import { embedPassages } from './embed-passages.ts';
import { quantise } from './quantise.ts';
import type { Passage, VectorModel, VectorStore } from './types.ts';

export interface EmbedLoopDeps {
  store: VectorStore;
  /** A provider for the source that was stored with a model; null when it cannot be read. */
  providerOf(model: VectorModel): EmbeddingProvider | null;
  /** The model that the settings name now. */
  wanted: { name: string; source: unknown };
  /** Nothing is written on a disk that is nearly full. */
  hasRoom?(): Promise<boolean>;
  /** Resolves early when the signal is aborted. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
  /** Told when trouble begins (a sentence) and ends (null). */
  onTrouble?(trouble: string | null): void;
  /** Told how many texts of a step the model cannot take. */
  onRefused?(count: number): void;
}

/** Passages of one step: a second or so of work for a small model on one core. */
const BATCH = 16;
/** How often a library without anything to do is looked at. */
const IDLE_MS = 2_000;
const FIRST_PAUSE_MS = 15_000;
const LONGEST_PAUSE_MS = 300_000;

/** Runs until the signal is aborted. Only trouble with the database ends it otherwise. */
export async function runEmbedLoop(deps: EmbedLoopDeps, signal: AbortSignal): Promise<void> {
  deps.store.choose(deps.wanted.name, deps.wanted.source);
  let pauseMs = FIRST_PAUSE_MS;
  const failures: Failures = new Map();
  while (!signal.aborted) {
    if (deps.hasRoom && !(await deps.hasRoom())) {
      await deps.wait(FIRST_PAUSE_MS, signal);
      continue;
    }
    const step = await embedStep(deps, signal, failures);
    if (signal.aborted) return;
    if (step === 'trouble') {
      await deps.wait(pauseMs, signal);
      pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2);
      continue;
    }
    if (step === 'worked') pauseMs = FIRST_PAUSE_MS;
    const more = deps.store.sweep();
    await deps.wait(step === 'worked' || more ? 0 : IDLE_MS, signal);
  }
}

/** Steps in a row that failed, by the model's ref. */
export type Failures = Map<number, number>;

/** One batch of the first model that has something to do. What serves comes before what is being built. */
export async function embedStep(
  deps: EmbedLoopDeps,
  signal: AbortSignal,
  failures: Failures = new Map(),
): Promise<'worked' | 'nothing' | 'trouble'> {
  let hadTrouble = false;
  for (const model of deps.store.models()) {
    const passages = deps.store.next(model.ref, BATCH);
    if (passages.length === 0) {
      if (model.state === 'building' && deps.store.promote(model.ref)) return 'worked';
      continue;
    }
    const failedBefore = failures.get(model.ref) ?? 0;
    try {
      const { refused } = await embedPassages({ provider: providerOf(deps, model), passages, failedBefore, keep: keeper(deps, model, passages), signal });
      // Texts that are refused are rarely alone: the passages behind them are not tried together three times first.
      if (refused === 0) failures.delete(model.ref);
      else deps.onRefused?.(refused);
      noteTrouble(deps, model, null);
      return 'worked';
    } catch (error) {
      if (signal.aborted) return 'nothing';
      if (!(error instanceof ProviderError)) throw error;
      failures.set(model.ref, failedBefore + 1);
      // The other model may be elsewhere and well.
      noteTrouble(deps, model, error.message);
      hadTrouble = true;
    }
  }
  return hadTrouble ? 'trouble' : 'nothing';
}

function providerOf(deps: EmbedLoopDeps, model: VectorModel): EmbeddingProvider {
  const provider = deps.providerOf(model);
  if (provider === null) throw new ProviderError('refused', 'The model that made the present vectors is not described in a way that this version reads');
  return provider;
}

/** Stores vectors of the passages, from the first on, as they are made. */
function keeper(deps: EmbedLoopDeps, model: VectorModel, passages: readonly Passage[]) {
  let at = 0;
  return (vectors: readonly (Float32Array | null)[], dimensions: number): void => {
    deps.store.put(
      model.ref,
      dimensions,
      vectors.map((vector) => ({ slot: passages[at++]!.slot, made: vector === null ? null : quantise(vector) })),
    );
  };
}

function noteTrouble(deps: EmbedLoopDeps, model: VectorModel, trouble: string | null): void {
  if (model.trouble === trouble) return;
  deps.store.setTrouble(model.ref, trouble);
  deps.onTrouble?.(trouble);
}
