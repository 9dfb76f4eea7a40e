import type { Actor } from './actor.ts';
import type { AccessDeps } from './deps.ts';

export interface PersonView {
  userId: string;
  name: string;
  email: string;
  role: 'admin' | 'member';
  disabled: boolean;
  createdAt: number;
}

export interface Me {
  userId: string;
  name: string;
  email: string;
  role: 'admin' | 'member';
  rootFolderId: string;
}

export async function getMe(deps: AccessDeps, actor: Actor): Promise<Me> {
  throw new Error(`not landed yet ${[deps, actor].length}`);
}

/** Admins; AppError forbidden for others. */
export async function listPeople(deps: AccessDeps, actor: Actor): Promise<PersonView[]> {
  throw new Error(`not landed yet ${[deps, actor].length}`);
}

/** Admins. Makes the user and the root folder `<Name>'s documents` together. AppError forbidden, invalid, conflict (e-mail taken). */
export async function createPerson(
  deps: AccessDeps,
  actor: Actor,
  input: { name: string; email: string; password: string; role: 'admin' | 'member' },
): Promise<PersonView & { rootFolderId: string }> {
  throw new Error(`not landed yet ${[deps, actor, input].length}`);
}

/** Admins: name, e-mail and role. AppError conflict for the last admin's role. */
export async function editPerson(
  deps: AccessDeps,
  actor: Actor,
  userId: string,
  change: { name?: string; email?: string; role?: 'admin' | 'member' },
): Promise<PersonView> {
  throw new Error(`not landed yet ${[deps, actor, userId, change].length}`);
}

/** Admins. Ends all login tokens; keys of the user stop on their next call. AppError conflict for the last admin. */
export async function setPersonDisabled(deps: AccessDeps, actor: Actor, userId: string, disabled: boolean): Promise<PersonView> {
  throw new Error(`not landed yet ${[deps, actor, userId, disabled].length}`);
}

/** Admins set anybody's password (ends that user's login tokens); a user changes the own one with the old. */
export async function resetPassword(deps: AccessDeps, actor: Actor, userId: string, password: string): Promise<void> {
  throw new Error(`not landed yet ${[deps, actor, userId, password].length}`);
}
export async function changeOwnPassword(deps: AccessDeps, actor: Actor, oldPassword: string, password: string): Promise<void> {
  throw new Error(`not landed yet ${[deps, actor, oldPassword, password].length}`);
}
