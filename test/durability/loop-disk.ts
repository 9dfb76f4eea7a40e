/**
 * A small ext4 of its own on a loop device, whose power can be cut: `xfs_io -x -c shutdown` (EXT4_IOC_SHUTDOWN) without a
 * log flush drops everything that was not fsynced (trust.md annex A1). Needs root and loop devices.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface LoopDisk {
  /** Where it is mounted. */
  path: string;
  /** The power goes: nothing that is not on the medium yet gets there any more. */
  cutPower(): void;
  /** After a cut, with no process left on it: unmount, mount again, journal replay included. */
  powerOn(): void;
  remove(): void;
}

const run = (command: string, ...args: string[]): string =>
  execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

export function makeLoopDisk(megabytes: number): LoopDisk {
  const folder = mkdtempSync(join(tmpdir(), 'sergo-disk-'));
  const image = join(folder, 'image');
  const path = join(folder, 'mnt');
  mkdirSync(path);
  run('truncate', '-s', `${megabytes}M`, image);
  // No blocks kept for root: tests run as root and the disk must be full for them as well.
  run('mkfs.ext4', '-q', '-m', '0', image);
  const mount = (): void => void run('mount', '-o', 'loop', image, path);
  const unmount = (): void => {
    // A killed process may take a moment to let go.
    for (let attempt = 0; spawnSync('umount', [path]).status !== 0; attempt++) {
      if (attempt === 100)
        throw new Error(`${path} stays busy: ${spawnSync('fuser', ['-vm', path], { encoding: 'utf8' }).stderr}`);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
    }
  };
  mount();
  return {
    path,
    cutPower: () => void run('xfs_io', '-x', '-c', 'shutdown', path),
    powerOn() {
      unmount();
      mount();
    },
    remove() {
      unmount();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Null when this machine can do it, else the reason, for the line that says what is skipped. */
export function whyNoLoopDisk(): string | null {
  if (process.getuid?.() !== 0) return 'this needs root, for a loop device';
  for (const program of ['mkfs.ext4', 'xfs_io', 'mount']) {
    if (spawnSync('which', [program]).status !== 0) return `${program} is not installed`;
  }
  try {
    makeLoopDisk(8).remove();
    return null;
  } catch (error) {
    return `loop devices do not work here (${(error as Error).message.split('\n')[0]})`;
  }
}
