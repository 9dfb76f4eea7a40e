/**
 * P2: the power goes while clients upload, make, roll and revoke keys, and delete. What was answered before the cut is
 * there after it. The control run is the same program with fsync switched off (eatmydata): it must lose something, or the
 * cut is no cut.
 */
import { randomInt } from 'node:crypto';
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { api, firstAdmin, type ApiClient } from '../support/api-client.ts';
import { startSergo, type RunningSergo } from '../support/running-sergo.ts';
import {
  checkAudit,
  compare,
  emptyLedger,
  isBrokenConnection,
  listFolder,
  noteRequest,
  reconnect,
  runClients,
  type Ledger,
} from './ledger.ts';
import { makeLoopDisk, whyNoLoopDisk, type LoopDisk } from './loop-disk.ts';

const cuts = Number(process.env.DURABILITY_CUTS ?? 5);
const settings = { SERGO_RATE_SIGNED_IN: '1000000', SERGO_RATE_BAD_CREDENTIALS: '1000000' };

const noDisk = whyNoLoopDisk();
if (noDisk !== null) console.warn(`SKIPPED: power cuts (P2): ${noDisk}.`);
const noControl = spawnSync('which', ['eatmydata']).status !== 0;
if (noControl) console.warn('SKIPPED: the control run of the power cut (P2): eatmydata is not installed.');

/** What was answered 2xx, beside the uploads. */
interface Changes {
  /** Key value → must it work? A value whose change was not answered is not in here: either is right then. */
  keys: Map<string, boolean>;
  deleted: Set<string>;
}

