import fc from 'fast-check';
import type { LightMyRequestResponse } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { createKey } from '../../src/access/keys.ts';
import { errorSchema } from '../../src/doors/console/schemas.ts';
import type { RegisteredRoute } from '../../src/doors/http-routes.ts';
import { openDoors, type Doors } from '../isolation/doors.ts';
import { elsewhere, table } from '../isolation/policy-table.ts';
import { bodyOf, queryOf, wordOf } from './fuzz-inputs.ts';
import { form } from './harness.ts';

/** P26: every route, 200 generated requests: never a 5xx, every answer of its declared shape. P39 over all of their bodies. */

const REQUESTS = 200;
/** Each of these costs a password hash. */
const COSTLY: Record<string, number> = {
  'POST /api/v1/login': 40,
  'POST /api/v1/people': 60,
  'POST /api/v1/people/:id/password': 40,
  'POST /api/v1/me/password': 40,
};

let doors: Doors;
let ava: Awaited<ReturnType<Doors['person']>>;
let callers: Record<string, string>[];
let words: string[];
const bodies = new Set<string>();
let sent = 0;
let listening: string;

beforeAll(async () => {
  doors = await openDoors();
  listening = await doors.app.listen({ host: '127.0.0.1', port: 0 });
  ava = await doors.person('Ava');
  const ada = await doors.person('Ada', 'admin');
  const cy = await doors.person('Cy');
  const folder = await doors.folderIn(ava, ava.rootId, 'Papers');
  const documents = [];
  for (let n = 0; n < 5; n++) documents.push((await doors.upload(ava, folder, `paper-${n}.pdf`)).id);
  // Keys, so that a sign-out in between ends nothing.
  const personal = async (person: typeof ava) =>
    (await createKey(doors.library, person, { kind: 'personal', name: 'script' })).key;
  const agent = await createKey(doors.library, ava, {
    kind: 'agent',
    name: 'papers',
    description: 'x',
    folderIds: [folder],
    documentIds: [],
  });
  const avaKey = { authorization: `Bearer ${await personal(ava)}` };
  callers = [avaKey, avaKey, { authorization: `Bearer ${await personal(ada)}` }, {}];
  words = [
    folder,
    ...documents,
    agent.id,
    cy.user.id,
    'zzzzzzzz',
    'basic',
    'harbour',
    'Papers',
    'cy@example.com',
    'a name',
  ];
});
afterAll(() => doors?.close());

interface Input {
  id: string;
  page: string;
  query: string;
  body: unknown;
  caller: number;
  asJson: boolean;
  /** Of the file in a form; null is a part without one. */
  filename: string | null;
}

type Schemas = { querystring?: z.ZodType; body?: z.ZodType; response?: Record<string, z.ZodType>; consumes?: string[] };

const isForm = (schema: Schemas): boolean => schema.consumes?.includes('multipart/form-data') === true;

const inputsOf = (schema: Schemas): fc.Arbitrary<Input> =>
  fc.record({
    id: wordOf(words),
    page: fc.oneof(fc.constantFrom('1', '2'), wordOf(['1', '0', '-1', '1e3', '99999999999999999999'])),
    query: schema.querystring ? queryOf(schema.querystring, words) : fc.constantFrom('', 'x=1'),
    body: schema.body ? bodyOf(schema.body, words) : fc.constant(undefined),
    caller: fc.nat(3),
    asJson: fc.nat(20).map((n) => n > 0),
    filename: fc.option(wordOf(words), { freq: 4 }),
  });

/** A form is read only for a caller who may write there, which chance seldom makes: to a new folder and document, each way of naming the file. */
async function formInputs(): Promise<Input[]> {
  const folder = await doors.folderIn(ava, ava.rootId, `Forms ${++sent}`);
  const { id } = await doors.upload(ava, folder, 'form.pdf');
  const filenames = [null, '', 'a.txt'];
  return [folder, id].flatMap((target) =>
    filenames.map((filename) => ({ id: target, page: '1', query: '', body: undefined, caller: 0, asJson: true, filename })),
  );
}

type Answer = Pick<LightMyRequestResponse, 'statusCode' | 'headers' | 'body' | 'json'>;

/** Over a connection: to an injected request every body looks as if it broke off, and a fault in reading it like the sender's. */
async function sendForm(url: string, headers: Record<string, string>, body: Buffer): Promise<Answer> {
  const { host: _host, ...others } = headers;
  const answer = await fetch(new URL(url, listening), { method: 'POST', headers: others, body: new Uint8Array(body) });
  const text = await answer.text();
  return { statusCode: answer.status, headers: Object.fromEntries(answer.headers), body: text, json: () => JSON.parse(text) };
}

