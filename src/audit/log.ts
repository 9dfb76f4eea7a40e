import { createSecretKey } from 'node:crypto';
import type { Actor } from '../access/actor.ts';
import type { Clock } from '../clock.ts';
import type { AuditFilter, AuditRow, AuditStore, Storage } from '../storage/ports.ts';
import { chainHash, GENESIS } from './chain.ts';
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
  const key = createSecretKey(deps.key);
  let waiting: Waiting[] = [];
  let flushing: Promise<void> | null = null;
  const onTheWay = new Set<Promise<void>>();

  async function append(audit: AuditStore, entries: readonly { entry: AuditEntry; at: number }[]): Promise<void> {
    const head = await audit.head();
    let seq = head?.seq ?? 0;
    let hash = head?.hash ?? GENESIS;
    const rows: (AuditRow & Pick<AuditEntry, 'asked'>)[] = [];
    for (const { entry, at } of entries) {
      seq += 1;
      const row = { seq, ...rowOf(entry, at) };
      hash = chainHash(key, hash, row);
      rows.push({ ...row, hash, ...(entry.asked && { asked: entry.asked }) });
    }
    await audit.append(rows);
  }

  /** While as many batches as may be are on their way to the disk, the next one gathers. */
  async function flush(): Promise<void> {
    await new Promise<void>((resolve) => setImmediate(resolve));
    while (waiting.length > 0) {
      if (onTheWay.size >= batchesOnTheWay) await Promise.race(onTheWay);
      const batch = waiting.slice(0, batchLimit);
      waiting = waiting.slice(batchLimit);
      try {
        const { durable } = await deps.storage.appendAudit((audit) => append(audit, batch));
        const answered = durable.then(
          () => batch.forEach((one) => one.resolve()),
          (error: unknown) => batch.forEach((one) => one.reject(error)),
        );
        onTheWay.add(answered);
        void answered.then(() => onTheWay.delete(answered));
      } catch (error) {
        for (const one of batch) one.reject(error);
      }
    }
    flushing = null;
  }

  return {
    record(entry) {
      return new Promise<void>((resolve, reject) => {
        waiting.push({ entry, at: deps.clock.now(), resolve, reject });
        flushing ??= flush();
      });
    },
    append: (stores, entry) => append(stores.audit, [{ entry, at: deps.clock.now() }]),
    verify: (exported): Promise<AuditVerdict> => verifyChain(deps.storage.audit, key, exported),
    head: () => deps.storage.audit.head(),
    list: (filter: AuditFilter, limit: number) => deps.storage.audit.list(filter, limit),
    export: (format) => exportRows(deps.storage.audit, format),
    async close() {
      while (flushing !== null) await flushing;
      await Promise.all(onTheWay);
    },
  };
}

function rowOf(entry: AuditEntry, at: number): Omit<AuditRow, 'seq' | 'hash'> {
  const who = whoIs(entry.actor);
  return {
    at,
    ...who,
    action: entry.action,
    objectKind: entry.object?.kind ?? null,
    objectId: entry.object === undefined ? null : cleanName(entry.object.id),
    detail: cleanDetail(entry.detail ?? ''),
    outcome: entry.outcome ?? 'ok',
    requestId: cleanName(entry.actor.requestId),
  };
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
