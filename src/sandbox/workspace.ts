import { chmodSync, chownSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { copyFile, open, readdir, rm, writeFile, type FileHandle } from 'node:fs/promises';
import { constants } from 'node:fs';
import { basename, join } from 'node:path';
import { NOBODY } from './argv.ts';
import { isRunning, startedAt } from './process-tree.ts';
import type { ToolFile } from './types.ts';

/** The folders of one run: made before it, gone after it, whatever happened. */

const PREFIX = 'sergo-sandbox-';

/** How a temporary folder of this process begins that a later start may remove once this process is gone. Numbers of processes come again. */
export const sweptPrefix = (): string => `${PREFIX}${process.pid}-${startedAt(process.pid)}-`;

export interface Workspace {
  dir: string;
  /** Writable by the program; also HOME and /tmp of a limits-only run. */
  tmpDir: string;
  inDir: string;
  outDir: string;
  /** Inputs that stay where they are on the host and are shown by a bind. */
  bound: { name: string; path: string }[];
  remove(): Promise<void>;
}

function isReadableByAll(path: string): boolean {
  return (statSync(path).mode & 0o004) !== 0;
}

function checkName(name: string): void {
  if (name === '' || name !== basename(name) || name.startsWith('.')) throw new TypeError('Input names are plain file names');
}

export async function makeWorkspace(
  base: string,
  asRoot: boolean,
  bindable: boolean,
  files: ToolFile[],
): Promise<Workspace> {
  const dir = mkdtempSync(join(base, sweptPrefix()));
  const workspace: Workspace = {
    dir,
    tmpDir: join(dir, 'tmp'),
    inDir: join(dir, 'in'),
    outDir: join(dir, 'out'),
    bound: [],
    remove: () => rm(dir, { recursive: true, force: true, maxRetries: 3 }),
  };
  try {
    for (const sub of [workspace.tmpDir, workspace.inDir, workspace.outDir]) mkdirSync(sub, { mode: 0o700 });
    if (asRoot && bindable) {
      chmodSync(workspace.inDir, 0o755);
      chownSync(workspace.outDir, NOBODY, NOBODY);
    }
    for (const file of files) {
      checkName(file.name);
      const target = join(workspace.inDir, file.name);
      if ('bytes' in file) {
        await writeFile(target, file.bytes, { mode: 0o444 });
      } else if (bindable && (!asRoot || isReadableByAll(file.path))) {
        // A bind mount needs something to be mounted on.
        await writeFile(target, '', { mode: 0o444 });
        workspace.bound.push(file);
      } else {
        await copyFile(file.path, target, constants.COPYFILE_FICLONE);
        chmodSync(target, 0o444);
      }
    }
  } catch (error) {
    await workspace.remove();
    throw error;
  }
  return workspace;
}

/** Bytes in a folder, links not followed. */
export function measureFolder(dir: string): number {
  let total = 0;
  try {
    for (const entry of readdirSync(dir, { withFileTypes: true })) {
      const path = join(dir, entry.name);
      if (entry.isDirectory()) total += measureFolder(path);
      // Blocks, not length: a sparse file of a terabyte takes nothing.
      else if (entry.isFile()) total += lstatSync(path).blocks * 512;
    }
  } catch {
    // It changes while we look.
  }
  return total;
}

/** Shows regular files of the folder (never links: a program could point one at a file of ours), up to `maxBytes` together. */
export async function eachOutput(dir: string, maxBytes: number, take: (name: string, bytes: number, file: FileHandle) => Promise<void>): Promise<'too much' | undefined> {
  let left = maxBytes;
  for (const name of (await readdir(dir)).toSorted()) {
    const path = join(dir, name);
    if (!lstatSync(path).isFile()) continue;
    const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const { size } = await handle.stat();
      left -= size;
      if (left < 0) return 'too much';
      await take(name, size, handle);
    } finally {
      await handle.close();
    }
  }
  return undefined;
}

/** Removes what a killed server left behind: folders whose process is gone. */
export function sweepWorkspaces(base: string): void {
  for (const name of readdirSync(base)) {
    if (!name.startsWith(PREFIX)) continue;
    // Folders of versions before this one do not say when their process began.
    const [pid = 0, start, random] = name.slice(PREFIX.length).split('-').map(Number);
    const isInUse = isRunning(pid) && (random === undefined || startedAt(pid) === start);
    if (Number.isInteger(pid) && pid > 0 && !isInUse) rmSync(join(base, name), { recursive: true, force: true });
  }
}
