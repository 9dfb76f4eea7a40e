import type { Actor } from '../access/actor.ts';
import type { Clock } from '../clock.ts';
import type { AuditFilter, AuditRow, AuditStore, Storage } from '../storage/ports.ts';
import { chainHash, chainKeyOf, GENESIS } from './chain.ts';
import { exportRows } from './export.ts';
import type { Audit, AuditEntry, AuditVerdict } from './types.ts';
import { verifyChain } from './verify.ts';
import { cleanDetail, cleanEndUser, cleanName } from './wording.ts';

export interface AuditDeps {
  storage: Storage;
  clock: Clock;
  /** From `loadAuditKey`. */
  key: Uint8Array;
}

interface Waiting {
  entry: AuditEntry;
  at: number;
  resolve(): void;
  reject(error: unknown): void;
}

/** At most this many rows share one commit, so that a flood does not make one endless transaction. */
const batchLimit = 500;

/** Two syncs at a time: a disk takes the second while it waits for the first. */
const batchesOnTheWay = 2;

export function openAudit(deps: AuditDeps): Audit {
  const key = chainKeyOf(deps.key);
  let waiting: Waiting[] = [];
  /** Rows that are committed and wait for the disk. */
  let rowsOnTheWay = 0;
  let batches = 0;
  let isCommitting = false;
  let isLookDue = false;
  const whenIdle: (() => void)[] = [];

  async function append(audit: AuditStore, entries: readonly { entry: AuditEntry; at: number }[]): Promise<void> {
    const head = await audit.head();
    let seq = head?.seq ?? 0;
    let hash = head?.hash ?? GENESIS;
    const rows: NewRow[] = [];
    for (const { entry, at } of entries) {
      seq += 1;
      const row = rowOf(entry, seq, at);
      hash = chainHash(key, hash, row);
      row.hash = hash;
      rows.push(row);
    }
    await audit.append(rows);
  }

  /**
   * At the end of the next turn of the event loop: calls that arrived while this one's were worked on leave their rows there, and a commit
   * with its sync costs as much as ten rows. For a call that comes alone, a turn with nothing in it takes no time.
   */
  function lookSoon(): void {
    if (isLookDue) return;
    isLookDue = true;
    setImmediate(() =>
      setImmediate(() => {
        isLookDue = false;
        void sendBatch();
      }),
    );
  }

  /**
   * One batch is on its way to the disk while the next one gathers. A second one follows before the first is there only when as many rows
   * wait as are on the way: then the disk is what they wait for; else a commit would be spent on one or two of them.
   */
  async function sendBatch(): Promise<void> {
    if (isCommitting || waiting.length === 0) return;
    if (batches > 0 && (batches >= batchesOnTheWay || waiting.length < rowsOnTheWay)) return;
    const batch = waiting.length <= batchLimit ? waiting : waiting.slice(0, batchLimit);
    waiting = waiting.slice(batch.length);
    batches += 1;
    rowsOnTheWay += batch.length;
    isCommitting = true;
    try {
      const { durable } = await deps.storage.appendAudit((audit) => append(audit, batch));
      isCommitting = false;
      if (waiting.length > 0) lookSoon();
      await durable;
      for (const one of batch) one.resolve();
    } catch (error) {
      isCommitting = false;
      for (const one of batch) one.reject(error);
    }
    batches -= 1;
    rowsOnTheWay -= batch.length;
    if (waiting.length > 0) lookSoon();
    else if (batches === 0) for (const idle of whenIdle.splice(0)) idle();
  }

  return {
    record(entry) {
      return new Promise<void>((resolve, reject) => {
        waiting.push({ entry, at: deps.clock.now(), resolve, reject });
        lookSoon();
      });
    },
    append: (stores, entry) => append(stores.audit, [{ entry, at: deps.clock.now() }]),
    verify: (exported): Promise<AuditVerdict> => verifyChain(deps.storage.audit, key, exported),
    head: () => deps.storage.audit.head(),
    list: (filter: AuditFilter, limit: number) => deps.storage.audit.list(filter, limit),
    export: (format) => exportRows(deps.storage.audit, format),
    async close() {
      if (waiting.length > 0 || batches > 0) await new Promise<void>((resolve) => whenIdle.push(resolve));
    },
  };
}

type NewRow = AuditRow & Pick<AuditEntry, 'asked'>;

/** Without its place in the chain, which `append` gives it. */
function rowOf(entry: AuditEntry, seq: number, at: number): NewRow {
  const { actor, object } = entry;
  const who = whoIs(actor);
  const row: NewRow = {
    seq,
    at,
    actorKind: who.actorKind,
    actorId: who.actorId,
    actor: who.actor,
    masked: who.masked,
    endUser: who.endUser,
    action: entry.action,
    objectKind: object?.kind ?? null,
    objectId: object === undefined ? null : cleanName(object.id),
    detail: cleanDetail(entry.detail ?? ''),
    outcome: entry.outcome ?? 'ok',
    requestId: cleanName(actor.requestId),
    hash: '',
  };
  if (entry.asked) row.asked = entry.asked;
  return row;
}

function whoIs(actor: Actor): Pick<AuditRow, 'actorKind' | 'actorId' | 'actor' | 'masked' | 'endUser'> {
  switch (actor.kind) {
    case 'user':
      return {
        actorKind: 'user',
        actorId: actor.user.id,
        actor: cleanName(actor.user.name),
        masked: actor.masked ?? null,
        endUser: endUserOf(actor.endUser),
      };
    case 'agent_key':
      return {
        actorKind: 'key',
        actorId: actor.key.id,
        actor: cleanName(actor.key.name),
        masked: actor.key.masked,
        endUser: endUserOf(actor.endUser),
      };
    case 'system':
      return { actorKind: 'system', actorId: null, actor: cleanName(actor.name), masked: null, endUser: null };
    case 'anonymous':
      return { actorKind: 'anonymous', actorId: null, actor: 'anonymous', masked: actor.masked ?? null, endUser: endUserOf(actor.endUser) };
  }
}

const endUserOf = (value: string | undefined): string | null => (value === undefined || value === '' ? null : cleanEndUser(value));