async function makeChanges(
  client: ApiClient,
  changes: Changes,
  ledger: Ledger,
  signal: AbortSignal,
  name: string,
): Promise<void> {
  const change = async (method: string, path: string, body: unknown, expected: number) => {
    const answer = await client.call(method, path, body, signal);
    if (answer.status !== expected)
      throw new Error(`${method} ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
    noteRequest(ledger, answer.headers);
    return answer.body;
  };
  try {
    for (let number = 0; !signal.aborted; number++) {
      const { id, key } = await change('POST', '/keys', { kind: 'personal', name: `${name}-${number}` }, 201);
      if (number % 3 === 0) {
        await change('DELETE', `/keys/${id}`, undefined, 204);
        changes.keys.set(key, false);
      } else if (number % 3 === 1) {
        const rolled = await change('POST', `/keys/${id}/roll`, { grace: 'now' }, 200);
        changes.keys.set(key, false).set(rolled.key, true);
      } else changes.keys.set(key, true);

      const victim = [...ledger.acknowledged.keys()].at(-randomInt(1, 20));
      if (victim === undefined || number % 4 !== 0) continue;
      ledger.acknowledged.delete(victim);
      await change('DELETE', `/documents/${victim}`, undefined, 204);
      changes.deleted.add(victim);
    }
  } catch (error) {
    if (!signal.aborted && !isBrokenConnection(error)) throw error;
  }
}

/** Looks, whose audit rows are committed another way than changes: what was answered must be in the log after the cut, too. */
async function search(client: ApiClient, ledger: Ledger, signal: AbortSignal): Promise<void> {
  try {
    while (!signal.aborted) {
      const answer = await client.call('GET', '/search?q=durability', undefined, signal);
      if (answer.status === 200) noteRequest(ledger, answer.headers);
    }
  } catch (error) {
    if (!signal.aborted && !isBrokenConnection(error)) throw error;
  }
}

interface Aftermath {
  lost: string[];
  half: string[];
  doubled: string[];
  /** Keys that work and should not, or the other way round. */
  keysWrong: number;
  /** Deleted documents that are back. */
  undeleted: number;
  auditMissing: number;
  auditOk: boolean;
  damagedDatabases: string[];
  /** The program did not start again, or knows nobody any more. */
  dead: string | null;
}

const unharmed: Aftermath = {
  lost: [],
  half: [],
  doubled: [],
  keysWrong: 0,
  undeleted: 0,
  auditMissing: 0,
  auditOk: true,
  damagedDatabases: [],
  dead: null,
};

/** Start, work for a random time, cut, power on, start, compare. `said` is what was acknowledged, for the printed line. */
async function oneCut(
  disk: LoopDisk,
  prefix: string,
  env: Record<string, string>,
): Promise<{ aftermath: Aftermath; said: string; uploads: number }> {
  const dataFolder = join(disk.path, 'data');
  let sergo: RunningSergo = await startSergo({ dataFolder, env: { ...settings, ...env } });
  const admin = await firstAdmin(sergo);
  const ledger = emptyLedger();
  const changes: Changes = { keys: new Map(), deleted: new Set() };
  const abort = new AbortController();
  const { api: client, folderId } = admin;
  const cutAfter = randomInt(15, 90);
  const enough = Promise.withResolvers<void>();
  const work = Promise.all([
    runClients({
      client,
      folderId,
      prefix,
      uploads: 100_000,
      clients: 4,
      ledger,
      signal: abort.signal,
      onAcknowledged(count) {
        if (count >= cutAfter && changes.keys.size >= 5) enough.resolve();
      },
    }),
    makeChanges(client, changes, ledger, abort.signal, prefix),
    search(client, ledger, abort.signal),
    search(client, ledger, abort.signal),
  ]);
  try {
    await Promise.race([enough.promise, work]);
    await sleep(randomInt(0, 500));
    // In one turn of the loop: what is answered from here on was not promised, and nobody listens any more.
    disk.cutPower();
  } finally {
    abort.abort();
    await sergo.kill9();
  }
  await work;
  disk.powerOn();

  const uploads = ledger.acknowledged.size;
  const said = `${uploads} uploads, ${changes.keys.size} key states and ${changes.deleted.size} deletions acknowledged`;
  const answer = (aftermath: Aftermath) => ({ aftermath, said, uploads });
  try {
    sergo = await startSergo({ dataFolder, env: settings });
  } catch (error) {
    return answer({ ...unharmed, dead: (error as Error).message });
  }
  const after = reconnect(sergo.url, client);
  try {
    if ((await after.get('/me')).status !== 200)
      return answer({ ...unharmed, dead: 'the admin or the sign-in is gone' });
    const { lost, half, doubled } = await compare(after, folderId, ledger);
    let keysWrong = 0;
    for (const [key, works] of changes.keys)
      if (((await api(sergo.url, key).get('/me')).status === 200) !== works) keysWrong += 1;
    const there = new Set((await listFolder(after, folderId)).map((document) => document.id as string));
    const undeleted = [...changes.deleted].filter((id) => there.has(id)).length;
    const { verdict, missing } = checkAudit(dataFolder, ledger);
    await sergo.stop();
    const damagedDatabases = checkDatabases(dataFolder);
    return answer({
      ...unharmed,
      lost,
      half,
      doubled,
      keysWrong,
      undeleted,
      auditOk: verdict.ok,
      auditMissing: missing.length,
      damagedDatabases,
    });
  } finally {
    await sergo.stop();
  }
}

function checkDatabases(dataFolder: string): string[] {
  const names = readdirSync(dataFolder).filter((name) => /\.(db|sqlite)$/.test(name));
  return names.filter((name) => {
    const database = new Database(join(dataFolder, name));
    const result = database.pragma('integrity_check', { simple: true });
    database.close();
    return result !== 'ok';
  });
}

test.skipIf(noDisk !== null)(
  `${cuts} power cuts lose nothing that was acknowledged`,
  { timeout: cuts * 300_000 },
  async () => {
    for (let cut = 1; cut <= cuts; cut++) {
      const disk = makeLoopDisk(1024);
      try {
        const { aftermath, said, uploads } = await oneCut(disk, `cut${cut}`, {});
        expect(aftermath).toEqual(unharmed);
        expect(uploads).toBeGreaterThan(0);
        console.log(`P2 cut ${cut}: ${said}, 0 lost`);
      } finally {
        disk.remove();
      }
    }
  },
);

test.skipIf(noDisk !== null || noControl)(
  'control: without fsync the same cut loses acknowledged work',
  { timeout: 900_000 },
  async () => {
    for (let attempt = 1; attempt <= 3; attempt++) {
      const disk = makeLoopDisk(1024);
      try {
        const { aftermath, said } = await oneCut(disk, 'control', { LD_PRELOAD: 'libeatmydata.so' });
        const { lost, half, keysWrong, undeleted, auditMissing, dead } = aftermath;
        const harm = lost.length + half.length + keysWrong + undeleted + auditMissing;
        console.log(
          `P2 control ${attempt}, without fsync: ${said}; ${dead === null ? `${harm} of them lost or wrong` : `all lost (${dead.split('\n')[0]})`}`,
        );
        if (harm > 0 || dead !== null) return;
      } finally {
        disk.remove();
      }
    }
    throw new Error('The cut without fsync lost nothing, so a cut that loses nothing proves nothing');
  },
);
