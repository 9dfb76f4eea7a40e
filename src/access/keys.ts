import type { KeyKind } from '../storage/ports.ts';
import type { Actor } from './actor.ts';
import type { AccessDeps } from './deps.ts';

export type Grace = 'now' | '1h' | '24h' | '7d';

export interface KeyView {
  id: string;
  kind: KeyKind;
  name: string;
  description: string;
  masked: string;
  createdAt: number;
  lastUsedAt: number | null;
  revokedAt: number | null;
  owner: { userId: string; name: string };
  /** What it names and its owner can read now; only for the owner (an admin sees that the key is there, not what it reads). */
  folders?: { id: string; name: string; path: string }[];
  documents?: { id: string; name: string }[];
}

export interface NewAgentKey {
  kind: 'agent';
  /** 2 to 32 of `a-z0-9-`, starting with a letter, unique among the owner's agent keys. */
  name: string;
  /** 1 to 1,000 characters. */
  description: string;
  folderIds: string[];
  documentIds: string[];
}

export interface NewPersonalKey {
  kind: 'personal';
  name: string;
  description?: string;
}

/** The whole key is in `key` this once. AppError invalid (with field), conflict (name taken), not_found (an id that is not readable). */
export async function createKey(deps: AccessDeps, actor: Actor, input: NewAgentKey | NewPersonalKey): Promise<KeyView & { key: string }> {
  throw new Error(`not landed yet ${[deps, actor, input].length}`);
}

/** One's own, newest first; `all` is for admins (AppError forbidden). Revoked ones are listed too, with `revokedAt`. */
export async function listKeys(deps: AccessDeps, actor: Actor, options?: { all?: boolean }): Promise<KeyView[]> {
  throw new Error(`not landed yet ${[deps, actor, options].length}`);
}

export async function getKey(deps: AccessDeps, actor: Actor, id: string): Promise<KeyView> {
  throw new Error(`not landed yet ${[deps, actor, id].length}`);
}

/** Owner only. `folderIds` and `documentIds`, when given, replace what the key reads. */
export async function editKey(
  deps: AccessDeps,
  actor: Actor,
  id: string,
  change: { name?: string; description?: string; folderIds?: string[]; documentIds?: string[] },
): Promise<KeyView> {
  throw new Error(`not landed yet ${[deps, actor, id, change].length}`);
}

/** Owner only. Each old value keeps its own end; `now` ends all of them. AppError conflict for a revoked key. */
export async function rollKey(
  deps: AccessDeps,
  actor: Actor,
  id: string,
  grace: Grace,
): Promise<{ key: string; masked: string; oldValidUntil: number }> {
  throw new Error(`not landed yet ${[deps, actor, id, grace].length}`);
}

/** Owner, or an admin for anybody's. Acts on the next request. Revoking twice is the same as once. */
export async function revokeKey(deps: AccessDeps, actor: Actor, id: string): Promise<void> {
  throw new Error(`not landed yet ${[deps, actor, id].length}`);
}

/** For the operator on the machine (`bin/sergo keys`): acts as that user. AppError not_found when there is no such e-mail. */
export async function actAsUser(deps: AccessDeps, email: string, requestId: string): Promise<Actor> {
  throw new Error(`not landed yet ${[deps, email, requestId].length}`);
}
