/** Passages become vectors: together, or one by one where one of them may be what the model cannot take. */
import type { EmbeddingProvider } from '../../ai/embeddings.ts';
import { ProviderError } from '../../ai/provider-error.ts';
import { passageText } from './passage.ts';
import type { Passage } from './types.ts';

export interface PassageWork {
  provider: EmbeddingProvider;
  passages: readonly Passage[];
  /** How often in a row this model failed, most likely with these passages. */
  failedBefore: number;
  /** Vectors of the next passages, in order, each kept as soon as it is there; null: the model refuses this text. */
  keep(vectors: readonly (Float32Array | null)[], dimensions: number): void;
  signal: AbortSignal;
}

/** An outage is rarely over with the next step. After so many, a text may be the reason: some servers fall over one. */
const FAILURES_TOGETHER = 3;
/** A text that is not refused in so many words fails twice, alone, beside a plain text that does not. */
const TRIES_ALONE = 2;
const PLAIN_TEXT = 'A page of text.';

/** Throws ProviderError where the model is in trouble; what `keep` got until then stays. */
export async function embedPassages(work: PassageWork): Promise<{ refused: number }> {
  const texts = work.passages.map(passageText);
  if (work.failedBefore < FAILURES_TOGETHER) {
    try {
      const vectors = await work.provider.embed(texts, 'passage', work.signal);
      work.keep(vectors, vectors[0]!.length);
      return { refused: 0 };
    } catch (error) {
      if (!isUnfit(error)) throw error;
    }
  }
  let dimensions = await embedPlainText(work);
  let refused = 0;
  for (const text of texts) {
    const vector = await embedAlone(work, text);
    if (vector === null) refused++;
    else dimensions = vector.length;
    work.keep([vector], dimensions);
  }
  return { refused };
}

/** Null only while the model does answer the plain text: an outage, whenever it begins, is never taken for the text's fault. */
async function embedAlone(work: PassageWork, text: string): Promise<Float32Array | null> {
  for (let tries = 1; ; tries++) {
    try {
      return (await work.provider.embed([text], 'passage', work.signal))[0]!;
    } catch (error) {
      const isSuspect = work.failedBefore >= FAILURES_TOGETHER && mayBeOfText(error);
      if (!isUnfit(error) && !isSuspect) throw error;
      await embedPlainText(work);
      if (isUnfit(error) || tries === TRIES_ALONE) return null;
    }
  }
}

/** How many dimensions the model has. When the simplest text is refused as well, it is not the text. */
async function embedPlainText({ provider, signal }: PassageWork): Promise<number> {
  const [vector] = await provider.embed([PLAIN_TEXT], 'passage', signal).catch((error: unknown) => {
    throw isUnfit(error) ? new ProviderError('refused', `The embedding model refuses every text: ${(error as Error).message}`) : error;
  });
  return vector!.length;
}

const isUnfit = (error: unknown): boolean => error instanceof ProviderError && error.trouble === 'unfit';

/** These two are about how often was asked, never about what. All others may be: there are firewalls that answer a text with 403. */
const mayBeOfText = (error: unknown): boolean => error instanceof ProviderError && error.trouble !== 'limited' && error.trouble !== 'resting';
