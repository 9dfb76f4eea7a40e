import { connect, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openConsole, type Console, type Person } from './harness.ts';

let sergo: Console;
let ava: Person;
let port: number;
beforeAll(async () => {
  sergo = await openConsole();
  ava = await sergo.person('Ava Bennett');
  await sergo.app.listen({ host: '127.0.0.1', port: 0 });
  port = (sergo.app.server.address() as AddressInfo).port;
});
afterAll(() => sergo.close());

const start = '--b\r\nContent-Disposition: form-data; name="file"; filename="new.txt"\r\nContent-Type: text/plain\r\n\r\n';

/** Sends a body that is not what was announced: `announced` undefined means chunked and properly ended. */
async function send(id: string, body: string, announced?: number): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  let answer = '';
  socket.on('data', (part) => (answer += part.toString()));
  socket.on('error', () => undefined);
  const closed = new Promise((resolve) => socket.once('close', resolve));
  const head = `POST /api/v1/documents/${id}/replace HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${ava.token}\r\nConnection: close\r\nContent-Type: multipart/form-data; boundary=b\r\n`;
  if (announced === undefined) socket.write(`${head}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  else {
    socket.write(`${head}Content-Length: ${announced}\r\n\r\n${body}`);
    setTimeout(() => socket.destroy(), 300);
  }
  await closed;
  return answer;
}

test('a replacement that breaks off half-way replaces nothing', async () => {
  const { id, sha256 } = (await sergo.upload(ava, ava.rootId, [['a.txt', 'the whole file']])).json().documents[0];
  const unchanged = async (): Promise<void> => {
    const { sha256: now, name } = (await sergo.call(ava, 'GET', `/documents/${id}`)).json();
    expect([now, name]).toEqual([sha256, 'a.txt']);
  };
  expect(await send(id, `${start}half of it`)).toMatch(/^HTTP\/1\.1 400 /);
  await unchanged();
  await send(id, `${start}half of it`, 10_000);
  await new Promise((resolve) => setTimeout(resolve, 500));
  await unchanged();
  expect(await send(id, `${start}all of it\r\n--b--\r\n`)).toMatch(/^HTTP\/1\.1 202 /);
});
