import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** A server to measure, in a process of its own. */
export interface Target {
  url: string;
  authorization?: string;
  stop(): Promise<void>;
}

/** What the yardstick answers: the very tools and the very text that Sergo answered. */
export interface Yardstick {
  tools: { name: string; description: string; inputSchema: { type: 'object' } }[];
  text: string;
}

/** The line a measured server prints once it listens. */
export function readyMessage(message: { url: string; authorization?: string }): string {
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
    if (line.startsWith('ready '))
      return { ...(JSON.parse(line.slice('ready '.length)) as { url: string; authorization?: string }), stop };
  }
  throw new Error(`${script} ended before it was ready`);
}
