import type { AuditAction } from '../audit/actions.ts';
import type { AuditEntry } from '../audit/types.ts';
import { AppError } from '../errors.ts';
import type { Stores } from '../storage/ports.ts';
import type { Actor, UserActor } from './actor.ts';
import type { AccessDeps } from './deps.ts';

/** What is being tried: written to the audit log when it is denied. */
export interface Attempt {
  action: AuditAction;
  object?: AuditEntry['object'];
  detail?: string;
}

/** Runs `work`; when it is refused (not found, not yours, not allowed) that is in the audit log before the caller hears of it. */
export async function guarded<T>(deps: Pick<AccessDeps, 'audit'>, actor: Actor, attempt: Attempt, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof AppError && (error.code === 'not_found' || error.code === 'forbidden')) {
      await deps.audit.record({ actor, ...attempt, outcome: 'denied' });
    }
    throw error;
  }
}

/** A change: rights are checked, rows written and the audit row appended in one transaction; a denial is recorded as well. */
export async function change<T>(
  deps: Pick<AccessDeps, 'audit' | 'storage'>,
  actor: Actor,
  attempt: Attempt,
  work: (stores: Stores) => Promise<T>,
): Promise<T> {
  return guarded(deps, actor, attempt, () => deps.storage.transaction(work));
}

/** AppError forbidden: that there is a people page is no secret. */
export function requireAdmin(actor: Actor): UserActor {
  if (actor.kind === 'user' && actor.user.role === 'admin') return actor;
  throw new AppError('forbidden', 'Only an admin may do this — ask one of yours');
}

/** Things only a person does: agent keys never write. */
export function requireUser(actor: Actor): UserActor {
  if (actor.kind === 'user') return actor;
  throw new AppError('forbidden', 'Only a signed-in person or a personal key may do this');
}
