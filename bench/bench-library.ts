import { execFile } from 'node:child_process';
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { adminCredentials, api, type ApiClient, type Json } from '../test/support/api-client.ts';
import { startSergo, type RunningSergo } from '../test/support/running-sergo.ts';

const run = promisify(execFile);

export interface BenchLibrary {
  sergo: RunningSergo;
  admin: ApiClient;
  /** The admin's root folder. */
  folderId: string;
  /** Uploads files as they are, a few at a time; answers the documents' ids. */
  upload(paths: readonly string[], preset?: string): Promise<string[]>;
  /** Resolves when none of them is processing any more; answers the documents. */
  settled(ids: readonly string[], andCopies?: boolean): Promise<Json[]>;
  /** A key for all of it. */
  agentKey(name?: string): Promise<string>;
  stop(): Promise<void>;
}

/** A real server with an admin, for benchmarks. */
export async function openBenchLibrary(env: Record<string, string> = {}): Promise<BenchLibrary> {
  const sergo = await startSergo({ env: { SERGO_LOG_LEVEL: 'warn', ...env } });
  const { body } = await api(sergo.url).post('/setup', { token: sergo.setupToken, ...adminCredentials });
  const admin = api(sergo.url, body.token);
  const folderId: string = body.folderId;
  return {
    sergo,
    admin,
    folderId,
    async upload(paths, preset = 'basic') {
      const ids: string[] = [];
      for (let start = 0; start < paths.length; start += 8) {
        // curl, as an integrator would: a form made in here takes as long as serving it.
        const files = paths.slice(start, start + 8).flatMap((path) => ['-F', `file=@${path};filename=${basename(path)}`]);
        const url = `${sergo.url}/api/v1/folders/${folderId}/documents?preset=${preset}`;
        const { stdout } = await run('curl', ['-sS', '--fail-with-body', '-H', 'expect:', '-H', `authorization: Bearer ${body.token}`, ...files, url]);
        ids.push(...(JSON.parse(stdout) as { documents: { id: string }[] }).documents.map((document) => document.id));
      }
      return ids;
    },
    async settled(ids, andCopies = false) {
      const done = new Map<string, Json>();
      const began = performance.now();
      while (done.size < ids.length) {
        for (const id of ids) {
          if (done.has(id)) continue;
          const { body: document } = await admin.get(`/documents/${id}`);
          if (document.status === 'processing' || (andCopies && document.pdfCopy === 'making')) break;
          done.set(id, document);
        }
        // What takes long is asked for less often: asking takes a processor from what is measured.
        if (done.size < ids.length) await sleep(performance.now() - began > 5_000 ? 250 : 100);
      }
      return ids.map((id) => done.get(id));
    },
    async agentKey(name = 'bench') {
      const answer = await admin.post('/keys', { kind: 'agent', name, description: 'For a benchmark', folderIds: [folderId], documentIds: [] });
      return answer.body.key as string;
    },
    stop: async () => void (await sergo.stop()),
  };
}
