/**
 * `npm run bench:existence`: whether the time of an answer tells what exists (trust.md P14). 2,000 calls a case, about a thing that
 * exists and belongs to somebody else and about one that does not exist, in random turns; the yardstick is the second against itself.
 * Each of both is one of 200, asked for as often as the others: what was asked for before is answered sooner, whether it exists or not.
 */
import { randomBytes, randomInt } from 'node:crypto';
import { Agent, request } from 'node:http';
import { adminCredentials, api } from '../test/support/api-client.ts';
import { openBenchLibrary } from './bench-library.ts';
import { describeMachine, median, printTable } from './table.ts';

const CALLS = 2_000;
const SIGN_INS = 60;
const WARM_UP = 200;
const IDS = 200;

const library = await openBenchLibrary({ SERGO_RATE_SIGNED_IN: '10000000', SERGO_RATE_AGENT: '10000000', SERGO_RATE_BAD_CREDENTIALS: '10000000' });
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

/** Milliseconds, status and body of one call. */
function ask(method: string, path: string, headers: Record<string, string>, body?: string): Promise<{ ms: number; text: string }> {
  return new Promise((resolve, reject) => {
    const began = performance.now();
    request(`${library.sergo.url}${path}`, { method, agent, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => (text += part)).on('end', () => resolve({ ms: performance.now() - began, text: `${response.statusCode} ${text}` }));
    }).on('error', reject).end(body);
  });
}

/** Kolmogorov and Smirnov's two-sample test: the chance of so large a distance between samples of one distribution. */
function sameDistribution(a: readonly number[], b: readonly number[]): number {
  const [x, y] = [a, b].map((sample) => sample.toSorted((m, n) => m - n)) as [number[], number[]];
  let distance = 0;
  for (let i = 0, j = 0; i < x.length && j < y.length; ) {
    const at = Math.min(x[i]!, y[j]!);
    while (i < x.length && x[i]! <= at) i += 1;
    while (j < y.length && y[j]! <= at) j += 1;
    distance = Math.max(distance, Math.abs(i / x.length - j / y.length));
  }
  const size = Math.sqrt((x.length * y.length) / (x.length + y.length));
  const lambda = (size + 0.12 + 0.11 / size) * distance;
  let sum = 0;
  for (let k = 1; k <= 100; k++) sum += 2 * (-1) ** (k - 1) * Math.exp(-2 * k * k * lambda * lambda);
  return lambda < 0.2 ? 1 : Math.max(0, Math.min(1, sum));
}

async function compare(calls: number, exists: () => Promise<{ ms: number; text: string }>, absent: () => Promise<{ ms: number; text: string }>): Promise<{ exists: number[]; absent: number[] }> {
  const took = { exists: [] as number[], absent: [] as number[] };
  for (let at = 0; at < calls + Math.min(WARM_UP, calls / 4); at++) {
    const order = randomInt(2) === 0 ? (['exists', 'absent'] as const) : (['absent', 'exists'] as const);
    const texts = new Set<string>();
    for (const which of order) {
      const { ms, text } = await (which === 'exists' ? exists() : absent());
      // The id that was asked for and the number of the call may stand in the answer.
      texts.add(text.replaceAll(/"requestId":"[^"]*"/g, ''));
      if (at >= Math.min(WARM_UP, calls / 4)) took[which].push(ms);
    }
    if (texts.size !== 1) throw new Error(`The answers differ: ${[...texts].join(' | ')}`);
  }
  return took;
}

/** The ids in turn, again and again. */
function inTurn(ids: readonly string[]): () => string {
  let at = 0;
  return () => ids[at++ % ids.length] as string;
}

const unknownIds = (): (() => string) => inTurn(Array.from({ length: IDS }, () => randomBytes(6).toString('base64url')));

try {
  const { body: made } = await library.admin.post('/people', { name: 'Ben Carter', email: 'ben@example.com', password: 'long enough for Ben' });
  if (!made?.userId) throw new Error(`No second person could be made: ${JSON.stringify(made)}`);
  const { body: session } = await api(library.sergo.url).post('/login', { email: 'ben@example.com', password: 'long enough for Ben' });
  const ben = { authorization: `Bearer ${session.token}` };
  const secrets = Array.from({ length: IDS }, (_, at) => [`secret ${at}.txt`, `What Ben must not know of, ${at}.`]);
  const { body: mine } = await library.admin.upload(library.folderId, Object.fromEntries(secrets) as Record<string, string>);
  const secretIds = (mine.documents as { id: string }[]).map(({ id }) => id);
  if (secretIds.length !== IDS) throw new Error(`${secretIds.length} documents were made`);
  await library.settled(secretIds);
  const foreign = inTurn(secretIds);
  const { body: own } = await api(library.sergo.url, session.token).upload(made.rootFolderId, { 'own.txt': 'What Ben may read.' });
  const { body: key } = await api(library.sergo.url, session.token).post('/keys', { kind: 'agent', name: 'ben', description: 'For Ben', folderIds: [made.rootFolderId], documentIds: [] });
  if (!own?.documents || !key?.key) throw new Error('Ben has no document or key');
  const tool = (id: string) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'read_document', arguments: { document_id: id, pages: '1' } } });
    return ask('POST', '/mcp', { authorization: `Bearer ${key.key}`, 'content-type': 'application/json', accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-11-25' }, body);
  };
  const signIn = (email: string) => ask('POST', '/api/v1/login', { 'content-type': 'application/json' }, JSON.stringify({ email, password: 'not the password' }));
  const document = (id: string) => ask('GET', `/api/v1/documents/${id}`, ben);
  const unknownDocument = () => ((next) => () => document(next()))(unknownIds());
  const unknownTool = () => ((next) => () => tool(next()))(unknownIds());
  const cases: [string, number, () => Promise<{ ms: number; text: string }>, () => Promise<{ ms: number; text: string }>][] = [
    ['yardstick: unknown against unknown', CALLS, unknownDocument(), unknownDocument()],
    ['GET /documents/{id}: somebody else’s against unknown', CALLS, () => document(foreign()), unknownDocument()],
    ['read_document: outside the key against unknown', CALLS, () => tool(foreign()), unknownTool()],
    ['POST /login, wrong password: known against unknown address', SIGN_INS, () => signIn(adminCredentials.email), () => signIn('nobody@example.com')],
  ];
  const rows: string[][] = [];
  for (const [name, calls, exists, absent] of cases) {
    const runs = [];
    for (let run = 0; run < 3; run++) runs.push(await compare(calls, exists, absent));
    const chances = runs.map((run) => sameDistribution(run.exists, run.absent));
    const differences = runs.map((run) => median(run.exists) / median(run.absent) - 1);
    const isMet = Math.max(...differences.map(Math.abs)) < 0.05 && chances.filter((chance) => chance > 0.01).length >= 2;
    rows.push([name, String(calls), median(runs.flatMap((run) => run.exists)).toFixed(2), median(runs.flatMap((run) => run.absent)).toFixed(2), differences.map((each) => `${(each * 100).toFixed(1)} %`).join(', '), chances.map((each) => each.toFixed(3)).join(', '), isMet ? 'met' : 'MISSED']);
  }
  process.stdout.write(`${describeMachine()}\n`);
  printTable('Does the time of a refusal tell what exists? Three runs each', ['', 'calls', 'exists, ms', 'unknown, ms', 'medians differ by (under 5 %)', 'KS p (over 0.01 in two of three)', ''], rows);
} finally {
  agent.destroy();
  await library.stop();
}
