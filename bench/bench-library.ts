import { openAsBlob } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { adminCredentials, api, type ApiClient, type Json } from '../test/support/api-client.ts';
import { startSergo, type RunningSergo } from '../test/support/running-sergo.ts';

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
        const form = new FormData();
        for (const path of paths.slice(start, start + 8)) form.append('file', await openAsBlob(path), basename(path));
        const response = await admin.raw(`/folders/${folderId}/documents?preset=${preset}`, { method: 'POST', body: form });
        const answer = (await response.json()) as { documents: { id: string }[] };
        if (response.status !== 202) throw new Error(`upload answered ${response.status}: ${JSON.stringify(answer)}`);
        ids.push(...answer.documents.map((document) => document.id));
      }
      return ids;
    },
    async settled(ids, andCopies = false) {
      const done = new Map<string, Json>();
      while (done.size < ids.length) {
        for (const id of ids) {
          if (done.has(id)) continue;
          const { body: document } = await admin.get(`/documents/${id}`);
          if (document.status === 'processing' || (andCopies && document.pdfCopy === 'making')) break;
          done.set(id, document);
        }
        if (done.size < ids.length) await sleep(100);
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
