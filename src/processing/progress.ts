import type { DocumentRow } from '../storage/ports.ts';
import type { ProcessingDeps } from './deps.ts';

/** Progress is stored, so that a reload shows it; at most twice a second, and never in the way of the reading. */
export function progressWriter(deps: Pick<ProcessingDeps, 'storage' | 'clock' | 'log'>, document: DocumentRow): (done: number, total: number) => void {
  let lastMs = deps.clock.now();
  return (done, total) => {
    const now = deps.clock.now();
    if (now - lastMs < 500) return;
    lastMs = now;
    const progress = { done, total, what: total > 0 ? `reading page ${done} of ${total}` : `reading page ${done}` };
    deps.storage
      .transaction(async (stores) => {
        // Cancelled or replaced meanwhile: the progress of a reading that no longer counts is none.
        const row = await stores.documents.byRef(document.ref);
        if (row?.status === 'processing' && row.generation === document.generation) await stores.documents.update(document.ref, { progress });
      })
      .catch((error: unknown) => deps.log.warn({ err: error, document: document.id }, 'progress not stored'));
  };
}
