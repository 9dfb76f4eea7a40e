import { tmpdir } from 'node:os';
import { startChild } from './child.ts';
import type { Surroundings } from './surroundings.ts';
import { runTool } from './tool.ts';
import type { Sandbox, SandboxMode } from './types.ts';
import { sweepWorkspaces } from './workspace.ts';

export interface SandboxOptions {
  /** `auto` (default) tries bubblewrap once and falls back to limits-only, saying so. */
  mode?: 'auto' | SandboxMode;
  /** One sentence each, for the log. */
  log?: (message: string) => void;
  /** Where run folders are made. Default: the system's. */
  tempDir?: string;
}

/**
 * The one way to run parsers and converters. `mode` is what really holds: with bubblewrap no network, no /etc, no data
 * folder, own processes, and never as root; limits-only has the limits and an own temporary folder, and nothing else.
 * Throws when bubblewrap is demanded and does not work.
 */
export async function createSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const tempBase = options.tempDir ?? tmpdir();
  sweepWorkspaces(tempBase);
  const asRoot = process.getuid?.() === 0;
  let mode: SandboxMode = 'limits-only';
  if (options.mode !== 'limits-only') {
    const problem = await probe({ mode: 'bubblewrap', asRoot, tempBase });
    if (problem === undefined) mode = 'bubblewrap';
    else if (options.mode === 'bubblewrap') throw new Error(`bubblewrap does not work here: ${problem}`);
    else {
      options.log?.(
        `No sandbox: bubblewrap does not work here (${problem}). Files are read with limits on time and memory only — install bubblewrap and allow user namespaces`,
      );
    }
  }
  const around: Surroundings = { mode, asRoot, tempBase };
  return { mode, runTool: (spec) => runTool(around, spec), startChild: (spec) => startChild(around, spec) };
}

/** Undefined when bubblewrap works, else the reason in a few words. */
async function probe(around: Surroundings): Promise<string | undefined> {
  try {
    const result = await runTool(around, { command: '/usr/bin/true', args: [], limits: { wallMs: 10_000 } });
    if (result.code === 0) return undefined;
    return result.stderr.trim().split('\n')[0] ?? `code ${result.code}`;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ENOENT' ? 'it is not installed' : String(error);
  }
}
