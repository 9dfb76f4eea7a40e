/** Which of the waiting searches by meaning a thread looks for on the way: they lose nothing of what they had without it. */
import type { Scope, SearchRequest } from './types.ts';
import { isOpen } from './vectors/shared-look.ts';
import { lookFor, type Fellow } from './vectors/vector-leg.ts';
import type { QuestionVector } from './vectors/vector-table.ts';

interface Seeker {
  request: SearchRequest;
  question: QuestionVector | null;
  look: SharedArrayBuffer | null;
}

/**
 * More than a thread looks for at once: some will have been looked for by another thread when it begins. Who waits behind so many will be
 * looked for later.
 */
const NEXT = 6;

/** Of those that come next who asks the same vectors in the same scope, in their order; each is given room for what is found. */
export function chooseFellows(search: Seeker, waiting: readonly Seeker[]): Fellow[] {
  if (search.question === null || (search.look !== null && !isOpen(search.look))) return [];
  const fellows: Fellow[] = [];
  for (const other of waiting.slice(0, NEXT)) {
    if (other.question?.model !== search.question.model || !isSameScope(other.request.scope, search.request.scope)) continue;
    if (other.look !== null && !isOpen(other.look)) continue;
    other.look ??= lookFor(other.request.depth);
    fellows.push({ vector: other.question.vector, depth: other.request.depth, look: other.look });
  }
  return fellows;
}

const isSameScope = (a: Scope, b: Scope): boolean => a === b || (sameNumbers(a.folders, b.folders) && sameNumbers(a.documents, b.documents));
const sameNumbers = (a: readonly number[], b: readonly number[]): boolean => a.length === b.length && a.every((number, i) => number === b[i]);
