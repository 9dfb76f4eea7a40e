import { timingSafeEqual } from 'node:crypto';
import { AppError, notFound } from '../errors.ts';
import type { Stores } from '../storage/ports.ts';
import type { UserActor } from './actor.ts';
import type { RequestFacts } from './authentication.ts';
import type { AccessDeps } from './deps.ts';
import { hashSecret } from './key-text.ts';
import { checkPasswordRules, hashPassword } from './passwords.ts';
import { cleanEmail, cleanPersonName, insertUserWithRoot } from './people-rules.ts';
import { randomBase62 } from './random-text.ts';
import { startLogin } from './sessions.ts';

export interface FirstAdmin {
  name: string;
  email: string;
  password: string;
}

const setting = 'setup.token';
const validMs = 3_600_000;
/** 22 base62 digits are 131 bits. */
const tokenLength = 22;

/** A new one-time set-up token (128 bits, valid one hour, replaces any earlier one), or null once there is an admin. Only its hash is stored (P20). */
export async function ensureSetupToken(deps: AccessDeps): Promise<string | null> {
  return deps.storage.transaction(async (stores) => {
    if ((await stores.users.countAdmins()) > 0) {
      await stores.settings.remove(setting);
      return null;
    }
    const token = randomBase62(tokenLength, deps.random);
    await stores.settings.set(setting, { hash: hashSecret(token), validUntil: deps.clock.now() + validMs });
    return token;
  });
}

/** True until there is an admin. */
export async function needsSetup(deps: Pick<AccessDeps, 'storage'>): Promise<boolean> {
  return (await deps.storage.users.countAdmins()) === 0;
}

/** `POST /api/v1/setup`. AppError not_found once there is an admin, forbidden for a wrong or stale token, invalid with `field`. */
export async function setUpWithToken(
  deps: AccessDeps,
  input: FirstAdmin & { token: string },
  facts: RequestFacts,
): Promise<{ token: string; expiresAt: number; userId: string; folderId: string }> {
  // Looked at before the password is hashed, so that a stranger cannot make the server work; and again inside the transaction.
  await requireToken(deps, deps.storage, input.token, facts);
  const prepared = await prepare(deps, input);
  return deps.storage.transaction(async (stores) => {
    await requireToken(deps, stores, input.token, facts);
    const made = await insertFirstAdmin(deps, stores, prepared, facts);
    const login = await startLogin(deps, stores, made.ref);
    return { ...login, userId: made.userId, folderId: made.folderId };
  });
}

/** `bin/sergo setup`: whoever can run it on the machine needs no token. AppError conflict once there is an admin. */
export async function setUpLocally(deps: AccessDeps, input: FirstAdmin, facts: RequestFacts): Promise<{ userId: string; folderId: string }> {
  const taken = new AppError('conflict', 'There is an admin already — sign in as one to add people');
  if (!(await needsSetup(deps))) throw taken;
  const prepared = await prepare(deps, input);
  return deps.storage.transaction(async (stores) => {
    if ((await stores.users.countAdmins()) > 0) throw taken;
    const { userId, folderId } = await insertFirstAdmin(deps, stores, prepared, facts);
    return { userId, folderId };
  });
}

async function requireToken(deps: AccessDeps, stores: Stores, token: string, facts: RequestFacts): Promise<void> {
  if ((await stores.users.countAdmins()) > 0) throw notFound();
  const kept = (await stores.settings.get(setting)) as { hash: string; validUntil: number } | null | undefined;
  const sent = Buffer.from(hashSecret(token), 'hex');
  const right = kept != null && timingSafeEqual(sent, Buffer.from(kept.hash, 'hex')) && deps.clock.now() < kept.validUntil;
  if (right) return;
  if (stores === deps.storage) {
    await deps.audit.record({ actor: { kind: 'anonymous', requestId: facts.requestId }, action: 'set-up', outcome: 'denied' });
  }
  throw new AppError('forbidden', 'This set-up token is not valid — Sergo prints a new one each time it starts, good for an hour', { field: 'token' });
}

async function prepare(deps: AccessDeps, input: FirstAdmin) {
  const name = cleanPersonName(input.name);
  const email = cleanEmail(input.email);
  checkPasswordRules(input.password);
  return { name, email, passwordHash: await hashPassword(input.password, deps.random) };
}

async function insertFirstAdmin(
  deps: AccessDeps,
  stores: Stores,
  prepared: { name: string; email: string; passwordHash: string },
  facts: RequestFacts,
): Promise<{ ref: number; userId: string; folderId: string }> {
  const made = await insertUserWithRoot(stores, deps.random, { ...prepared, role: 'admin', createdAt: deps.clock.now() });
  await stores.settings.remove(setting);
  const actor: UserActor = {
    kind: 'user',
    user: { ref: made.ref, id: made.id, name: prepared.name, email: prepared.email, role: 'admin', rootFolder: made.rootFolder },
    via: 'local',
    fromCookie: false,
    requestId: facts.requestId,
  };
  await deps.audit.append(stores, { actor, action: 'set-up', object: { kind: 'user', id: made.id }, detail: `${prepared.name} is the first admin` });
  return { ref: made.ref, userId: made.id, folderId: made.rootFolderId };
}
