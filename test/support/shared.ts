/**
 * The folder of shared test files (`corpus/`, `relevance/`, `contract/`), which is not part of the repository. Found by
 * SERGO_SHARED, else beside the repository, else beside the folder of a work tree.
 */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

export const repositoryRoot = resolve(import.meta.dirname, '../..');

const candidates = [process.env.SERGO_SHARED, join(repositoryRoot, '../shared'), join(repositoryRoot, '../../shared')];

/** Absolute path, or null where the folder is missing. */
export const sharedFolder: string | null =
  candidates.find((path): path is string => path !== undefined && existsSync(join(path, 'corpus'))) ?? null;

/**
 * True when `path` (such as `corpus/manifest.tsv`) is there. Otherwise says loudly what is skipped, for
 * `describe.skipIf(!hasShared('corpus', 'reading real files'))`.
 */
export function hasShared(path: string, what: string): boolean {
  const there = sharedFolder !== null && existsSync(join(sharedFolder, path));
  if (!there)
    console.warn(`SKIPPED: ${what}. The shared test files (${path}) are missing; set SERGO_SHARED to their folder.`);
  return there;
}

/** Absolute path of a shared file; throws where the folder is missing (ask `hasShared` first). */
export function sharedPath(path: string): string {
  if (sharedFolder === null) throw new Error(`The shared test files are missing: ${path}`);
  return join(sharedFolder, path);
}
