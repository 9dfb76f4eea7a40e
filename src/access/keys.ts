import { AppError, notFound } from '../errors.ts';
import type { KeyKind, KeyRow, Stores, UserRow } from '../storage/ports.ts';
import type { Actor, UserActor } from './actor.ts';
import { actorUserOf } from './authentication.ts';
import type { AccessDeps } from './deps.ts';
import { change, guarded, requireAdmin, requireUser } from './guard.ts';
import { checkKeyDescription, checkKeyName, requireFreeName, resolveKeyScope } from './key-rules.ts';
import { hashSecret, makeKeyText, maskKey } from './key-text.ts';
import { foldEmail } from './people-rules.ts';
import { newId } from './random-text.ts';
import { scopeOfKey } from './scope.ts';

export type Grace = 'now' | '1h' | '24h' | '7d';

const hourMs = 3_600_000;
const graceMs: Record<Grace, number> = { now: 0, '1h': hourMs, '24h': 24 * hourMs, '7d': 7 * 24 * hourMs };

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
  return change(deps, actor, { action: 'key created', detail: input.name }, async (stores) => {
    const owner = requireUser(actor);
    const name = checkKeyName(input.kind, input.name);
    const description = checkKeyDescription(input.kind, input.description ?? '');
    const scope = input.kind === 'agent' ? await resolveKeyScope(stores, owner, input.folderIds, input.documentIds) : null;
    await requireFreeName(stores, owner.user.ref, input.kind, name, null);

    const text = makeKeyText(input.kind, deps.random);
    const masked = maskKey(text);
    const id = newId(deps.random);
    const row = { id, kind: input.kind, owner: owner.user.ref, name, description, createdAt: deps.clock.now(), masked };
    const ref = await stores.keys.insert(row, hashSecret(text));
    if (scope !== null) await stores.keys.setScope(ref, scope.folders, scope.documents);
    await deps.audit.append(stores, { actor, action: 'key created', object: { kind: 'key', id }, detail: `${name} ${masked}${reads(scope)}` });
    return { ...(await ownView(stores, owner, { ...row, ref, revokedAt: null, lastUsedAt: null })), key: text };
  });
}

/** One's own, newest first; `all` is for admins (AppError forbidden). Revoked ones are listed too, with `revokedAt`. */
export async function listKeys(deps: AccessDeps, actor: Actor, options: { all?: boolean } = {}): Promise<KeyView[]> {
  return guarded(deps, actor, { action: 'key read' }, async () => {
    const stores = deps.storage;
    if (options.all !== true) {
      const owner = requireUser(actor);
      const views: KeyView[] = [];
      for (const key of await stores.keys.ofOwner(owner.user.ref)) views.push(await ownView(stores, owner, key));
      return views;
    }
    const admin = requireAdmin(actor);
    const people = new Map((await stores.users.list()).map((user) => [user.ref, user]));
    const views: KeyView[] = [];
    for (const key of await stores.keys.list()) {
      views.push(key.owner === admin.user.ref ? await ownView(stores, admin, key) : foreignView(key, people.get(key.owner)));
    }
    return views;
  });
}

export async function getKey(deps: AccessDeps, actor: Actor, id: string): Promise<KeyView> {
  return guarded(deps, actor, { action: 'key read', object: { kind: 'key', id } }, async () => {
    const user = requireUser(actor);
    const key = await deps.storage.keys.byId(id);
    if (key !== null && key.owner === user.user.ref) return ownView(deps.storage, user, key);
    if (key !== null && user.user.role === 'admin') return foreignView(key, await deps.storage.users.byRef(key.owner));
    throw notFound();
  });
}

/** Owner only. `folderIds` and `documentIds`, when given, replace what the key reads. */
export async function editKey(
  deps: AccessDeps,
  actor: Actor,
  id: string,
  wanted: { name?: string; description?: string; folderIds?: string[]; documentIds?: string[] },
): Promise<KeyView> {
  return change(deps, actor, { action: 'key edited', object: { kind: 'key', id } }, async (stores) => {
    const { key, owner } = await requireOwnKey(stores, actor, id);
    const name = wanted.name === undefined ? key.name : checkKeyName(key.kind, wanted.name);
    const description = wanted.description === undefined ? key.description : checkKeyDescription(key.kind, wanted.description);
    await requireFreeName(stores, key.owner, key.kind, name, key.ref);
    await stores.keys.update(key.ref, { name, description });
    let scope: { folders: number[]; documents: number[] } | null = null;
    if (key.kind === 'agent' && (wanted.folderIds !== undefined || wanted.documentIds !== undefined)) {
      scope = await changedScope(stores, owner, key.ref, wanted);
      await stores.keys.setScope(key.ref, scope.folders, scope.documents);
    }
    const renamed = name === key.name ? name : `${key.name} → ${name}`;
    await deps.audit.append(stores, { actor, action: 'key edited', object: { kind: 'key', id }, detail: `${renamed}${reads(scope)}` });
    return ownView(stores, owner, { ...key, name, description });
  });
}

