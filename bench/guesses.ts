/**
 * `npm run bench:guesses`: what 10,000 guessed keys from one address cost whoever has a good one (trust.md P19). Beside it, as a
 * yardstick, the same calls at the same pace without any key, which nothing has to be looked up for: what the load itself costs here.
 */
import { randomBytes } from 'node:crypto';
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeKeyText } from '../src/access/key-text.ts';
import { watchLatency } from '../test/hostile/run.ts';
import { api } from '../test/support/api-client.ts';
import { openBenchLibrary } from './bench-library.ts';
import { describeMachine, median, percentile, printTable } from './table.ts';

const GUESSES = 10_000;
const A_SECOND = 500;

const library = await openBenchLibrary({ SERGO_RATE_SIGNED_IN: '1000000' });
const agent = new Agent({ keepAlive: true, maxSockets: 16 });

function ask(path: string, key: string | null): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = key === null ? {} : { authorization: `Bearer ${key}` };
    request(`${library.sergo.url}${path}`, { agent, headers }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0));
    }).on('error', reject).end();
  });
}

/** So many requests at an even pace; answers how often each status came. */
async function flood(path: string, key: () => string | null): Promise<Map<number, number>> {
  const statuses = new Map<number, number>();
  const open: Promise<void>[] = [];
  const began = performance.now();
  for (let sent = 0; sent < GUESSES; ) {
    const due = Math.min(GUESSES, Math.ceil(((performance.now() - began) / 1_000) * A_SECOND));
    for (; sent < due; sent++) open.push(ask(path, key()).then((status) => void statuses.set(status, (statuses.get(status) ?? 0) + 1)));
    await sleep(5);
  }
  await Promise.all(open);
  return statuses;
}

try {
  const made = await library.admin.post('/keys', { kind: 'personal', name: 'good' });
  const good = api(library.sergo.url, made.body.key as string);
  const measure = async <T>(work: () => Promise<T>): Promise<{ took: number[]; answer: T }> => {
    const probe = watchLatency(good);
    const answer = await work();
    return { took: await probe.stop(), answer };
  };
  await measure(() => sleep(2_000));
  const idle = await measure(() => sleep(10_000));
  const yardstick = await measure(() => flood('/api/v1/me', () => null));
  const guessed = await measure(() => flood('/api/v1/me', () => makeKeyText('personal', randomBytes)));
  const { body: audit } = await library.admin.get('/audit?limit=500');
  const refusals = (audit.entries ?? audit).filter((entry: { action: string }) => entry.action === 'request refused').length;

  process.stdout.write(`${describeMachine()}\n`);
  const row = (name: string, took: readonly number[], more: string): string[] => [name, String(took.length), median(took).toFixed(1), percentile(took, 0.99).toFixed(1), more];
  const told = (statuses: Map<number, number>): string => [...statuses].map(([status, count]) => `${count} × ${status}`).join(', ');
  printTable(`A good key's calls, while ${GUESSES} others come at ${A_SECOND} a second from the same address`, ['', 'calls', 'p50 ms', 'p99 ms', 'the others were answered'], [
    row('nobody else', idle.took, ''),
    row('yardstick: calls without a key', yardstick.took, told(yardstick.answer)),
    row('guessed keys', guessed.took, `${told(guessed.answer)}; ${refusals} audit rows`),
  ]);
  const ratio = percentile(guessed.took, 0.99) / percentile(yardstick.took, 0.99);
  printTable('What is wanted', ['', 'figure', 'wanted'], [['p99 with guesses / with the yardstick', ratio.toFixed(2), 'at most 1.5']]);
  if (ratio > 1.5) process.exitCode = 1;
} finally {
  agent.destroy();
  await library.stop();
}
