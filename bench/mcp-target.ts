import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { firstAdmin, processed } from '../test/support/api-client.ts';
import { startSergo } from '../test/support/running-sergo.ts';

/** A server to measure, in a process of its own. */
export interface Target {
  url: string;
  authorization?: string;
  stop(): Promise<void>;
}

/** Sergo with one small document that the key reads. */
export interface SergoTarget extends Target {
  authorization: string;
  documentId: string;
}

const DESCRIPTION =
  "EIA's 2023 energy outlook release decks, uploaded as PowerPoint files: the International Energy Outlook 2023 (IEO2023, world projections to 2050) and the Annual Energy Outlook 2023 (AEO2023, United States projections to 2050)";

/** `bin/sergo serve` as people run it, but without a limit on calls. */
export async function startSergoTarget(): Promise<SergoTarget> {
  const sergo = await startSergo({ env: { SERGO_RATE_AGENT: '10000000' } });
  const { api, folderId: rootId } = await firstAdmin(sergo);
  const folderId: string = (await api.post('/folders', { name: 'Energy outlooks', parentId: rootId })).body.id;
  const uploaded = await api.upload(folderId, {
    'notes.txt': 'Electric vehicle sales grow due to policy incentives, battery costs and efficiency standards.',
  });
  const documentId: string = uploaded.body.documents[0].id;
  await processed(api, documentId);
  const made = await api.post('/keys', {
    kind: 'agent',
    name: 'energy-outlooks',
    description: DESCRIPTION,
    folderIds: [folderId],
    documentIds: [],
  });
  const stop = async () => void (await sergo.stop());
  return { url: `${sergo.url}/mcp`, authorization: `Bearer ${made.body.key}`, documentId, stop };
}

/** What the yardstick answers: the very tools and the very text that Sergo answered. */
export interface Yardstick {
  tools: { name: string; description: string; inputSchema: { type: 'object' } }[];
  text: string;
}

/** The line a measured server prints once it listens. */
export function readyMessage(message: { url: string }): string {
  return `ready ${JSON.stringify(message)}`;
}

/** Starts a server script beside this file and waits for its ready line. */
export async function startTarget(script: string, ...args: string[]): Promise<Target> {
  const path = fileURLToPath(new URL(script, import.meta.url));
  const child = spawn(process.execPath, [path, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const stop = async () => {
    if (child.exitCode !== null) return;
    child.kill('SIGTERM');
    await once(child, 'exit');
  };
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.startsWith('ready ')) return { ...(JSON.parse(line.slice('ready '.length)) as { url: string }), stop };
  }
  throw new Error(`${script} ended before it was ready`);
}
