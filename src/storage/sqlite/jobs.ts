import { sql, type Kysely } from 'kysely';
import type { JobRow, JobStore } from '../ports.ts';
import type { Schema } from './schema.ts';

/** After this long in the queue a job's size no longer counts against it: large files cannot starve. */
const AGED_MS = 5 * 60_000;

/** The error of jobs that were running when their worker died: each is under suspicion until it has been run once more. */
const WORKER_DIED = 'the worker ended while it was at this file';

export function createJobStore(db: Kysely<Schema>): JobStore {
  const owned = (ref: number, token: string) =>
    db.updateTable('jobs').where('ref', '=', ref).where('leaseToken', '=', token).where('state', '=', 'running');
  const changed = (result: { numUpdatedRows: bigint }): boolean => result.numUpdatedRows > 0n;
  const open = () => db.selectFrom('jobs').where('state', 'in', ['queued', 'running']);
  return {
    async enqueue(row) {
      const values = { ...row, state: 'queued' as const, attempt: 0, leaseUntil: null, leaseToken: null, error: null, finishedAt: null };
      return Number((await db.insertInto('jobs').values(values).executeTakeFirstOrThrow()).insertId);
    },
    async lease(kinds, now, leaseMs, token, mostWeight = Number.MAX_SAFE_INTEGER) {
      const wanted = JSON.stringify(kinds);
      // Fair: first the owner with the least work running, then reads before copies, what took a worker along after the rest, then
      // small before large.
      const { rows } = await sql<JobRow>`
        with due as (
          select * from jobs where state in ('queued', 'running') and kind in (select value from json_each(${wanted}))
            and ((state = 'queued' and available_at <= ${now}) or (state = 'running' and lease_until < ${now}))
            and not (kind = 'pdf-copy' and exists (
              select 1 from jobs r where r.document = jobs.document and r.kind = 'read' and r.state in ('queued', 'running')))
            and weight <= ${mostWeight}
            and not (error is ${WORKER_DIED} and exists (
              select 1 from jobs s where s.state = 'running' and s.error is ${WORKER_DIED} and s.lease_until >= ${now} and s.ref <> jobs.ref))),
        busy as (select owner, count(*) as running from jobs where state = 'running' and lease_until >= ${now} group by owner)
        select due.* from due left join busy on busy.owner = due.owner
        order by coalesce(busy.running, 0), due.kind <> 'read',
          due.error is ${WORKER_DIED} and due.created_at >= ${now - AGED_MS},
          case when due.created_at < ${now - AGED_MS} then 0 else due.weight end, due.ref
        limit 1`.execute(db);
      const job = rows[0];
      if (!job) return null;
      const leased = { state: 'running' as const, attempt: job.attempt + 1, leaseUntil: now + leaseMs, leaseToken: token };
      await db.updateTable('jobs').set(leased).where('ref', '=', job.ref).execute();
      return { ...job, ...leased };
    },
    async extend(ref, token, leaseUntil) {
      return changed(await owned(ref, token).set({ leaseUntil }).executeTakeFirstOrThrow());
    },
    async finish(ref, token, state, error, now) {
      const ended = { state, error, finishedAt: now, leaseUntil: null, leaseToken: null };
      return changed(await owned(ref, token).set(ended).executeTakeFirstOrThrow());
    },
    async retry(ref, token, availableAt, error) {
      const again = { state: 'queued' as const, availableAt, error, leaseUntil: null, leaseToken: null };
      return changed(await owned(ref, token).set(again).executeTakeFirstOrThrow());
    },
    async putBack(ref, token, now) {
      const untaken = { state: 'queued' as const, availableAt: now, leaseUntil: null, leaseToken: null };
      return changed(await owned(ref, token).set((eb) => ({ ...untaken, attempt: eb('attempt', '-', 1) })).executeTakeFirstOrThrow());
    },
    async retryAllRunning(now) {
      const running = () => db.updateTable('jobs').where('state', '=', 'running');
      const suspected = await db.selectFrom('jobs').select('ref').where('state', '=', 'running').where('error', '=', WORKER_DIED).execute();
      if (suspected.length > 0) {
        await running()
          .where((eb) => eb.or([eb('error', 'is', null), eb('error', '<>', WORKER_DIED)]))
          .set((eb) => ({ attempt: eb('attempt', '-', 1) }))
          .execute();
      }
      const again = { state: 'queued' as const, availableAt: now, leaseUntil: null, leaseToken: null, error: WORKER_DIED };
      return Number((await running().set(again).executeTakeFirstOrThrow()).numUpdatedRows);
    },
    async cancelOfDocument(document, now) {
      const result = await db
        .updateTable('jobs')
        .set({ state: 'cancelled', finishedAt: now, leaseUntil: null, leaseToken: null })
        .where('document', '=', document)
        .where('state', 'in', ['queued', 'running'])
        .executeTakeFirstOrThrow();
      return Number(result.numUpdatedRows);
    },
    async openOfDocument(document) {
      return open().selectAll().where('document', '=', document).orderBy('ref').execute();
    },
    async openDocuments(limit) {
      const rows = await open().select('document').groupBy('document').orderBy((eb) => eb.fn.min('ref')).limit(limit).execute();
      return rows.map((row) => row.document);
    },
    async countOpen() {
      return (await open().select((eb) => eb.fn.countAll<number>().as('count')).executeTakeFirstOrThrow()).count;
    },
    async countOpenOf(owner) {
      return (await open().select((eb) => eb.fn.countAll<number>().as('count')).where('owner', '=', owner).executeTakeFirstOrThrow()).count;
    },
    async countOpenUnpacked() {
      const jobs = open().innerJoin('documents', 'documents.ref', 'jobs.document').where('documents.container', 'is not', null);
      return (await jobs.select((eb) => eb.fn.countAll<number>().as('count')).executeTakeFirstOrThrow()).count;
    },
    async oldestOpenAt() {
      return (await open().select((eb) => eb.fn.min('createdAt').as('oldest')).executeTakeFirst())?.oldest ?? null;
    },
    async removeFinishedBefore(time) {
      await db.deleteFrom('jobs').where('finishedAt', '<', time).where('state', 'not in', ['queued', 'running']).execute();
    },
  };
}
