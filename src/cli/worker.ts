import type { Config } from '../config.ts';
import { lockDataFolder } from '../storage/data-folder-lock.ts';
import type { Programs } from './services.ts';
import { onStopSignal } from './stop-signal.ts';
import { WORKER_READY } from './supervisor.ts';

/**
 * Processes documents until SIGTERM. Supervised, it is a child of `serve`, which holds the lock on the data folder, and
 * ends at once when that parent is gone; alone, it takes the lock itself.
 */
export async function work(config: Config, supervised: boolean, programs: Programs): Promise<void> {
  const lock = supervised ? null : lockDataFolder(config.dataFolder);
  if (supervised) process.on('disconnect', () => process.exit(1));
  const stopSignal = onStopSignal({ ignoreInterrupt: supervised });
  const worker = await programs.startWorker(config);
  if (supervised) process.send?.(WORKER_READY);
  await stopSignal;
  await worker.stop();
  lock?.release();
  if (supervised) process.disconnect();
}
