import { afterAll, beforeAll, expect, it } from 'vitest';
import { createKey } from '../../src/access/keys.ts';
import type { Person } from '../api/harness.ts';
import { openDoors, type Doors } from './doors.ts';
import { elsewhere, table } from './policy-table.ts';

/** P24 over every route: no page of another site acts for somebody who is signed in, and no other host name reaches a route. */

let doors: Doors;
let ava: Person;
let key: string;
beforeAll(async () => {
  doors = await openDoors();
  ava = await doors.person('Ava');
  key = (await createKey(doors.library, ava, { kind: 'personal', name: 'script' })).key;
});
afterAll(() => doors?.close());

const host = '127.0.0.1:8080';
const own = `http://${host}`;
const routes = () =>
  doors.app.routeRegistry
    .routes()
    .filter(({ method, url }) => method !== 'HEAD' && !elsewhere.some((pattern) => pattern.test(`${method} ${url}`)))
    .map(({ method, url }) => ({
      method: method as 'GET',
      url: url.replace(':id', 'zzzzzzzz').replace(':n', '1'),
      template: `${method} ${url}`,
    }));
const send = (method: 'GET', url: string, headers: Record<string, string>) =>
  doors.app.inject({ method, url, headers: { host, ...headers } });

it('every route that changes something refuses foreign origins, whatever the credential', async () => {
  const changing = routes().filter(({ method }) => (method as string) !== 'GET');
  expect(changing.length).toBeGreaterThan(25);
  const credentials: Record<string, string>[] = [
    { cookie: `sergo=${ava.token}` },
    { authorization: `Bearer ${ava.token}` },
    { authorization: `Bearer ${key}` },
    {},
  ];
  const foreign: Record<string, string>[] = [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: `https://${host}.evil.example` },
    { origin: own, 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ];
  for (const { method, url } of changing) {
    for (const credential of credentials) {
      for (const from of foreign) {
        const answer = await send(method, url, {
          ...credential,
          ...from,
          'content-type': 'application/json',
          'x-sergo-request': '1',
        });
        expect([method, url, from, answer.statusCode]).toEqual([method, url, from, 403]);
      }
    }
  }
});

it('with the cookie alone nothing changes: a form, an image or a bare request is refused on every such route', async () => {
  for (const { method, url, template } of routes()) {
    if ((method as string) === 'GET' || table[template]?.public) continue;
    const cookie = `sergo=${ava.token}`;
    const requests: Record<string, string>[] = [
      { cookie },
      { cookie, origin: own },
      { cookie, origin: own, 'content-type': 'text/plain' },
      { cookie, origin: own, 'content-type': 'application/x-www-form-urlencoded' },
      { cookie, origin: own, 'content-type': 'multipart/form-data; boundary=x' },
      { cookie, 'content-type': 'application/json' },
    ];
    for (const headers of requests) {
      const answer = await send(method, url, headers);
      expect([method, url, headers, answer.statusCode]).toEqual([method, url, headers, 403]);
    }
  }
});

it('reads by cookie from another site are refused but for a link that is followed', async () => {
  const cookie = { cookie: `sergo=${ava.token}`, 'sec-fetch-site': 'cross-site' };
  for (const { method, url, template } of routes()) {
    if ((method as string) !== 'GET' || table[template]?.public) continue;
    const answer = await send(method, url, { ...cookie, 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' });
    expect([url, answer.statusCode]).toEqual([url, 403]);
  }
  expect(
    (await send('GET', '/api/v1/me', { ...cookie, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }))
      .statusCode,
  ).toBe(200);
});

it('no route answers to a host name that is not ours', async () => {
  for (const { method, url } of routes()) {
    const answer = await doors.app.inject({
      method,
      url,
      headers: { host: 'evil.example', authorization: `Bearer ${ava.token}` },
    });
    expect([url, answer.statusCode, answer.json().code]).toEqual([url, 403, 'forbidden']);
  }
});

it('a key in the address is no credential, and is in no log line', async () => {
  for (const { method, url } of routes()) {
    if ((method as string) !== 'GET' || table[`${method} ${url}`]?.public) continue;
    const answer = await send(method, `${url}?key=${key}&access_token=${key}&authorization=Bearer%20${key}`, {});
    if (table[`GET ${url}`]?.public) continue;
    expect(answer.statusCode).toBeOneOf([200, 401, 404]);
    if (answer.statusCode === 200) expect(['/healthz', '/readyz', '/metrics', '/api/v1/openapi.json']).toContain(url);
  }
  expect(doors.lines.join('\n')).not.toContain(key);
});
