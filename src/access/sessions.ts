import type { UserActor } from './actor.ts';
import type { AccessDeps } from './deps.ts';
import type { RequestFacts } from './authentication.ts';

/** AppError bad_login with one sentence for every cause, at the same cost whether the e-mail is known or not. */
export async function signIn(
  deps: AccessDeps,
  input: { email: string; password: string },
  facts: RequestFacts,
): Promise<{ token: string; expiresAt: number; userId: string }> {
  throw new Error(`not landed yet ${[deps, input, facts].length}`);
}

/** Ends the login token that was sent; a personal key has nothing to end. */
export async function signOut(deps: AccessDeps, actor: UserActor, token: string): Promise<void> {
  throw new Error(`not landed yet ${[deps, actor, token].length}`);
}
