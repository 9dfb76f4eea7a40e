import type { Scope } from '../search/types.ts';
import type { FolderRow, Stores } from '../storage/ports.ts';
import type { Actor } from './actor.ts';

/** A scope with the folders behind it, for doors that name them. */
export interface ResolvedScope extends Scope {
  /** The roots as named, live and readable now, by name: a key's folders, a user's root and shared folders. */
  roots: FolderRow[];
  /** Every live folder in the scope (the rows of `folders`). */
  tree: FolderRow[];
}

/**
 * What this actor may read now, resolved from storage on each call in a handful of queries however many folders there are.
 * A user: own tree and grants (edit implies read). An agent key: what it names and its owner can read now. Others: nothing.
 */
export async function scopeOf(stores: Stores, actor: Actor): Promise<ResolvedScope> {
  throw new Error(`not landed yet ${[stores, actor].length}`);
}

/** The scope of an agent key as its owner would see it (search "as a key one owns"). AppError not_found for anybody else's key. */
export async function scopeOfOwnKey(stores: Stores, actor: Actor, keyId: string): Promise<ResolvedScope> {
  throw new Error(`not landed yet ${[stores, actor, keyId].length}`);
}
