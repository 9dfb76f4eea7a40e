import { randomUUID } from 'node:crypto';
import type { Actor } from '../access/actor.ts';
import { actAsUser } from '../access/keys.ts';
import { AppError } from '../errors.ts';
import type { LibraryDeps } from '../library/deps.ts';

/** The user a command acts as: the one with that e-mail, or the only one there is. AppError invalid names what to give. */
export async function actingUser(deps: LibraryDeps, email: string | undefined): Promise<Actor> {
  if (email !== undefined) return actAsUser(deps, email, randomUUID());
  const users = await deps.storage.users.list();
  const [first] = users;
  if (first === undefined)
    throw new AppError('invalid', 'There is nobody here yet: make the first admin with `sergo setup`.');
  if (users.length > 1) {
    const some = users.slice(0, 5).map((user) => user.email);
    throw new AppError(
      'invalid',
      `Say whose documents and keys are meant with --as EMAIL, one of: ${some.join(', ')}${users.length > 5 ? ', …' : ''}.`,
    );
  }
  return actAsUser(deps, first.email, randomUUID());
}
