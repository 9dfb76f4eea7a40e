/**
 * What clients were told, written down outside the system under test, and compared with what is there afterwards: a file
 * that was acknowledged must be there whole, once; one that was not may be there, but then whole as well.
 */
import { execFileSync } from 'node:child_process';
import { createHash, randomBytes, randomInt } from 'node:crypto';
import { api, processed, type ApiClient, type Json } from '../support/api-client.ts';
import { makePdf } from '../support/pdf-fixture.ts';
import { cleanEnvironment } from '../support/running-sergo.ts';
import { repositoryRoot } from '../support/shared.ts';

export interface Upload {
  name: string;
  bytes: Uint8Array;
  sha256: string;
}

export interface Ledger {
  /** Everything that was ever sent, by name. */
  sent: Map<string, string>;
  /** Document id → what it must be, for what was answered 2xx. */
  acknowledged: Map<string, { name: string; sha256: string }>;
  /** `X-Request-Id` of the changes that were answered 2xx: each must be in the audit log. */
  requestIds: Set<string>;
}

export const emptyLedger = (): Ledger => ({ sent: new Map(), acknowledged: new Map(), requestIds: new Set() });

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/**
 * A mix from 1 KB to 20 MB, mostly small: every tenth around a megabyte, every fortieth up to twenty. Large ones are PDFs
 * with bytes behind the end, which cost little to read.
 */
export function makeUpload(name: string, number: number): Upload {
  const size =
    number % 40 === 7
      ? randomInt(5_000_000, 20_000_000)
      : number % 10 === 3
        ? randomInt(200_000, 2_000_000)
        : randomInt(1_000, 60_000);
  const text = `${name}\nDocument number ${number} of a durability round.`;
  if (number % 4 === 0) {
    const lines = Array.from({ length: 20 }, (_, line) => `${text} Line ${line} ${randomBytes(8).toString('hex')}`);
    const bytes = Buffer.from(lines.join('\n'));
    return { name: `${name}.txt`, bytes, sha256: sha256(bytes) };
  }
  const bytes = Buffer.concat([
    makePdf([text]),
    Buffer.from('\n% '),
    Buffer.from(randomBytes(size >> 1).toString('hex')),
    Buffer.from('\n%%EOF\n'),
  ]);
  return { name: `${name}.pdf`, bytes, sha256: sha256(bytes) };
}

export interface ClientRun {
  client: ApiClient;
  folderId: string;
  prefix: string;
  uploads: number;
  clients: number;
  ledger: Ledger;
  /** Called after each acknowledged file with their number so far in this run. */
  onAcknowledged(count: number): void;
  signal: AbortSignal;
}

/** `clients` at once send `uploads` files, one or a few a request, until all are sent or the server is gone. */
export async function runClients(run: ClientRun): Promise<void> {
  let next = 0;
  let count = 0;
  const one = async (): Promise<void> => {
    while (next < run.uploads && !run.signal.aborted) {
      const batch = Array.from({ length: Math.min(next % 7 === 0 ? 3 : 1, run.uploads - next) }, () => {
        const number = next++;
        return makeUpload(`${run.prefix}-${String(number).padStart(3, '0')}`, number);
      });
      for (const upload of batch) run.ledger.sent.set(upload.name, upload.sha256);
      try {
        const files = Object.fromEntries(batch.map((upload) => [upload.name, upload.bytes]));
        const { status, headers, body } = await run.client.upload(run.folderId, files, run.signal);
        if (status !== 202) throw new Error(`upload answered ${status}: ${JSON.stringify(body)}`);
        for (const document of body.documents as { id: string; name: string }[]) {
          const upload = batch.find((candidate) => candidate.name === document.name);
          if (upload === undefined) throw new Error(`an answer names ${document.name}, which was not sent`);
          run.ledger.acknowledged.set(document.id, { name: upload.name, sha256: upload.sha256 });
          run.onAcknowledged(++count);
        }
        noteRequest(run.ledger, headers);
      } catch (error) {
        // The connection broke because the server was killed: that is the test. Anything else is not.
        if (run.signal.aborted || isBrokenConnection(error)) return;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: run.clients }, one));
}

export function noteRequest(ledger: Ledger, headers: Headers): void {
  const requestId = headers.get('x-request-id');
  if (requestId === null) throw new Error('an answer without X-Request-Id');
  ledger.requestIds.add(requestId);
}

export function isBrokenConnection(error: unknown): boolean {
  return error instanceof TypeError || (error as Error).name === 'AbortError';
}

export async function listFolder(client: ApiClient, folderId: string): Promise<Json[]> {
  const documents: Json[] = [];
  for (;;) {
    const { status, body } = await client.get(`/folders/${folderId}?limit=500&offset=${documents.length}`);
    if (status !== 200) throw new Error(`folder answered ${status}: ${JSON.stringify(body)}`);
    documents.push(...body.documents);
    if (body.documents.length < 500) return documents;
  }
}

export interface Losses {
  lost: string[];
  /** Not byte-identical, original missing, or not processed to the end. */
  half: string[];
  doubled: string[];
  /** Documents there that nobody was told of: allowed, and counted. */
  unacknowledged: number;
}

/** Compares a folder with the ledger; waits for every document there to be processed. `since` limits the byte check to names with that prefix. */
export async function compare(client: ApiClient, folderId: string, ledger: Ledger, since = ''): Promise<Losses> {
  const listed = await listFolder(client, folderId);
  const byId = new Map(listed.map((document) => [document.id as string, document]));
  const losses: Losses = { lost: [], half: [], doubled: [], unacknowledged: listed.length - ledger.acknowledged.size };
  for (const [id, { name }] of ledger.acknowledged) if (!byId.has(id)) losses.lost.push(name);
  const seen = new Set<string>();
  for (const { id, name } of listed) {
    if (seen.has(name)) losses.doubled.push(name);
    seen.add(name);
    if (!name.startsWith(since)) continue;
    const response = await client.raw(`/documents/${id}/file`);
    const bytes = new Uint8Array(await response.arrayBuffer());
    if (response.status !== 200 || sha256(bytes) !== ledger.sent.get(name))
      losses.half.push(`${name}: original (${response.status}, ${bytes.length} bytes)`);
    const { status, reason } = await processed(client, id);
    if (status !== 'ready') losses.half.push(`${name}: ${status}, ${reason}`);
  }
  return losses;
}

/** What the program itself says of its audit log, and which acknowledged changes are not in it. */
export function checkAudit(dataFolder: string, ledger: Ledger): { verdict: Json; missing: string[] } {
  const env = cleanEnvironment({ SERGO_DATA: dataFolder }) as NodeJS.ProcessEnv;
  const sergo = (...args: string[]): string =>
    execFileSync('bin/sergo', args, { cwd: repositoryRoot, encoding: 'utf8', env, maxBuffer: 2 ** 30 });
  const rows = sergo('audit', 'export')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { requestId: string });
  const written = new Set(rows.map((row) => row.requestId));
  return {
    verdict: JSON.parse(sergo('--json', 'audit', 'verify')),
    missing: [...ledger.requestIds].filter((id) => !written.has(id)),
  };
}

/** A client on another port or after a restart, with the same login token. */
export const reconnect = (url: string, client: ApiClient): ApiClient => api(url, client.token);
