import { notFound } from '../errors.ts';
import type { Scope } from '../search/types.ts';
import type { FolderRow, Stores } from '../storage/ports.ts';
import type { Actor, ActorUser } from './actor.ts';

/** A scope with the folders behind it, for doors that name them. */
export interface ResolvedScope extends Scope {
  /** The roots as named, live and readable now, by name: a key's folders, a user's root and shared folders. */
  roots: FolderRow[];
  /** Every live folder in the scope (the rows of `folders`). */
  tree: FolderRow[];
}

const nothing: ResolvedScope = { folders: [], documents: [], roots: [], tree: [] };

/**
 * What this actor may read now, resolved from storage on each call in a handful of queries however many folders there are.
 * A user: own tree and grants (edit implies read). An agent key: what it names and its owner can read now. Others: nothing.
 */
export async function scopeOf(stores: Stores, actor: Actor): Promise<ResolvedScope> {
  if (actor.kind === 'user') return scopeOfUser(stores, actor.user);
  if (actor.kind === 'agent_key') return scopeOfKey(stores, actor.owner, actor.key.ref);
  return nothing;
}

/** The scope of an agent key as its owner would see it (search "as a key one owns"). AppError not_found for anybody else's key. */
export async function scopeOfOwnKey(stores: Stores, actor: Actor, keyId: string): Promise<ResolvedScope> {
  const key = actor.kind === 'user' ? await stores.keys.byId(keyId) : null;
  if (actor.kind !== 'user' || key === null || key.owner !== actor.user.ref || key.kind !== 'agent' || key.revokedAt !== null) throw notFound();
  return scopeOfKey(stores, actor.user, key.ref);
}

async function scopeOfUser(stores: Stores, user: ActorUser): Promise<ResolvedScope> {
  const grants = await stores.grants.ofUser(user.ref);
  const shared = grants.flatMap((grant) => grant.folder ?? []);
  const single = await placesOf(stores, grants.flatMap((grant) => grant.document ?? []));
  const named = [user.rootFolder, ...shared];
  const trees = treesOver(await stores.folders.subtree(each([...named, ...single.map((document) => document.folder)])));
  const tree = trees.below(named);
  const documents = single.filter((document) => trees.has(document.folder)).map((document) => document.ref);
  return scopeFrom(tree, new Set(named), documents);
}

/** The folders and documents a key names ∩ what its owner can read, as trees: a grant inside a named folder counts, and the reverse. */
export async function scopeOfKey(stores: Stores, owner: ActorUser, keyRef: number): Promise<ResolvedScope> {
  const named = await stores.keys.scope(keyRef);
  const single = await placesOf(stores, named.documents);
  let trees = treesOver(await stores.folders.subtree(each([...named.folders, ...single.map((document) => document.folder)])));
  let granted: ReadonlySet<number> = new Set();
  let grantedDocuments: Place[] = [];
  // Own folders need no grant: the usual key is done here.
  if (trees.all.some((folder) => folder.owner !== owner.ref)) {
    const grants = await stores.grants.ofUser(owner.ref);
    const shared = grants.flatMap((grant) => grant.folder ?? []);
    grantedDocuments = await placesOf(stores, grants.flatMap((grant) => grant.document ?? []));
    const starts = [...named.folders, ...single.map((document) => document.folder), ...shared];
    trees = treesOver(await stores.folders.subtree(each(starts)));
    granted = new Set(trees.below(shared).map((folder) => folder.ref));
  }
  const readable = (folder: FolderRow): boolean => folder.owner === owner.ref || granted.has(folder.ref);

  const below = trees.below(named.folders);
  const belowRefs = new Set(below.map((folder) => folder.ref));
  const tree = below.filter(readable);
  const grantedRefs = new Set(grantedDocuments.map((document) => document.ref));
  const documents = [
    ...single.filter((document) => {
      const folder = trees.get(document.folder);
      return folder !== undefined && (readable(folder) || grantedRefs.has(document.ref));
    }),
    ...grantedDocuments.filter((document) => belowRefs.has(document.folder)),
  ];
  return scopeFrom(tree, new Set(named.folders), [...new Set(documents.map((document) => document.ref))]);
}

function scopeFrom(tree: FolderRow[], named: ReadonlySet<number>, documents: number[]): ResolvedScope {
  const refs = new Set(tree.map((folder) => folder.ref));
  // Named ones, and where a named one is not readable itself, the topmost that are.
  const roots = tree.filter((folder) => named.has(folder.ref) || folder.parent === null || !refs.has(folder.parent));
  roots.sort((a, b) => compare(a.nameKey, b.nameKey) || a.ref - b.ref);
  return { folders: [...refs], documents, roots, tree };
}

type Place = Awaited<ReturnType<Stores['documents']['placesOf']>>[number];

/** Where these documents are, without those in the trash. */
const placesOf = async (stores: Stores, refs: readonly number[]): Promise<Place[]> => (refs.length === 0 ? [] : stores.documents.placesOf(refs));

const each = (refs: readonly number[]): number[] => [...new Set(refs)];

/** Live folders as storage answered them, and walks over them. */
function treesOver(all: FolderRow[]) {
  const byRef = new Map(all.map((folder) => [folder.ref, folder]));
  const children = new Map<number, FolderRow[]>();
  for (const folder of all) {
    if (folder.parent === null) continue;
    const siblings = children.get(folder.parent);
    if (siblings === undefined) children.set(folder.parent, [folder]);
    else siblings.push(folder);
  }
  return {
    all,
    has: (ref: number): boolean => byRef.has(ref),
    get: (ref: number): FolderRow | undefined => byRef.get(ref),
    /** These folders and everything live below them, each once. */
    below(starts: readonly number[]): FolderRow[] {
      const found = new Map<number, FolderRow>();
      const next = starts.flatMap((ref) => byRef.get(ref) ?? []);
      for (let folder = next.pop(); folder !== undefined; folder = next.pop()) {
        if (found.has(folder.ref)) continue;
        found.set(folder.ref, folder);
        next.push(...(children.get(folder.ref) ?? []));
      }
      return [...found.values()];
    },
  };
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
