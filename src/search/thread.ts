/** A searching thread: a read-only connection and the slot table, one search at a time. Started by the pool. */
import { parentPort, workerData } from 'node:worker_threads';
import { openSearchReader } from '../storage/sqlite/search-reader.ts';
import type { RankMessage, RankReply, ThreadData } from './messages.ts';
import { createEngine, rank, type VectorLeg } from './ranking.ts';
import { createVectorLegs } from './vectors/vector-leg.ts';

const { databasePath, cancelled } = workerData as ThreadData;
const givenUp = new Int32Array(cancelled);
const engine = createEngine(openSearchReader(databasePath));
const vectors = createVectorLegs(databasePath);

const READ_MS = 20;

class GivenUp extends Error {}

parentPort!.on('message', (message: RankMessage) => {
  const deadline = Date.now() + message.timeoutMs;
  const check = (): void => {
    if (Atomics.load(givenUp, 0) === message.id || Date.now() > deadline) throw new GivenUp();
  };
  if (message.memory !== null) vectors.use(message.memory);
  let reply: RankReply;
  try {
    const scope = { folders: message.folders as unknown as number[], documents: message.documents as unknown as number[] };
    const leg: VectorLeg | null = message.question === null ? null : vectors.legFor(message.question, message.company);
    const answer = rank(engine, { query: message.query, scope, depth: message.depth, explain: message.explain, check }, leg);
    reply = { id: message.id, ...answer };
  } catch (error) {
    const failed = error instanceof GivenUp ? 'given_up' : 'error';
    reply = { id: message.id, failed, message: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
  parentPort!.postMessage(reply);
  readVectors();
});

/** After a start there are many vectors to read: between searches, so that none waits long. */
let isReading = false;
function readVectors(): void {
  if (isReading) return;
  isReading = true;
  setImmediate(() => {
    isReading = false;
    if (vectors.read(READ_MS)) readVectors();
  });
}

parentPort!.postMessage({ ready: true } satisfies RankReply);
