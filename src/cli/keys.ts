import { randomUUID } from 'node:crypto';
import type { Actor } from '../access/actor.ts';
import { actAsUser, createKey, listKeys, revokeKey, rollKey, type Grace, type KeyView } from '../access/keys.ts';
import { AppError } from '../errors.ts';
import type { LibraryDeps } from '../library/deps.ts';
import { actingUser } from './acting-user.ts';
import { findFolder } from './folder-path.ts';
import { formatTable } from './terminal.ts';

export interface CreateKeyOptions {
  kind: 'agent' | 'personal';
  name: string;
  description: string;
  /** Paths below the owner's root. */
  folders: string[];
  documentIds: string[];
  as?: string;
}

export async function createKeyFor(deps: LibraryDeps, options: CreateKeyOptions): Promise<KeyView & { key: string }> {
  const actor = await actingUser(deps, options.as);
  const { kind, name, description } = options;
  if (kind === 'personal')
    return createKey(deps, actor, { kind, name, ...(description === '' ? {} : { description }) });
  const folders = [];
  for (const path of options.folders) folders.push(await findFolder(deps, actor, path));
  return createKey(deps, actor, {
    kind,
    name,
    description,
    folderIds: folders.map((folder) => folder.id),
    documentIds: options.documentIds,
  });
}

/** How to connect with a new agent key, ready to copy (seeds/000 "Connect an app"). */
export function connectHint(key: KeyView & { key: string }, address: string): string {
  if (key.kind !== 'agent') return `Use it as  Authorization: Bearer ${key.key}  on ${address}/api/v1.`;
  return [
    'In Claude Code:',
    `  claude mcp add --transport http ${key.name} ${address}/mcp --header "Authorization: Bearer ${key.key}"`,
    'In apps that read an mcpServers file:',
    `  ${JSON.stringify({ mcpServers: { [key.name]: { type: 'http', url: `${address}/mcp`, headers: { Authorization: `Bearer ${key.key}` } } } })}`,
  ].join('\n');
}

/** With `as`, that user's keys; otherwise everybody's, for the operator of the machine. */
export async function listKeysFor(deps: LibraryDeps, as: string | undefined): Promise<KeyView[]> {
  if (as !== undefined) return listKeys(deps, await actingUser(deps, as));
  const admin = (await deps.storage.users.list()).find((user) => user.role === 'admin' && user.disabledAt === null);
  if (admin === undefined) return [];
  return listKeys(deps, await actAsUser(deps, admin.email, randomUUID()), { all: true });
}

export function formatKeys(keys: readonly KeyView[]): string {
  if (keys.length === 0) return 'No keys. Make one with `sergo keys create`.';
  const day = (time: number | null): string => (time === null ? '-' : new Date(time).toISOString().slice(0, 10));
  const rows = keys.map((key) => [
    key.id,
    key.kind,
    key.name,
    key.masked,
    key.owner.name,
    key.revokedAt === null ? 'valid' : 'revoked',
    day(key.createdAt),
    day(key.lastUsedAt),
  ]);
  return formatTable([['ID', 'KIND', 'NAME', 'KEY', 'OWNER', 'STATE', 'MADE', 'LAST USED'], ...rows]);
}

export async function rollKeyOf(
  deps: LibraryDeps,
  idOrName: string,
  grace: Grace,
): Promise<{ key: string; masked: string; oldValidUntil: number }> {
  const { id, owner } = await findKey(deps, idOrName);
  return rollKey(deps, owner, id, grace);
}

/** Answers the id of what was revoked. */
export async function revokeKeyOf(deps: LibraryDeps, idOrName: string): Promise<string> {
  const { id, owner } = await findKey(deps, idOrName);
  await revokeKey(deps, owner, id);
  return id;
}

/** By id, or by name where only one live key has it. The operator acts as the key's owner. */
export async function findKey(deps: LibraryDeps, idOrName: string): Promise<{ id: string; owner: Actor }> {
  const { keys, users } = deps.storage;
  const byId = await keys.byId(idOrName);
  const named =
    byId === null ? (await keys.list()).filter((key) => key.name === idOrName && key.revokedAt === null) : [byId];
  const [key] = named;
  if (key === undefined)
    throw new AppError(
      'not_found',
      `There is no key with the id or name '${idOrName}'; \`sergo keys list\` shows them.`,
    );
  if (named.length > 1) {
    throw new AppError(
      'conflict',
      `${named.length} keys are named '${idOrName}'; give the id of one: ${named.map((one) => one.id).join(', ')}.`,
    );
  }
  const user = await users.byRef(key.owner);
  if (user === null) throw new AppError('internal', `The owner of key ${key.id} is gone.`);
  return { id: key.id, owner: await actAsUser(deps, user.email, randomUUID()) };
}
