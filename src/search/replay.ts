/**
 * A search of the audit log asked again: what its key (or the person) gets now, and why. The log holds what was asked, never what
 * was answered, so that a replay shows nothing which its asker may not read today.
 */
import type { Actor } from '../access/actor.ts';
import type { AccessDeps } from '../access/deps.ts';
import { guarded, requireUser } from '../access/guard.ts';
import { scopeOf, scopeOfKey, type ResolvedScope } from '../access/scope.ts';
import { AppError, notFound } from '../errors.ts';
import type { AskedSearch, AuditRow, KeyRow, Stores } from '../storage/ports.ts';
import type { ExplainedSearch } from './explain-documents.ts';

/** The search of a door, as it answers there. */
export interface SearchPorts<Result> {
  search(
    scope: ResolvedScope,
    request: { query: string; limit: number; offset: number; folders: string[] | null },
    signal: AbortSignal,
  ): Promise<{ results: Result[]; count: number; nextOffset: number | null }>;
  explain(
    scope: ResolvedScope,
    request: { query: string; limit: number; folders: string[] | null },
    signal: AbortSignal,
  ): Promise<ExplainedSearch>;
}

export interface ReplayedSearch<Result> {
  /** What the log has of it. */
  entry: { seq: number; at: number; masked: string | null; endUser: string | null } & AskedSearch;
  /** Null: the person searched as themselves. */
  key: { id: string; name: string; masked: string } | null;
  /** Excerpts in the answer now. */
  found: number;
  nextOffset: number | null;
  results: Result[];
  explained: ExplainedSearch;
  /** What is different from then besides the library; one sentence. */
  notice: string | null;
}

/**
 * For whoever owns the key that asked, or asked in person: nobody else may see what they read. AppError not_found for entries that
 * the actor does not see in the log; forbidden for admins, who see the entry and nothing of what it found; invalid for entries that
 * are no search; conflict for a key that was revoked. A folder that is gone is the door's own AppError invalid.
 */
export async function replaySearch<Result>(
  deps: AccessDeps,
  ports: SearchPorts<Result>,
  actor: Actor,
  seq: number,
  signal: AbortSignal,
): Promise<ReplayedSearch<Result>> {
  const stores = deps.storage;
  return guarded(deps, actor, { action: 'search replayed', detail: Number.isSafeInteger(seq) ? `entry ${seq}` : 'no entry' }, async () => {
    const { user } = requireUser(actor);
    const row = Number.isSafeInteger(seq) && seq > 0 ? await stores.audit.bySeq(seq) : null;
    const asker = await askerOf(stores, row);
    if (row === null || (asker?.owner !== user.ref && user.role !== 'admin')) throw notFound();
    if (asker?.owner !== user.ref) {
      throw new AppError('forbidden', 'Only the owner of the key that asked can replay a search — the answer shows what the key reads');
    }
    const asked = await stores.audit.asked(seq);
    if (asked === null) {
      throw new AppError('invalid', 'This entry is no search that can be asked again — choose one of `mcp search` or `search` that got an answer');
    }
    const key = asker.key ?? (asked.asKey === null ? null : await stores.keys.byId(asked.asKey));
    if (key !== null && key.owner !== user.ref) throw notFound();
    if (key !== null && key.revokedAt !== null) {
      const day = new Date(key.revokedAt).toISOString().slice(0, 10);
      throw new AppError('conflict', `The key '${key.name}' was revoked on ${day} and gets nothing now — search as yourself or as another key`);
    }
    const scope = key === null ? await scopeOf(stores, actor) : await scopeOfKey(stores, user, key.ref);
    const { query, folders, limit, offset } = asked;
    const now = await ports.search(scope, { query, limit, offset, folders }, signal);
    const explained = await ports.explain(scope, { query, limit, folders }, signal);
    await deps.audit.record({
      actor,
      action: 'search replayed',
      ...(key !== null && { object: { kind: 'key', id: key.id } }),
      detail: `entry ${seq}: ${query.slice(0, 300)} — ${asked.found === null ? '' : `${asked.found} then, `}${now.count} now`,
    });
    return {
      entry: { seq, at: row.at, masked: row.masked, endUser: row.endUser, ...asked },
      key: key && { id: key.id, name: key.name, masked: key.masked },
      found: now.count,
      nextOffset: now.nextOffset,
      results: now.results,
      explained,
      notice: asker.key !== null && row.masked !== null && row.masked !== asker.key.masked ? ROLLED : null,
    };
  });
}

const ROLLED = 'The key was rolled since: its value of then may be over, and this is what its newest one gets';

/** Whose search it was: the owner of the key, or the person. An unknown entry costs the same look-up, so that time tells nothing (P14). */
async function askerOf(stores: Stores, row: AuditRow | null): Promise<{ owner: number; key: KeyRow | null } | null> {
  const id = row?.actorId ?? '';
  if (row?.actorKind === 'user') {
    const user = await stores.users.byId(id);
    return user && { owner: user.ref, key: null };
  }
  const key = await stores.keys.byId(id);
  return key && { owner: key.owner, key };
}
