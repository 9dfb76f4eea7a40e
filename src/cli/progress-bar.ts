import { SingleBar } from 'cli-progress';
import type { ImportProgress } from './import.ts';

/** A bar on a terminal, nothing elsewhere: logs are for lines. */
export function openProgressBar(interactive: boolean): { update: ImportProgress; stop(): void } {
  if (!interactive) return { update: () => {}, stop: () => {} };
  const bar = new SingleBar({
    format: '{phase} [{bar}] {value}/{total} {name}',
    hideCursor: true,
    clearOnComplete: true,
  });
  let shown = '';
  return {
    update(phase, done, total, name) {
      if (phase === shown) bar.update(done, { name });
      else {
        bar.stop();
        bar.start(total, done, { phase, name });
      }
      shown = phase;
    },
    stop: () => bar.stop(),
  };
}
