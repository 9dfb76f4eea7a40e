import { afterAll, beforeAll, expect, it } from 'vitest';
import { createKey } from '../../src/access/keys.ts';
import type { Json, Person } from '../api/harness.ts';
import { openDoors, type Doors } from './doors.ts';

/** P12: from the moment a revocation is answered, nothing that starts later succeeds. */

const ROUNDS = 40;
let doors: Doors;
let ava: Person;
let bo: Person;
let ada: Person;

beforeAll(async () => {
  doors = await openDoors();
  ava = await doors.person('Ava');
  bo = await doors.person('Bo');
  ada = await doors.person('Ada', 'admin');
});
afterAll(() => doors?.close());

const host = { host: '127.0.0.1:8080' };
const call = (who: string, method: string, path: string, payload?: object) =>
  doors.app.inject({
    method: method as 'GET',
    url: `/api/v1${path}`,
    headers: { ...host, authorization: `Bearer ${who}` },
    ...(payload ? { payload } : {}),
  });
const tool = (key: string, name: string, args: object) =>
  doors.app.inject({
    method: 'POST',
    url: '/mcp',
    headers: {
      ...host,
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    payload: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } },
  });

interface Race {
  name: string;
  /** A new thing to lose, with the ways to reach it and the act that ends them. */
  make(n: number): Promise<{ reach: (() => Promise<boolean>)[]; end: () => Promise<number> }>;
}

const agentKey = async (person: Person, folderIds: string[], name: string) =>
  createKey(doors.library, person, { kind: 'agent', name, description: 'x', folderIds, documentIds: [] });
const reads = (key: string, id: string) => [
  async () => (await tool(key, 'read_document', { document_id: id })).body.includes('The harbour was closed'),
  async () => (await tool(key, 'search', { query: 'harbour' })).body.includes(id),
  async () => (await tool(key, 'list_documents', {})).body.includes(id),
];

const races: Race[] = [
  {
    name: 'a key is revoked',
    async make(n) {
      const folder = await doors.folderIn(ava, ava.rootId, `revoked ${n}`);
      const { id } = await doors.upload(ava, folder, 'a.pdf');
      const key = await agentKey(ava, [folder], `revoked-${n}`);
      return {
        reach: reads(key.key, id),
        end: async () => (await call(ava.token, 'DELETE', `/keys/${key.id}`)).statusCode,
      };
    },
  },
  {
    name: 'a key is rolled now',
    async make(n) {
      const folder = await doors.folderIn(ava, ava.rootId, `rolled ${n}`);
      const { id } = await doors.upload(ava, folder, 'a.pdf');
      const key = await agentKey(ava, [folder], `rolled-${n}`);
      return {
        reach: reads(key.key, id),
        end: async () => (await call(ava.token, 'POST', `/keys/${key.id}/roll`, { grace: 'now' })).statusCode,
      };
    },
  },
  {
    name: 'a folder is taken from a key',
    async make(n) {
      const folder = await doors.folderIn(ava, ava.rootId, `taken ${n}`);
      const { id } = await doors.upload(ava, folder, 'a.pdf');
      const other = await doors.folderIn(ava, ava.rootId, `left ${n}`);
      const key = await agentKey(ava, [folder, other], `taken-${n}`);
      return {
        reach: reads(key.key, id),
        end: async () => (await call(ava.token, 'PATCH', `/keys/${key.id}`, { folderIds: [other] })).statusCode,
      };
    },
  },
  {
    name: 'a document is moved out',
    async make(n) {
      const folder = await doors.folderIn(ava, ava.rootId, `moved ${n}`);
      const { id } = await doors.upload(ava, folder, 'a.pdf');
      const key = await agentKey(ava, [folder], `moved-${n}`);
      return {
        reach: reads(key.key, id),
        end: async () => (await call(ava.token, 'PATCH', `/documents/${id}`, { folderId: ava.rootId })).statusCode,
      };
    },
  },
  {
    name: 'a folder is thrown away',
    async make(n) {
      const folder = await doors.folderIn(ava, ava.rootId, `trashed ${n}`);
      const { id } = await doors.upload(ava, folder, 'a.pdf');
      const key = await agentKey(ava, [folder], `trashed-${n}`);
      const own = async () => (await call(ava.token, 'GET', `/documents/${id}/pages/1`)).statusCode === 200;
      return {
        reach: [...reads(key.key, id), own],
        end: async () => (await call(ava.token, 'DELETE', `/folders/${folder}`)).statusCode,
      };
    },
  },
  {
    name: 'sharing stops, for the person and for a key of theirs',
    async make(n) {
      const folder = await doors.folderIn(bo, bo.rootId, `shared ${n}`);
      const { id } = await doors.upload(bo, folder, 'a.pdf');
      const grant: Json = (
        await call(bo.token, 'POST', `/folders/${folder}/grants`, { email: 'ava@example.com', right: 'read' })
      ).json();
      const key = await agentKey(ava, [folder], `shared-${n}`);
      const paths = [`/documents/${id}`, `/documents/${id}/file`, `/documents/${id}/pages/1`, `/folders/${folder}`];
      const own = paths.map((path) => async () => (await call(ava.token, 'GET', path)).statusCode === 200);
      const found = async () => (await call(ava.token, 'GET', `/search?q=harbour&folders=${encodeURIComponent(`shared ${n}`)}`)).body.includes(id);
      return {
        reach: [...reads(key.key, id), ...own, found],
        end: async () => (await call(bo.token, 'DELETE', `/grants/${grant.id}`)).statusCode,
      };
    },
  },
  {
    name: 'somebody is disabled, with logins and keys',
    async make(n) {
      const person = await doors.person(`Cy ${n}`);
      const { id } = await doors.upload(person, person.rootId, 'a.pdf');
      const agent = await agentKey(person, [person.rootId], `reader-${n}`);
      const own = await createKey(doors.library, person, { kind: 'personal', name: 'script' });
      const byKey = async () => (await call(own.key, 'GET', `/documents/${id}`)).statusCode === 200;
      const byLogin = async () => (await call(person.token, 'GET', '/me')).statusCode === 200;
      return {
        reach: [...reads(agent.key, id), byKey, byLogin],
        end: async () => (await call(ada.token, 'PATCH', `/people/${person.user.id}`, { disabled: true })).statusCode,
      };
    },
  },
  {
    name: 'somebody signs out',
    async make(n) {
      const person = await doors.person(`Di ${n}`);
      const byLogin = async () => (await call(person.token, 'GET', '/me')).statusCode === 200;
      return { reach: [byLogin], end: async () => (await call(person.token, 'POST', '/logout')).statusCode };
    },
  },
];

it.each(races)(
  'when $name',
  async ({ make }) => {
    const late: string[] = [];
    for (let n = 0; n < ROUNDS; n++) {
      const { reach, end } = await make(n);
      // What never worked cannot be taken away.
      if (n % 10 === 0)
        expect(await Promise.all(reach.map((way) => way())), 'the ways work before the end').toEqual(reach.map(() => true));
      // In flight while it ends: these may win or lose.
      const racing = Promise.all([...reach, ...reach].map((way) => way()));
      const [status] = await Promise.all([end(), racing]);
      expect(status).toBeOneOf([200, 204]);
      // Started after the answer: none may succeed, however many at once.
      const after = await Promise.all(reach.map((way) => way()));
      after.forEach((succeeded, way) => succeeded && late.push(`round ${n}, way ${way}`));
    }
    expect(late).toEqual([]);
  },
  120_000,
);
