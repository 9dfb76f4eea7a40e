import type { UserActor } from '../../access/actor.ts';
import { scopeOf } from '../../access/scope.ts';
import { getDocument } from '../../library/documents.ts';
import type { DocumentView } from '../../library/views.ts';
import type { DocumentRow } from '../../storage/ports.ts';
import type { ConsoleDeps } from './deps.ts';

interface Listener {
  /** Whoever listens, as of now; rejects when they may no longer. */
  actorNow(): Promise<UserActor>;
  send(view: DocumentView): void;
  end(): void;
}

export interface ProgressWatch {
  /** Answers how to leave. */
  join(listener: Listener): () => void;
  /** Work on this document was just asked for: it may be done before anybody looks. */
  expect(document: number): void;
  stop(): void;
}

const TICK_MS = 1_000;
const MAX_WATCHED = 1_000;

/**
 * One timer for all streams, and only while there are any: it looks at the documents that have work to do, and at those that had
 * a moment ago, and tells whoever may read one that changed.
 */
export function createProgressWatch(deps: ConsoleDeps): ProgressWatch {
  const { storage } = deps.library;
  const listeners = new Set<Listener>();
  let seen = new Map<number, string>();
  let timer: NodeJS.Timeout | null = null;

  const tick = async (): Promise<void> => {
    const busy = await deps.ports.busyDocuments(MAX_WATCHED);
    const rows = await storage.documents.byRefs([...new Set([...busy, ...seen.keys()])]);
    const now = new Map(rows.map((row) => [row.ref, stateOf(row)]));
    const changed = rows.filter((row) => row.trashedAt === null && seen.get(row.ref) !== now.get(row.ref));
    const stillBusy = new Set(busy);
    // In a long queue some are worked on that are not among the oldest: those are looked at until they are done as well.
    const working = new Set(
      rows
        .filter((row) => !stillBusy.has(row.ref) && (row.status === 'processing' || row.pdfCopy === 'making'))
        .slice(0, MAX_WATCHED)
        .map((row) => row.ref),
    );
    seen = new Map([...now].filter(([ref]) => stillBusy.has(ref) || working.has(ref)));
    if (changed.length > 0) await Promise.all([...listeners].map((listener) => tell(listener, changed)));
  };

  const tell = async (listener: Listener, changed: readonly DocumentRow[]): Promise<void> => {
    const actor = await listener.actorNow().catch(() => null);
    if (actor === null) return listener.end();
    const scope = await scopeOf(storage, actor);
    const [folders, singles] = [new Set(scope.folders), new Set(scope.documents)];
    for (const row of changed) {
      if (!folders.has(row.folder) && !singles.has(row.ref)) continue;
      // Between the scope and this look it may have moved away: then there is nothing to tell.
      const view = await getDocument(deps.library, actor, row.id).catch(() => null);
      if (view !== null) listener.send(view);
    }
  };

  const schedule = (): void => {
    timer = setTimeout(() => {
      void tick()
        .catch(() => undefined)
        .then(() => (listeners.size > 0 ? schedule() : (timer = null)));
    }, TICK_MS);
  };

  return {
    join(listener) {
      listeners.add(listener);
      if (timer === null) schedule();
      return () => void listeners.delete(listener);
    },
    expect(document) {
      if (listeners.size > 0) seen.set(document, '');
    },
    stop() {
      listeners.clear();
      if (timer !== null) clearTimeout(timer);
      timer = null;
    },
  };
}

const stateOf = (row: DocumentRow): string =>
  JSON.stringify([row.status, row.progress, row.pdfCopy, row.reason, row.generation]);
