import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { giveGrant, removeGrant } from '../../src/access/grants.ts';
import { createKey } from '../../src/access/keys.ts';
import { changeDocument, trashDocument } from '../../src/library/documents.ts';
import type { Person } from '../api/harness.ts';
import { openDoors, type Doors } from './doors.ts';

/** P10: a word that stands only in what somebody may not read is never found, counted or hinted at. */

const CANARY = 'zanzivortex';
/** Twenty ways to ask for it. */
const QUERIES = [
  CANARY,
  `"${CANARY}"`,
  CANARY.toUpperCase(),
  `${CANARY}*`,
  CANARY.slice(0, 6),
  `${CANARY.slice(0, 6)}*`,
  'zanzivortx',
  'zanzivortexx',
  `${CANARY}s`,
  `${CANARY} harbour`,
  `harbour OR ${CANARY}`,
  `harbour AND ${CANARY}`,
  `NOT ${CANARY}`,
  `NEAR(${CANARY} harbour)`,
  `text:${CANARY}`,
  `harbour "${CANARY} report"`,
  `${CANARY} ${CANARY} ${CANARY}`,
  `the ${CANARY} in winter`,
  `${CANARY}-2023`,
  CANARY.split('').join(' '),
];

let doors: Doors;
let ava: Person;
let bo: Person;
let key: string;
let secrets: string[];
let withoutForeign: Map<string, string>;

const headers = (extra: Record<string, string>) => ({
  host: '127.0.0.1:8080',
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  ...extra,
});

async function tool(args: object, name = 'search'): Promise<string> {
  const payload = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } };
  return (
    await doors.app.inject({
      method: 'POST',
      url: '/mcp',
      headers: headers({ authorization: `Bearer ${key}` }),
      payload,
    })
  ).body;
}

async function api(path: string): Promise<string> {
  const answer = await doors.app.inject({
    method: 'GET',
    url: `/api/v1${path}`,
    headers: headers({ authorization: `Bearer ${ava.token}` }),
  });
  // Where the next excerpts start is an answer too.
  const body = answer.body.replace(/"requestId":"[^"]*"/, '').replace(/"lastUsed":"[^"]*"/g, '"lastUsed"');
  return `${answer.statusCode} ${String(answer.headers['x-next-offset'])} ${body}`;
}

/** Everything Ava and her key can ask, by what was asked. */
async function askAll(keyId: string): Promise<Map<string, string>> {
  const answers = new Map<string, string>();
  for (const query of [...QUERIES, 'harbour', 'winter harbour closed']) {
    for (const offset of [0, 3, 10, 40, 80]) {
      const args = { query, limit: 6, offset };
      answers.set(`tool ${JSON.stringify(args)}`, await tool(args));
      const search = new URLSearchParams({ q: query, limit: '6', offset: String(offset) }).toString();
      answers.set(`api ${search}`, await api(`/search?${search}`));
      answers.set(`api as key ${search}`, await api(`/search?${search}&asKey=${keyId}`));
    }
  }
  for (const path of [
    '/documents?limit=1000',
    '/documents?limit=2&offset=2',
    '/folders',
    '/folders?tree=true',
    `/folders/${ava.rootId}`,
    '/trash',
    '/jobs',
    '/keys',
  ])
    answers.set(path, await api(path));
  answers.set('list', await tool({ limit: 100 }, 'list_documents'));
  answers.set('list, a page of it', await tool({ limit: 2, offset: 1 }, 'list_documents'));
  return answers;
}

beforeAll(async () => {
  doors = await openDoors();
  const { library } = doors;
  ava = await doors.person('Ava');
  bo = await doors.person('Bo');
  const folder = await doors.folderIn(ava, ava.rootId, 'Papers');
  for (let n = 0; n < 12; n++)
    await doors.upload(ava, folder, `paper-${n}.pdf`, `The harbour was closed in winter ${n}, and the ferry waited`);
  const made = await createKey(library, ava, {
    kind: 'agent',
    name: 'papers',
    description: 'Papers',
    folderIds: [folder],
    documentIds: [],
  });
  key = made.key;
  withoutForeign = await askAll(made.id);

  const closed = await doors.folderIn(bo, bo.rootId, `Folder of the ${CANARY}`);
  const shared = await doors.folderIn(bo, bo.rootId, 'Once shared');
  const grant = await giveGrant(library, bo, { folderId: shared }, { email: 'ava@example.com', right: 'read' });
  const text = `The ${CANARY} report: the harbour was closed in winter by the ${CANARY}`;
  const put = async (person: Person, into: string, name: string) => (await doors.upload(person, into, name, text)).id;
  const movedOut = await put(bo, shared, 'moved.pdf');
  secrets = [
    await put(bo, closed, `${CANARY}.pdf`),
    movedOut,
    await put(bo, shared, 'lost.pdf'),
    await put(bo, bo.rootId, 'other.pdf'),
  ];
  await changeDocument(library, bo, movedOut, { folderId: closed });
  await removeGrant(library, bo, grant.id);
  // Of the folder's own, but thrown away.
  const trashed = await put(bo, closed, 'trashed.pdf');
  await trashDocument(library, bo, trashed);
  for (let n = 0; n < 40; n++)
    await doors.upload(bo, closed, `more-${n}.pdf`, `harbour harbour ${CANARY} winter ferry ${n}`);
  withForeign = await askAll(made.id);
}, 240_000);
let withForeign: Map<string, string>;
afterAll(() => doors?.close());

describe('a word in documents of somebody else', () => {
  it('is in no answer, but for the words that were asked', () => {
    const told = [...withForeign].filter(([, answer]) => {
      const plain = answer.toLowerCase();
      return (
        plain.includes(CANARY) ||
        plain.includes('once shared') ||
        plain.includes("bo's documents") ||
        secrets.some((id) => answer.includes(id))
      );
    });
    expect(told.map(([asked, answer]) => `${asked}: ${answer.slice(0, 300)}`)).toEqual([]);
  });

  it('changes no result, order, total or offset', () => {
    expect(withForeign.size).toBeGreaterThan(300);
    const changed = [...withForeign].filter(([asked, answer]) => answer !== withoutForeign.get(asked));
    expect(
      changed.map(
        ([asked, answer]) => `${asked}\n  ${answer.slice(0, 400)}\n  ${withoutForeign.get(asked)?.slice(0, 400)}`,
      ),
    ).toEqual([]);
  });

  it('is there for its owner, so that this test can fail', async () => {
    const answer = await doors.app.inject({
      method: 'GET',
      url: `/api/v1/search?q=${CANARY}&limit=20`,
      headers: headers({ authorization: `Bearer ${bo.token}` }),
    });
    expect(answer.json().length).toBeGreaterThan(3);
  });

  it('is not known as a folder either', async () => {
    const sentence = async (name: string) => (await tool({ query: 'harbour', folders: [name] })).replaceAll(name, 'X');
    expect(await sentence(`Folder of the ${CANARY}`)).toBe(await sentence('Nothing of that name'));
    const api1 = async (name: string) =>
      (await api(`/search?q=harbour&folders=${encodeURIComponent(name)}`)).replaceAll(name, 'X');
    expect(await api1(`Folder of the ${CANARY}`)).toBe(await api1('Nothing of that name'));
  });
});
