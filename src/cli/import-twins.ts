import { cleanFileName, cleanLine, foldName } from '../library/names.ts';
import type { TreeFile } from './import-tree.ts';

/**
 * Files that would have the same name in the same folder of the library although they are two on this machine: `é.pdf` in both
 * spellings of Unicode, `a.pdf` and `a.pdf ` with a space, the same name in `Docs` and in `docs`. Each with the path of the first
 * of them, in the order of the tree, so that two runs choose the same one: the second must never replace the first.
 */
export function findTwins(files: readonly TreeFile[]): Map<TreeFile, string> {
  const first = new Map<string, string>();
  const twins = new Map<TreeFile, string>();
  for (const file of files) {
    const folders = file.folders.map((name) => foldName(cleanLine(name)));
    // No cleaned name has a slash.
    const key = [...folders, cleanFileName(file.name)].join('/');
    const path = first.get(key);
    if (path === undefined) first.set(key, file.path);
    else twins.set(file, path);
  }
  return twins;
}
