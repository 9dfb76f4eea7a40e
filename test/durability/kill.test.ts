/**
 * P1: SIGKILL while eight clients upload two hundred files. Everything that was answered 2xx is there afterwards, whole,
 * once and processed. Ten rounds; `npm run durability` runs twenty-five.
 */
import { randomInt } from 'node:crypto';
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { firstAdmin, type Admin } from '../support/api-client.ts';
import { startSergo, type RunningSergo } from '../support/running-sergo.ts';
import { checkAudit, compare, emptyLedger, reconnect, runClients } from './ledger.ts';

const rounds = Number(process.env.DURABILITY_ROUNDS ?? 10);
const UPLOADS = 200;
const settings = { SERGO_RATE_SIGNED_IN: '1000000' };

let sergo: RunningSergo;
afterAll(async () => {
  await sergo?.stop();
  if (sergo !== undefined) rmSync(sergo.dataFolder, { recursive: true, force: true });
});

test(
  `${rounds} kills during ${UPLOADS} uploads lose, halve and double nothing`,
  { timeout: rounds * 300_000 },
  async () => {
    sergo = await startSergo({ env: settings });
    const admin: Admin = await firstAdmin(sergo);
    const { dataFolder } = sergo;
    const ledger = emptyLedger();
    let client = admin.api;
    let unacknowledged = 0;
    let slowestStartMs = 0;

    for (let round = 1; round <= rounds; round++) {
      const abort = new AbortController();
      const killAfter = randomInt(5, UPLOADS - 5);
      const withWorker = round % 2 === 0;
      let killed: Promise<void> | undefined;
      const before = ledger.acknowledged.size;
      await runClients({
        client,
        folderId: admin.folderId,
        prefix: `r${round}`,
        uploads: UPLOADS,
        clients: 8,
        ledger,
        signal: abort.signal,
        onAcknowledged(count) {
          if (count < killAfter || killed !== undefined) return;
          killed = sleep(randomInt(0, 40)).then(() => kill(sergo, withWorker));
        },
      });
      expect(killed, 'the server was killed during the uploads').toBeDefined();
      await killed;
      abort.abort();

      const startedAt = performance.now();
      sergo = await startSergo({ env: settings, dataFolder });
      slowestStartMs = Math.max(slowestStartMs, performance.now() - startedAt);
      client = reconnect(sergo.url, client);
      const losses = await compare(client, admin.folderId, ledger, `r${round}-`);
      expect({ lost: losses.lost, half: losses.half, doubled: losses.doubled }).toEqual({
        lost: [],
        half: [],
        doubled: [],
      });
      expect(checkAudit(dataFolder, ledger)).toMatchObject({ verdict: { ok: true }, missing: [] });
      unacknowledged = losses.unacknowledged;
      console.log(
        `P1 round ${round}: ${ledger.acknowledged.size - before} acknowledged, killed ${withWorker ? 'with its worker' : 'alone'}, 0 lost, 0 half, 0 doubled`,
      );
    }

    const final = await compare(client, admin.folderId, ledger);
    expect({ lost: final.lost, half: final.half, doubled: final.doubled }).toEqual({ lost: [], half: [], doubled: [] });
    console.log(
      `P1: ${rounds} kills, ${ledger.acknowledged.size} acknowledged, ${unacknowledged} kept though not acknowledged, ` +
        `0 lost, 0 half, 0 doubled; slowest start ${Math.round(slowestStartMs)} ms`,
    );
  },
);

async function kill(running: RunningSergo, withWorker: boolean): Promise<void> {
  if (withWorker) {
    for (const pid of childrenOf(running.pid)) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // Gone already.
      }
    }
  }
  await running.kill9();
}

function childrenOf(pid: number): number[] {
  const { stdout } = spawnSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' });
  return stdout
    .split('\n')
    .map(Number)
    .filter((child) => child > 0);
}