/** Owner only. Each old value keeps its own end; `now` ends all of them. AppError conflict for a revoked key. */
export async function rollKey(
  deps: AccessDeps,
  actor: Actor,
  id: string,
  grace: Grace,
): Promise<{ key: string; masked: string; oldValidUntil: number }> {
  return change(deps, actor, { action: 'key rolled', object: { kind: 'key', id } }, async (stores) => {
    const { key } = await requireOwnKey(stores, actor, id);
    const now = deps.clock.now();
    const oldValidUntil = now + graceMs[grace];
    const text = makeKeyText(key.kind, deps.random);
    const masked = maskKey(text);
    await stores.keys.roll(key.ref, { hash: hashSecret(text), masked, createdAt: now }, oldValidUntil);
    const detail = `${key.name} ${key.masked} → ${masked}, old value until ${grace === 'now' ? 'now' : new Date(oldValidUntil).toISOString()}`;
    await deps.audit.append(stores, { actor, action: 'key rolled', object: { kind: 'key', id }, detail });
    return { key: text, masked, oldValidUntil };
  });
}

/** Owner, or an admin for anybody's. Acts on the next request. Revoking twice is the same as once. */
export async function revokeKey(deps: AccessDeps, actor: Actor, id: string): Promise<void> {
  await change(deps, actor, { action: 'key revoked', object: { kind: 'key', id } }, async (stores) => {
    const user = requireUser(actor);
    const key = await stores.keys.byId(id);
    if (key === null || (key.owner !== user.user.ref && user.user.role !== 'admin')) throw notFound();
    if (key.revokedAt === null) await stores.keys.update(key.ref, { revokedAt: deps.clock.now() });
    await deps.audit.append(stores, { actor, action: 'key revoked', object: { kind: 'key', id }, detail: `${key.name} ${key.masked}` });
  });
}

/** For the operator on the machine (`bin/sergo keys`): acts as that user. AppError not_found when there is no such e-mail. */
export async function actAsUser(deps: AccessDeps, email: string, requestId: string): Promise<UserActor> {
  const user = await deps.storage.users.byEmail(foldEmail(email));
  if (user === null || user.disabledAt !== null) {
    throw new AppError('not_found', `Nobody here has the e-mail ${foldEmail(email)} — check it, or make the person first`);
  }
  return { kind: 'user', user: actorUserOf(user), via: 'local', fromCookie: false, requestId };
}

async function requireOwnKey(stores: Stores, actor: Actor, id: string): Promise<{ key: KeyRow; owner: UserActor }> {
  const owner = requireUser(actor);
  const key = await stores.keys.byId(id);
  if (key === null || key.owner !== owner.user.ref) {
    if (key !== null && owner.user.role === 'admin') throw new AppError('forbidden', 'Only its owner edits or rolls a key — an admin can revoke it');
    throw notFound();
  }
  if (key.revokedAt !== null) throw new AppError('conflict', 'This key was revoked and stays so — make a new one');
  return { key, owner };
}

/** One of the two lists may be left out: then that half stays as it is. */
async function changedScope(
  stores: Stores,
  owner: UserActor,
  keyRef: number,
  wanted: { folderIds?: string[]; documentIds?: string[] },
): Promise<{ folders: number[]; documents: number[] }> {
  const before = await stores.keys.scope(keyRef);
  const folderIds = wanted.folderIds ?? (await stores.folders.byRefs(before.folders)).map((folder) => folder.id);
  const documentIds = wanted.documentIds ?? (await stores.documents.byRefs(before.documents)).map((document) => document.id);
  return resolveKeyScope(stores, owner, folderIds, documentIds);
}

async function ownView(stores: Stores, owner: UserActor, key: KeyRow): Promise<KeyView> {
  const view = foreignView(key, owner.user);
  if (key.kind !== 'agent') return view;
  const named = await stores.keys.scope(key.ref);
  const scope = await scopeOfKey(stores, owner.user, key.ref);
  const paths = await stores.folders.paths(scope.roots.map((folder) => folder.ref));
  const single = new Set(named.documents);
  const documents = await stores.documents.byRefs(scope.documents.filter((ref) => single.has(ref)));
  return {
    ...view,
    folders: scope.roots.map((folder) => ({ id: folder.id, name: folder.name, path: paths.get(folder.ref) ?? folder.name })),
    documents: documents.map((document) => ({ id: document.id, name: document.name })),
  };
}

const foreignView = (key: KeyRow, owner: Pick<UserRow, 'id' | 'name'> | null | undefined): KeyView => ({
  id: key.id,
  kind: key.kind,
  name: key.name,
  description: key.description,
  masked: key.masked,
  createdAt: key.createdAt,
  lastUsedAt: key.lastUsedAt,
  revokedAt: key.revokedAt,
  owner: { userId: owner?.id ?? '', name: owner?.name ?? '' },
});

const reads = (scope: { folders: number[]; documents: number[] } | null): string =>
  scope === null ? '' : `, reads ${scope.folders.length} folders and ${scope.documents.length} single documents`;