async function send(route: RegisteredRoute, input: Input): Promise<Answer> {
  const path = route.url.replace(':id', encodeURIComponent(input.id)).replace(':n', encodeURIComponent(input.page));
  const schema = (route.schema ?? {}) as Schemas;
  const headers: Record<string, string> = { host: '127.0.0.1:8080', ...callers[input.caller] };
  const payload = input.body === undefined ? undefined : JSON.stringify(input.body);
  if (payload !== undefined) headers['content-type'] = input.asJson ? 'application/json' : 'text/plain';
  const url = input.query === '' ? path : `${path}?${input.query}`;
  if (isForm(schema)) {
    // Bytes of its own for each: equal ones that come and go at the same moment are told to try again, with 503.
    const made = await form([[input.filename ?? 'no-name', `${input.query} ${++sent}`]], input.asJson ? 'file' : 'other');
    const whole = input.filename === null ? withoutFilename(made.payload) : made.payload;
    // Now and then the end is missing.
    return sendForm(url, { ...headers, 'content-type': made.type }, input.caller === 1 ? whole.subarray(0, -10) : whole);
  }
  return doors.app.inject({ method: route.method as 'GET', url, headers, ...(payload === undefined ? {} : { payload }) });
}

/** No browser sends this, but programs do: the part's type says that it is a file. */
const withoutFilename = (body: Buffer): Buffer => Buffer.from(body.toString('latin1').replace('; filename="no-name"', ''), 'latin1');

/** What is wrong with an answer, or null. */
function fault(route: RegisteredRoute, answer: Answer): string | null {
  bodies.add(answer.body);
  if (answer.statusCode >= 500) return `answered ${answer.statusCode}`;
  if (answer.statusCode === 204) return answer.body === '' ? null : 'has a body';
  const type = String(answer.headers['content-type'] ?? '');
  if (answer.statusCode >= 400) {
    if (!type.startsWith('application/json')) return `an error of type ${type}`;
    return errorSchema.strict().safeParse(answer.json()).success ? null : 'an error of another shape';
  }
  const declared = (route.schema as Schemas | undefined)?.response?.[answer.statusCode];
  if (declared === undefined)
    return route.schema && 'produces' in route.schema ? null : `status ${answer.statusCode} is not declared`;
  if (!type.startsWith('application/json')) return `type ${type}`;
  const read = declared.safeParse(answer.json());
  return read.success ? null : `does not match its schema: ${read.error.message.slice(0, 300)}`;
}

const named = Object.keys(table).filter((route) => !route.includes('?') && route.includes(' /api/v1'));

describe.each(named)('%s', (name) => {
  it('answers every generated request in its declared shape', async () => {
    const route = doors.app.routeRegistry.routes().find((one) => `${one.method} ${one.url}` === name);
    if (route === undefined) throw new Error(`${name} is not served`);
    if (table[name]?.stream && route.method === 'GET') return;
    const schema = (route.schema ?? {}) as Schemas;
    const chance = fc.sample(inputsOf(schema), { numRuns: COSTLY[name] ?? REQUESTS, seed: 20261130 });
    const inputs = isForm(schema) ? [...(await formInputs()), ...chance] : chance;
    const faults: string[] = [];
    const waiting = inputs.values();
    await Promise.all(
      Array.from({ length: 12 }, async () => {
        for (const input of waiting) {
          const answer = await send(route, input);
          const wrong = fault(route, answer);
          if (wrong !== null)
            faults.push(`${wrong} — ${JSON.stringify(input).slice(0, 400)} — ${answer.body.slice(0, 300)}`);
        }
      }),
    );
    expect(faults).toEqual([]);
  }, 180_000);
});

it('no answer told how Sergo is made, and nothing was polluted', () => {
  const told =
    /\bat [\w.<>]+ \(|node_modules|SQLITE|\b(?:select|insert|update|delete)\b.*\b(?:from|into|set)\b|\/(?:home|root|usr|srv|work|tmp|var)\/|fastify|kysely|better-sqlite|FST_ERR|busboy|pdfium/i;
  expect(
    [...bodies].filter((body) => !body.includes('"openapi"') && told.test(body)).map((body) => body.slice(0, 300)),
  ).toEqual([]);
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  for (const line of doors.lines) expect(() => JSON.parse(line) as unknown).not.toThrow();
  expect(doors.lines.filter((line) => line.includes('"level":50'))).toEqual([]);
});

it('covers every route of the console API', () => {
  const served = doors.app.routeRegistry
    .routes()
    .filter((route) => route.url.startsWith('/api/v1') && route.method !== 'HEAD');
  expect(
    served
      .map((route) => `${route.method} ${route.url}`)
      .filter((route) => !named.includes(route) && !elsewhere.some((pattern) => pattern.test(route))),
  ).toEqual([]);
});
