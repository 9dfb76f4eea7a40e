import type Sqlite from 'better-sqlite3';
import type { Storage, Stores } from '../ports.ts';

/** Small answers, each by an index, that call after call asks for. What is made of several reads is remembered by `recall`. */
const REMEMBERED: { [Store in keyof Stores]?: readonly (keyof Stores[Store] & string)[] } = {
  users: ['byRef'],
  folders: ['paths'],
  documents: ['inScope'],
};

const MAX_ANSWERS = 1000;
const MAX_QUESTION_LENGTH = 2000;

/**
 * The stores, with those reads answered from memory for as long as nothing was committed to the database. Of other connections'
 * commits SQLite's `data_version` tells, asked in each turn of the event loop; of those of `connection`, the one that writes here,
 * `forget` does: all but audit rows, which change no answer. So an answer is never older than the call, rights included; a burst
 * of calls between two commits does the work once. Remembered answers are frozen.
 */
export function rememberReads(
  stores: Stores,
  connection: Sqlite.Database,
): { stores: Stores; recall: Storage['recall']; forget(): void } {
  const version = connection.prepare('pragma data_version').pluck();
  const answers = new Map<string, Promise<unknown>>();
  let answeredAt: unknown = null;
  let askedThisTurn = false;

  /** Other processes are heard of once a turn of the event loop: no call that began before could know of them. */
  const refresh = (): void => {
    if (askedThisTurn) return;
    askedThisTurn = true;
    setImmediate(() => (askedThisTurn = false));
    const now = version.get();
    if (now === answeredAt && answers.size < MAX_ANSWERS) return;
    answers.clear();
    answeredAt = now;
  };

  const recall = <T>(question: string, make: () => Promise<T>, isKept?: (answer: T) => boolean): Promise<T> => {
    if (question.length > MAX_QUESTION_LENGTH) return make();
    // Asked before reading: what is read may be newer than this version, and is then asked again.
    refresh();
    const known = answers.get(question);
    if (known) return known as Promise<T>;
    const drop = (): void => {
      if (answers.get(question) === answer) answers.delete(question);
    };
    const answer = make().then((value) => {
      if (isKept !== undefined && !isKept(value)) drop();
      return freezeDeeply(value);
    });
    answers.set(question, answer);
    answer.catch(drop);
    return answer;
  };

  const remember = (name: string, read: (...args: unknown[]) => Promise<unknown>) => (...args: unknown[]): Promise<unknown> =>
    recall(`${name} ${JSON.stringify(args)}`, () => read(...args));

  const remembering: Record<string, unknown> = { ...stores };
  for (const [storeName, methods] of Object.entries(REMEMBERED)) {
    const store = stores[storeName as keyof Stores] as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
    const wrapped = methods.map((method) => [method, remember(`${storeName}.${method}`, store[method]!.bind(store))]);
    remembering[storeName] = { ...store, ...Object.fromEntries(wrapped) };
  }
  return {
    stores: remembering as unknown as Stores,
    recall,
    forget() {
      answers.clear();
      askedThisTurn = false;
    },
  };
}

function freezeDeeply<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const inner of Object.values(value)) freezeDeeply(inner);
  return Object.freeze(value);
}
