/** What the pool and its threads say to each other. */
import type { RankAnswer } from './ranking.ts';
import type { Company } from './vectors/vector-leg.ts';
import type { ModelMemory, QuestionVector } from './vectors/vector-table.ts';

export interface ThreadData {
  databasePath: string;
  /** One number: the search being given up; the thread stops at its next check. */
  cancelled: SharedArrayBuffer;
}

export interface RankMessage {
  id: number;
  query: string;
  folders: Int32Array;
  documents: Int32Array;
  depth: number;
  explain: boolean;
  /** The query as a vector; null: words only. */
  question: QuestionVector | null;
  /** Other searches by meaning that wait: looking through the signs for several takes little more than for one. */
  company: Company;
  /** Where the vectors of the question's model are kept together with other threads, if this one was not told yet. */
  memory: ModelMemory | null;
  /** After this long the thread gives up by itself. */
  timeoutMs: number;
}

export type RankReply =
  | { ready: true }
  | ({ id: number } & RankAnswer)
  | { id: number; failed: 'given_up' | 'error'; message: string };
