import { AppError, notFound } from '../errors.ts';
import type { Stores, UserRow } from '../storage/ports.ts';
import type { Actor } from './actor.ts';
import type { AccessDeps } from './deps.ts';
import { change, guarded, requireAdmin, requireUser } from './guard.ts';
import { checkPasswordRules, hashPassword, verifyPassword } from './passwords.ts';
import { cleanEmail, cleanPersonName, insertUserWithRoot } from './people-rules.ts';

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
  const { user } = requireUser(actor);
  const root = await deps.storage.folders.byRef(user.rootFolder);
  if (root === null) throw notFound();
  return { userId: user.id, name: user.name, email: user.email, role: user.role, rootFolderId: root.id };
}

/** Admins; AppError forbidden for others. */
export async function listPeople(deps: AccessDeps, actor: Actor): Promise<PersonView[]> {
  return guarded(deps, actor, { action: 'user read' }, async () => {
    requireAdmin(actor);
    return (await deps.storage.users.list()).map(viewOf);
  });
}

/** Admins. Makes the user and the root folder `<Name>'s documents` together. AppError forbidden, invalid, conflict (e-mail taken). */
export async function createPerson(
  deps: AccessDeps,
  actor: Actor,
  input: { name: string; email: string; password: string; role: 'admin' | 'member' },
): Promise<PersonView & { rootFolderId: string }> {
  return guarded(deps, actor, { action: 'user created' }, async () => {
    requireAdmin(actor);
    const name = cleanPersonName(input.name);
    const email = cleanEmail(input.email);
    checkPasswordRules(input.password);
    const passwordHash = await hashPassword(input.password, deps.random);
    return deps.storage.transaction(async (stores) => {
      await requireFreeEmail(stores, email, null);
      const createdAt = deps.clock.now();
      const made = await insertUserWithRoot(stores, deps.random, { name, email, passwordHash, role: input.role, createdAt });
      const object = { kind: 'user' as const, id: made.id };
      await deps.audit.append(stores, { actor, action: 'user created', object, detail: `${name}, ${email}, ${input.role}` });
      return { userId: made.id, name, email, role: input.role, disabled: false, createdAt, rootFolderId: made.rootFolderId };
    });
  });
}

/** Admins: name, e-mail and role. AppError conflict for the last admin's role. The root folder keeps its name. */
export async function editPerson(
  deps: AccessDeps,
  actor: Actor,
  userId: string,
  wanted: { name?: string; email?: string; role?: 'admin' | 'member' },
): Promise<PersonView> {
  return change(deps, actor, { action: 'user edited', object: { kind: 'user', id: userId } }, async (stores) => {
    requireAdmin(actor);
    const user = await requirePerson(stores, userId);
    const after = {
      name: wanted.name === undefined ? user.name : cleanPersonName(wanted.name),
      email: wanted.email === undefined ? user.email : cleanEmail(wanted.email),
      role: wanted.role ?? user.role,
    };
    if (after.email !== user.email) await requireFreeEmail(stores, after.email, user.ref);
    if (user.role === 'admin' && after.role !== 'admin') await requireAnotherAdmin(stores, user);
    await stores.users.update(user.ref, after);
    const detail = `${user.name}, ${user.email}, ${user.role} → ${after.name}, ${after.email}, ${after.role}`;
    await deps.audit.append(stores, { actor, action: 'user edited', object: { kind: 'user', id: user.id }, detail });
    return viewOf({ ...user, ...after });
  });
}

/** Admins. Ends all login tokens; keys of the user stop on their next call. AppError conflict for the last admin. */
export async function setPersonDisabled(deps: AccessDeps, actor: Actor, userId: string, disabled: boolean): Promise<PersonView> {
  const action = disabled ? 'user disabled' : 'user enabled';
  return change(deps, actor, { action, object: { kind: 'user', id: userId } }, async (stores) => {
    requireAdmin(actor);
    const user = await requirePerson(stores, userId);
    if (disabled && user.role === 'admin') await requireAnotherAdmin(stores, user);
    const disabledAt = disabled ? (user.disabledAt ?? deps.clock.now()) : null;
    await stores.users.update(user.ref, { disabledAt });
    if (disabled) await stores.sessions.removeOfUser(user.ref);
    await deps.audit.append(stores, { actor, action, object: { kind: 'user', id: user.id }, detail: user.name });
    return viewOf({ ...user, disabledAt });
  });
}

/** Admins set anybody's password; it ends that user's login tokens. */
export async function resetPassword(deps: AccessDeps, actor: Actor, userId: string, password: string): Promise<void> {
  await guarded(deps, actor, { action: 'password reset', object: { kind: 'user', id: userId } }, async () => {
    requireAdmin(actor);
    await setPassword(deps, actor, userId, password, 'password reset');
  });
}

/** A user's own, with the old one. Ends the user's login tokens, this one included: sign in again. AppError invalid, field `oldPassword`. */
export async function changeOwnPassword(deps: AccessDeps, actor: Actor, oldPassword: string, password: string): Promise<void> {
  const { user } = requireUser(actor);
  const row = await deps.storage.users.byRef(user.ref);
  if (row === null || !(await verifyPassword(oldPassword, row.passwordHash))) {
    await deps.audit.record({ actor, action: 'password changed', object: { kind: 'user', id: user.id }, outcome: 'denied' });
    throw new AppError('invalid', 'The old password is not right — an admin can set a new one', { field: 'oldPassword' });
  }
  await setPassword(deps, actor, user.id, password, 'password changed');
}

async function setPassword(
  deps: AccessDeps,
  actor: Actor,
  userId: string,
  password: string,
  action: 'password reset' | 'password changed',
): Promise<void> {
  checkPasswordRules(password);
  const passwordHash = await hashPassword(password, deps.random);
  await deps.storage.transaction(async (stores) => {
    const user = await requirePerson(stores, userId);
    await stores.users.update(user.ref, { passwordHash });
    await stores.sessions.removeOfUser(user.ref);
    await deps.audit.append(stores, { actor, action, object: { kind: 'user', id: user.id }, detail: user.name });
  });
}

async function requirePerson(stores: Stores, userId: string): Promise<UserRow> {
  const user = await stores.users.byId(userId);
  if (user === null) throw notFound();
  return user;
}

async function requireFreeEmail(stores: Stores, email: string, except: number | null): Promise<void> {
  const holder = await stores.users.byEmail(email);
  if (holder !== null && holder.ref !== except) throw new AppError('conflict', `Somebody has the e-mail ${email} already — use another one`, { field: 'email' });
}

/** An install without an admin could not be managed any more. */
async function requireAnotherAdmin(stores: Stores, user: UserRow): Promise<void> {
  const others = (await stores.users.list()).filter((one) => one.role === 'admin' && one.disabledAt === null && one.ref !== user.ref);
  if (others.length === 0) throw new AppError('conflict', `${user.name} is the last admin — make somebody else an admin first`);
}

const viewOf = (user: UserRow): PersonView => ({
  userId: user.id,
  name: user.name,
  email: user.email,
  role: user.role,
  disabled: user.disabledAt !== null,
  createdAt: user.createdAt,
});
