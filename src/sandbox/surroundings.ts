import type { SandboxMode } from './types.ts';

/** What all runs of one sandbox share. */
export interface Surroundings {
  mode: SandboxMode;
  asRoot: boolean;
  /** Where run folders are made. */
  tempBase: string;
}

/** Replaces `{in}`, `{out}` and `{tmp}` in arguments. */
export function fill(args: string[], paths: { in?: string; out?: string; tmp: string }): string[] {
  return args.map((arg) => arg.replace(/\{(in|out|tmp)\}/g, (whole, name: 'in' | 'out' | 'tmp') => paths[name] ?? whole));
}
