/** How `serve` ends, and what it does when its worker ends. */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { request, type ClientRequest, type IncomingMessage } from 'node:http';
import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { firstAdmin, processed, type ApiClient } from '../support/api-client.ts';
import { startSergo, type RunningSergo } from '../support/running-sergo.ts';

vi.setConfig({ testTimeout: 180_000 });

let sergo: RunningSergo | undefined;
afterEach(async () => {
  await sergo?.stop();
  if (sergo !== undefined) rmSync(sergo.dataFolder, { recursive: true, force: true });
});

const workersOf = (pid: number): number[] =>
  spawnSync('ps', ['-o', 'pid=,args=', '--ppid', String(pid)], { encoding: 'utf8' })
    .stdout.split('\n')
    .filter((line) => line.includes('worker --supervised'))
    .map((line) => Number.parseInt(line, 10));

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

async function until(condition: () => boolean, what: string): Promise<void> {
  for (let waited = 0; !condition(); waited += 50) {
    if (waited > 90_000) throw new Error(`waited too long for ${what}`);
    await sleep(50);
  }
}

const boundary = 'sergo-boundary';

/** An upload whose body has begun and does not go on by itself. */
async function startUpload(client: ApiClient, folderId: string): Promise<ClientRequest> {
  const upload = request(`${client.url}/api/v1/folders/${folderId}/documents`, {
    method: 'POST',
    headers: { authorization: `Bearer ${client.token}`, 'content-type': `multipart/form-data; boundary=${boundary}` },
  });
  upload.write(`--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="slow.txt"\r\n\r\nfirst half, `);
  await sleep(500);
  return upload;
}

test('SIGTERM answers the upload that is under way, then ends with 0 and leaves no worker', async () => {
  sergo = await startSergo();
  const { api: client, folderId } = await firstAdmin(sergo);
  await until(() => workersOf(sergo!.pid).length === 1, 'the worker');
  const [worker] = workersOf(sergo.pid);

  const upload = await startUpload(client, folderId);
  sergo.process.kill('SIGTERM');
  await sleep(500);
  upload.end(`second half\r\n--${boundary}--\r\n`);
  const [response] = (await once(upload, 'response')) as [IncomingMessage];
  response.resume();
  expect(response.statusCode).toBe(202);
  expect(await sergo.ended).toBe(0);
  expect(isAlive(worker!)).toBe(false);
});

test('a second SIGTERM does not wait for what is under way', async () => {
  sergo = await startSergo();
  const { api: client, folderId } = await firstAdmin(sergo);
  const upload = await startUpload(client, folderId);
  const cut = once(upload, 'error');
  sergo.process.kill('SIGTERM');
  await sleep(500);
  sergo.process.kill('SIGTERM');
  expect(await sergo.ended).toBe(1);
  await cut;
});

test('a worker that is killed is started again and goes on', async () => {
  sergo = await startSergo();
  const { api: client, folderId } = await firstAdmin(sergo);
  await until(() => workersOf(sergo!.pid).length === 1, 'the worker');
  const [worker] = workersOf(sergo.pid);
  process.kill(worker!, 'SIGKILL');
  const { body } = await client.upload(folderId, { 'after.txt': 'a text for the next worker' });
  expect(await processed(client, body.documents[0].id)).toMatchObject({ status: 'ready' });
  expect(workersOf(sergo.pid)).not.toContain(worker);
  expect(sergo.log()).toContain('The worker ended (SIGKILL); starting it again');
});

test('a server that is killed takes its worker along', async () => {
  sergo = await startSergo();
  await until(() => workersOf(sergo!.pid).length === 1, 'the worker');
  const [worker] = workersOf(sergo.pid);
  await sergo.kill9();
  await until(() => !isAlive(worker!), 'the worker to end');
});
