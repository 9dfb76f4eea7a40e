import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';

export interface TreeFile {
  /** Absolute or as given. */
  path: string;
  /** Folder names below the imported one, `[]` for files directly in it. */
  folders: string[];
  name: string;
  bytes: number;
}

export interface Tree {
  /** In order of path, so that two runs do the same. */
  files: TreeFile[];
  /** What is no file to import, with the reason. Hidden files are left out without a word. */
  leftOut: { path: string; reason: string }[];
}

/** Everything below a folder. Links are not followed: a tree must not lead out of itself. */
export async function readTree(root: string): Promise<Tree> {
  const tree: Tree = { files: [], leftOut: [] };
  const walk = async (path: string, folders: string[]): Promise<void> => {
    let names: string[];
    try {
      names = (await readdir(path)).sort();
    } catch {
      tree.leftOut.push({ path, reason: 'this folder cannot be opened by this user' });
      return;
    }
    for (const name of names) {
      if (name.startsWith('.') || name === 'Thumbs.db' || name === 'desktop.ini' || name.startsWith('~$')) continue;
      const child = join(path, name);
      // A name that is not UTF-8 comes with signs in place of its bytes, and no file has that name.
      const about = await lstat(child).catch(() => null);
      if (about === null) tree.leftOut.push({ path: child, reason: 'it is gone, or its name is not UTF-8' });
      else if (about.isDirectory()) await walk(child, [...folders, name]);
      else if (about.isFile()) tree.files.push({ path: child, folders, name, bytes: about.size });
      else
        tree.leftOut.push({
          path: child,
          reason: about.isSymbolicLink() ? 'a link, which is not followed' : 'not a file',
        });
    }
  };
  await walk(root, []);
  return tree;
}
