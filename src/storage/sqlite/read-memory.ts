import type Sqlite from 'better-sqlite3';
import type { Stores } from '../ports.ts';

/** What every call of a key asks anew: who it is, what it may see. Small answers, each by an index. */
const REMEMBERED: { [Store in keyof Stores]?: readonly (keyof Stores[Store] & string)[] } = {
  keys: ['byValueHash', 'scope'],
  users: ['byRef'],
  folders: ['subtree', 'paths'],
  documents: ['inScope'],
};

const MAX_ANSWERS = 1000;
const MAX_QUESTION_LENGTH = 2000;

/**
 * The stores, with those reads answered from memory for as long as nothing at all was committed to the database, by this
 * process (`forget`) or any other: SQLite's `data_version` says so, and it is asked in each turn of the event loop. So an answer
 * is never older than the call, rights included; a burst of calls between two commits does the work once. Remembered answers are frozen.
 */
export function rememberReads(stores: Stores, connection: Sqlite.Database): { stores: Stores; forget(): void } {
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

  const remember = (name: string, read: (...args: unknown[]) => Promise<unknown>) => (...args: unknown[]): Promise<unknown> => {
    const question = `${name} ${JSON.stringify(args)}`;
    if (question.length > MAX_QUESTION_LENGTH) return read(...args);
    // Asked before reading: what is read may be newer than this version, and is then asked again.
    refresh();
    const known = answers.get(question);
    if (known) return known;
    const answer = read(...args).then(freezeDeeply);
    answers.set(question, answer);
    answer.catch(() => answers.delete(question));
    return answer;
  };

  const remembering: Record<string, unknown> = { ...stores };
  for (const [storeName, methods] of Object.entries(REMEMBERED)) {
    const store = stores[storeName as keyof Stores] as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
    const wrapped = methods.map((method) => [method, remember(`${storeName}.${method}`, store[method]!.bind(store))]);
    remembering[storeName] = { ...store, ...Object.fromEntries(wrapped) };
  }
  return {
    stores: remembering as unknown as Stores,
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
