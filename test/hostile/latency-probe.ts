/** Runs in a thread of its own, so that what the test is at does not look like the server's time. */
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';

const { url, token } = workerData as { url: string; token: string };
let running = true;
parentPort!.once('message', () => (running = false));
const took: number[] = [];
while (running) {
  const began = performance.now();
  const response = await fetch(`${url}/api/v1/me`, { headers: { authorization: `Bearer ${token}` } });
  await response.text();
  if (response.status !== 200) throw new Error(`/me answered ${response.status} in the middle of it`);
  took.push(performance.now() - began);
  await sleep(10);
}
parentPort!.postMessage(took);
