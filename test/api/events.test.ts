import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { drainServer } from '../../src/doors/http-server.ts';
import { openConsole, type Console, type Person } from './harness.ts';

let sergo: Console;
let ava: Person;
let bo: Person;
let port: number;
let busy: number[] = [];

beforeAll(async () => {
  sergo = await openConsole({ ports: { busyDocuments: async () => busy } });
  ava = await sergo.person('Ava Bennett');
  bo = await sergo.person('Bo Larsen');
  await sergo.app.listen({ host: '127.0.0.1', port: 0 });
  port = (sergo.app.server.address() as AddressInfo).port;
});
afterAll(() => sergo.close());

interface Stream {
  text(): string;
  ended: Promise<void>;
  close(): void;
}

async function listen(token: string): Promise<Stream> {
  const stop = new AbortController();
  const answer = await fetch(`http://127.0.0.1:${port}/api/v1/events`, {
    headers: { authorization: `Bearer ${token}` },
    signal: stop.signal,
  });
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
  let text = '';
  const ended = (async () => {
    for await (const chunk of answer.body as unknown as AsyncIterable<Uint8Array>)
      text += Buffer.from(chunk).toString();
  })().catch(() => undefined);
  return { text: () => text, ended, close: () => stop.abort() };
}

describe('events', () => {
  it('tell of documents that change to whoever can read them, and to nobody else', async () => {
    const { id, ref } = (await sergo.upload(ava, ava.rootId, [['a.txt', 'a']])).json().documents[0];
    const [mine, foreign] = [await listen(ava.token), await listen(bo.token)];
    busy = [ref];
    await expect.poll(mine.text, { timeout: 20_000 }).toContain(`"id":"${id}"`);
    await sergo.library.storage.documents.update(ref, { progress: { done: 3, total: 27, what: 'pages' } });
    await expect.poll(mine.text, { timeout: 20_000 }).toContain('"done":3');
    busy = [];
    await sergo.library.storage.documents.update(ref, { status: 'ready', progress: null });
    await expect.poll(mine.text, { timeout: 20_000 }).toContain('"status":"ready"');
    expect(foreign.text()).not.toContain('event:');
    mine.close();
    foreign.close();
  });

  it('tell of work that was done before anybody looked', async () => {
    const mine = await listen(ava.token);
    const { id, ref } = (await sergo.upload(ava, ava.rootId, [['quick.txt', 'quick']])).json().documents[0];
    await sergo.library.storage.documents.update(ref, { status: 'ready' });
    await expect.poll(mine.text, { timeout: 20_000 }).toMatch(new RegExp(`"id":"${id}".*"status":"ready"`));
    mine.close();
  });

  it('follow what was asked for to its end, however long the queue before it is', async () => {
    const mine = await listen(ava.token);
    const { id, ref } = (await sergo.upload(ava, ava.rootId, [['late.txt', 'late']])).json().documents[0];
    await expect.poll(mine.text, { timeout: 20_000 }).toMatch(new RegExp(`"id":"${id}".*"status":"processing"`));
    await sergo.library.storage.documents.update(ref, { status: 'ready' });
    await expect.poll(mine.text, { timeout: 20_000 }).toMatch(new RegExp(`"id":"${id}".*"status":"ready"`));
    mine.close();
  });

  it('end when their listener may no longer listen', async () => {
    const cy = await sergo.person('Cy Dahl');
    const { ref } = (await sergo.upload(cy, cy.rootId, [['b.txt', 'b']])).json().documents[0];
    const stream = await listen(cy.token);
    await sergo.library.storage.sessions.removeOfUser(cy.user.ref);
    busy = [ref];
    await stream.ended;
    expect(stream.text()).not.toContain('event:');
    busy = [];
  });

  it('are limited for each user, and end when the server stops', async () => {
    const streams = [];
    for (let n = 0; n < 20; n++) streams.push(await listen(ava.token));
    expect((await sergo.call(ava, 'GET', '/events')).json()).toMatchObject({ code: 'rate_limited' });
    await drainServer(sergo.app, 5_000);
    await Promise.all(streams.map((stream) => stream.ended));
  });
});
