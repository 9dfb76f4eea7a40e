import type { ResolvedScope } from '../access/scope.ts';
import type { Scope } from '../search/types.ts';
import type { FolderRow, Stores } from '../storage/ports.ts';
import { foldName } from './names.ts';

/**
 * Which folders a call means by name: a folder the caller reads or any inside it, case-insensitively after NFC; several that
 * fit are all meant. A path (`Energy outlooks/Basic`, or a `folder` value of a result) is the end of a folder's own path, so a
 * plain name is the shortest path. Folders outside the scope are exactly as unknown as nonsense.
 */
export async function chooseFolders(
  stores: Pick<Stores, 'folders'>,
  scope: ResolvedScope,
  names: readonly string[] | null,
): Promise<{ scope: Scope } | { unknown: string }> {
  if (names === null || names.length === 0) return { scope: { folders: scope.folders, documents: scope.documents } };
  const paths = await stores.folders.paths(scope.tree.map((folder) => folder.ref));
  const folded = scope.tree.map((folder) => ({ folder, path: `/${foldName(paths.get(folder.ref) ?? folder.name)}` }));
  const chosen = new Set<number>();
  for (const name of names) {
    const wanted = `/${foldName(name.trim()).replace(/^\/+|(?<!\/)\/+$/g, '')}`;
    const fitting = wanted === '/' ? [] : folded.filter(({ path }) => path.endsWith(wanted));
    if (fitting.length === 0) return { unknown: name };
    for (const { folder } of fitting) chosen.add(folder.ref);
  }
  return { scope: { folders: withAllInside(chosen, scope.tree), documents: [] } };
}

/** The names a caller can use: the folders it reads, and those inside them that are not among these. */
export function folderNames(scope: ResolvedScope): { names: string[]; inside: string[] } {
  const names = unique(scope.roots.map((folder) => folder.name));
  const inside = unique(scope.tree.map((folder) => folder.name)).filter((name) => !names.includes(name));
  return { names, inside: inside.sort((a, b) => a.localeCompare(b)) };
}

const unique = (names: readonly string[]): string[] => [...new Set(names)];

/** The chosen folders with everything below them, by one walk over the tree that the scope already holds. */
function withAllInside(chosen: ReadonlySet<number>, tree: readonly FolderRow[]): number[] {
  const children = new Map<number, number[]>();
  for (const folder of tree) {
    if (folder.parent === null) continue;
    const siblings = children.get(folder.parent);
    if (siblings) siblings.push(folder.ref);
    else children.set(folder.parent, [folder.ref]);
  }
  const found = new Set<number>();
  const waiting = [...chosen];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (found.has(next)) continue;
    found.add(next);
    waiting.push(...(children.get(next) ?? []));
  }
  return [...found];
}
