/**
 * P31: many more uploads at once than may wait. As many as fit are taken, the rest hear at once when to come again; nothing that was
 * taken is lost, and the server stays small. 300 uploads and room for 75; `npm run durability` sends 2,000 with room for 500.
 */
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { firstAdmin, processed, type Admin } from '../support/api-client.ts';
import { mib, mostResidentBytes, residentBytes, workerOf } from '../support/process-watch.ts';
import { startSergo, type RunningSergo } from '../support/running-sergo.ts';
import { makeUpload } from './ledger.ts';

const UPLOADS = Number(process.env.BACK_PRESSURE_UPLOADS ?? 300);
const LIMIT = Number(process.env.BACK_PRESSURE_LIMIT ?? 75);
const MOST_SERVER_BYTES = 600 * 2 ** 20;

let sergo: RunningSergo;
let admin: Admin;
let worker: number;
beforeAll(async () => {
  sergo = await startSergo({ env: { SERGO_RATE_SIGNED_IN: '1000000', SERGO_QUEUE_LIMIT: String(LIMIT) } });
  admin = await firstAdmin(sergo);
  worker = workerOf(sergo.pid)!;
});
afterAll(() => sergo.stop());

/** An upload that announces its length and sends none of it; answers what comes back, or null when nothing does. */
function announce(bytes: number): Promise<string | null> {
  return new Promise((resolve) => {
    let answer = '';
    const socket = connect(sergo.port, '127.0.0.1', () => {
      socket.write(
        `POST /api/v1/folders/${admin.folderId}/documents HTTP/1.1\r\nHost: 127.0.0.1:${sergo.port}\r\nAuthorization: Bearer ${admin.api.token}\r\n` +
          `Content-Type: multipart/form-data; boundary=b\r\nContent-Length: ${bytes}\r\n\r\n`,
      );
    });
    const patience = setTimeout(() => socket.destroy(), 20_000);
    socket.on('data', (piece) => {
      answer += piece.toString();
      if (answer.includes('}')) socket.destroy();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearTimeout(patience);
      resolve(answer === '' ? null : answer);
    });
  });
}

test(`${UPLOADS} uploads at once with room for ${LIMIT}`, { timeout: 900_000 }, async () => {
  // A worker that does not get anywhere: what fits is then exactly the limit.
  process.kill(worker, 'SIGSTOP');
  // Small files: the machine that tests has to hold all of them at once.
  const files = Array.from({ length: UPLOADS }, (_, number) => makeUpload(`p31-${number}`, number % 10 === 3 || number % 40 === 7 ? number + 2 : number));
  const answers = await Promise.all(
    files.map(async ({ name, bytes }) => {
      const { status, headers, body } = await admin.api.upload(admin.folderId, { [name]: bytes });
      return { status, retryAfter: headers.get('retry-after'), id: body.documents?.[0]?.id as string | undefined, message: body.message as string };
    }),
  );
  const taken = answers.filter((answer) => answer.status === 202);
  const refused = answers.filter((answer) => answer.status !== 202);
  expect(taken).toHaveLength(LIMIT);
  for (const answer of refused) {
    expect(answer).toMatchObject({ status: 503, retryAfter: '30', message: expect.stringMatching(/as many as may wait — try again later$/) });
  }

  // The answer comes before a byte of the body does.
  const early = await announce(50_000_000);
  expect(early).toMatch(/^HTTP\/1\.1 503 [\s\S]*retry-after: 30/i);

  process.kill(worker, 'SIGCONT');
  let watching = true;
  let most = 0;
  const watch = (async () => {
    for (; watching; await sleep(200)) most = Math.max(most, residentBytes(sergo.pid) + residentBytes(worker));
  })();
  for (const { id } of taken) expect(await processed(admin.api, id!, 600_000)).toMatchObject({ status: 'ready' });
  watching = false;
  await watch;
  const serve = mostResidentBytes(sergo.pid);
  console.log(
    `P31: ${UPLOADS} uploads at once, room for ${LIMIT}: ${taken.length} taken and finished, ${refused.length} answered 503 with Retry-After; ` +
      `serve at most ${mib(serve)}, serve and worker together ${mib(most)}`,
  );
  expect(serve).toBeLessThan(MOST_SERVER_BYTES);

  // There is room again.
  const { status, body } = await admin.api.upload(admin.folderId, { 'after.txt': 'after the rush' });
  expect(status).toBe(202);
  expect(await processed(admin.api, body.documents[0].id)).toMatchObject({ status: 'ready' });
});

test('a refused upload that goes on sending is cut off soon, and others are served meanwhile', { timeout: 60_000 }, async () => {
  process.kill(worker, 'SIGSTOP');
  try {
    for (let number = 0; number < LIMIT; number++) expect((await admin.api.upload(admin.folderId, { [`fill-${number}.txt`]: `text ${number}` })).status).toBe(202);
    let sent = 0;
    await new Promise<void>((resolve) => {
      const socket = connect(sergo.port, '127.0.0.1', () => {
        socket.write(
          `POST /api/v1/folders/${admin.folderId}/documents HTTP/1.1\r\nHost: 127.0.0.1:${sergo.port}\r\nAuthorization: Bearer ${admin.api.token}\r\n` +
            `Content-Type: multipart/form-data; boundary=b\r\nContent-Length: ${2 ** 31 - 1}\r\n\r\n`,
        );
        const piece = Buffer.alloc(65_536, 'x');
        const more = (): void => {
          while (!socket.destroyed && sent < 2 ** 31 - 100_000) {
            sent += piece.length;
            if (!socket.write(piece)) return void socket.once('drain', more);
          }
        };
        more();
      });
      socket.on('data', () => undefined);
      socket.on('error', () => undefined);
      socket.on('close', () => resolve());
    });
    console.log(`P31: an upload of 2 GiB that was refused and went on was cut off after ${mib(sent)}`);
    expect(sent).toBeLessThan(2 ** 31 - 200_000);
    expect((await admin.api.get('/me')).status).toBe(200);
  } finally {
    process.kill(worker, 'SIGCONT');
  }
});
