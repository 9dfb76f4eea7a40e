/** Sends hostile files through a whole running server and watches what it costs the server and others. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { ApiClient, Json } from '../support/api-client.ts';
import { sandboxed } from '../support/process-watch.ts';
import type { HostileFile } from './generate.ts';

export interface HostileEnd {
  file: HostileFile;
  /** `ready`, `not_indexed`, `failed`, or the HTTP status it was refused with. */
  status: string;
  /** `ready`, or why not. */
  end: string;
  /** Until it was ready or not; a PDF copy made afterwards in the background is not in it. */
  seconds: number;
  notices: string[];
  /** The original came back byte for byte. */
  whole: boolean;
}

/** Made beforehand: making a bomb takes the client's time, which would look like the server's. */
export interface MadeFile {
  file: HostileFile;
  bytes: Uint8Array;
}

export const makeFiles = (files: readonly HostileFile[]): MadeFile[] => files.map((file) => ({ file, bytes: file.make() }));

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
const ATTEMPTS_MS = 200;
/** Beyond this a file counts as hanging (trust.md P21). */
const PATIENCE_MS = 150_000;

/** `atOnce` files at a time, each until its reading and its PDF copy have ended. */
export async function runHostile(client: ApiClient, folderId: string, files: readonly MadeFile[], atOnce: number, onEnd: (end: HostileEnd) => void = () => {}): Promise<HostileEnd[]> {
  const waiting = [...files];
  const ends: HostileEnd[] = [];
  const one = async (): Promise<void> => {
    for (let made = waiting.shift(); made !== undefined; made = waiting.shift()) {
      const end = await sendOne(client, folderId, made);
      ends.push(end);
      onEnd(end);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, one));
  return files.map(({ file }) => ends.find((end) => end.file === file)!);
}

async function sendOne(client: ApiClient, folderId: string, { file, bytes }: MadeFile): Promise<HostileEnd> {
  const hash = sha256(bytes);
  const began = performance.now();
  const { status, body } = await client.upload(folderId, { [file.name]: bytes });
  if (status !== 202) return { file, status: String(status), end: body.message, seconds: 0, notices: [], whole: true };
  const { id } = body.documents[0];
  let document: Json = body.documents[0];
  let seconds = 0;
  while ((document.status === 'processing' && performance.now() - began < PATIENCE_MS) || (document.pdfCopy === 'making' && performance.now() - began < 3 * PATIENCE_MS)) {
    await sleep(ATTEMPTS_MS);
    if (document.status === 'processing') seconds = (performance.now() - began) / 1_000;
    document = (await client.get(`/documents/${id}`)).body;
  }
  const original = new Uint8Array(await (await client.raw(`/documents/${id}/file`)).arrayBuffer());
  return { file, status: document.status, end: document.status === 'ready' ? 'ready' : String(document.reason), seconds, notices: document.notices ?? [], whole: sha256(original) === hash };
}

/** Resolves when nothing waits or runs any more, files that came out of others included. */
export async function queueEmpty(client: ApiClient, patienceMs = 120_000): Promise<void> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const metrics = await (await fetch(`${client.url}/metrics`)).text();
    const open = Number(/^sergo_queue_jobs (\d+)/m.exec(metrics)?.[1] ?? Number.NaN);
    if (open === 0) return;
    if (!(performance.now() < deadline)) throw new Error(`the queue did not become empty: ${open} jobs are open`);
    await sleep(100);
  }
}

/** A light request again and again, as a person clicking about would: `stop` answers how long each took, in milliseconds. */
export function watchLatency(client: ApiClient): { stop(): Promise<number[]> } {
  const thread = new Worker(join(import.meta.dirname, 'latency-probe.ts'), { workerData: { url: client.url, token: client.token } });
  const took = new Promise<number[]>((resolve, reject) => {
    thread.once('message', resolve);
    thread.once('error', reject);
  });
  took.catch(() => undefined);
  return {
    stop() {
      thread.postMessage('stop');
      return took;
    },
  };
}

/** What a run may leave behind: programs in sandboxes (by their outermost process), folders of theirs, mounts. */
export function leftovers(servePid: number, temporaryFolder: string): { sandboxes: number; folders: string[]; mounts: number } {
  const all = sandboxed(servePid);
  const roots = all.filter((each) => !all.some((other) => other.pid === each.parent));
  return { sandboxes: roots.length, folders: readdirSync(temporaryFolder), mounts: readFileSync('/proc/self/mountinfo', 'utf8').split('\n').length };
}
