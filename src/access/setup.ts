import type { AccessDeps } from './deps.ts';
import type { RequestFacts } from './authentication.ts';

export interface FirstAdmin {
  name: string;
  email: string;
  password: string;
}

/** A new one-time set-up token (128 bits, valid one hour, replaces any earlier one), or null once there is an admin. Only its hash is stored (P20). */
export async function ensureSetupToken(deps: AccessDeps): Promise<string | null> {
  throw new Error(`not landed yet ${[deps].length}`);
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
  throw new Error(`not landed yet ${[deps, input, facts].length}`);
}

/** `bin/sergo setup`: whoever can run it on the machine needs no token. AppError conflict once there is an admin. */
export async function setUpLocally(deps: AccessDeps, input: FirstAdmin, facts: RequestFacts): Promise<{ userId: string; folderId: string }> {
  throw new Error(`not landed yet ${[deps, input, facts].length}`);
}
