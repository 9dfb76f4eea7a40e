import { AppError } from '../errors.ts';
import type { Stores } from '../storage/ports.ts';
import type { UserActor } from './actor.ts';
import { actorUserOf, type RequestFacts } from './authentication.ts';
import type { AccessDeps } from './deps.ts';
import { hashSecret } from './key-text.ts';
import { loginIdleMs, makeLoginToken } from './login-token.ts';
import { verifyPassword } from './passwords.ts';
import { foldEmail } from './people-rules.ts';

/** AppError bad_login with one sentence for every cause, at the same cost whether the e-mail is known or not. */
export async function signIn(
  deps: AccessDeps,
  input: { email: string; password: string },
  facts: RequestFacts,
): Promise<{ token: string; expiresAt: number; userId: string }> {
  const user = await deps.storage.users.byEmail(foldEmail(input.email));
  const right = await verifyPassword(input.password, user?.passwordHash ?? null);
  if (user === null || !right || user.disabledAt !== null) {
    await deps.audit.record({
      actor: { kind: 'anonymous', requestId: facts.requestId },
      action: 'sign-in',
      // People type passwords into the wrong field: only what looks like an e-mail goes into the log.
      detail: /^[^\s@]+@[^\s@]+$/.test(input.email.trim()) ? foldEmail(input.email) : 'not an e-mail address',
      outcome: 'denied',
    });
    throw new AppError('bad_login', 'E-mail and password do not match — check both, or ask an admin for a new password');
  }
  const actor: UserActor = { kind: 'user', user: actorUserOf(user), via: 'session', fromCookie: false, requestId: facts.requestId };
  return deps.storage.transaction(async (stores) => {
    await stores.sessions.removeExpired(deps.clock.now());
    const login = await startLogin(deps, stores, user.ref);
    await deps.audit.append(stores, { actor, action: 'sign-in', object: { kind: 'user', id: user.id } });
    return { ...login, userId: user.id };
  });
}

/** Ends the login token that was sent; a personal key has nothing to end. */
export async function signOut(deps: AccessDeps, actor: UserActor, token: string): Promise<void> {
  await deps.storage.transaction(async (stores) => {
    const session = await stores.sessions.byHash(hashSecret(token));
    if (session === null || session.user !== actor.user.ref) return;
    await stores.sessions.remove(session.tokenHash);
    await deps.audit.append(stores, { actor, action: 'sign-out', object: { kind: 'user', id: actor.user.id } });
  });
}

/** A new login token for the user, inside the caller's transaction. */
export async function startLogin(
  deps: Pick<AccessDeps, 'clock' | 'random'>,
  stores: Stores,
  user: number,
): Promise<{ token: string; expiresAt: number }> {
  const token = makeLoginToken(deps.random);
  const now = deps.clock.now();
  const expiresAt = now + loginIdleMs;
  await stores.sessions.insert({ tokenHash: hashSecret(token), user, createdAt: now, expiresAt });
  return { token, expiresAt };
}
