import type { FileHandle } from 'node:fs/promises';

/** What the sandbox is asked to run and what it answers. It knows nothing of documents, keys or formats. */

export type SandboxMode = 'bubblewrap' | 'limits-only';

/** Why a run was ended by us and not by itself. */
export type KilledBy = 'time' | 'memory' | 'output' | 'cancel';

export interface Limits {
  /** Resident bytes of the whole process tree, watched every 50 ms. Default 1 GiB. */
  memoryBytes: number;
  /** Wall-clock milliseconds of one tool run, or of one request to a warm child. Default 120 s. */
  wallMs: number;
  /** CPU milliseconds of one tool run or one request, over the tree. Default 60 s. */
  cpuMs: number;
  /** Bytes of one written file, and of all collected outputs together. Default 256 MiB. */
  fileBytes: number;
  /** Bytes on standard output of a tool, or of one frame of a warm child. Default 64 MiB. */
  stdoutBytes: number;
  /** Size of the private /tmp in bubblewrap mode. Default 256 MiB. */
  tmpBytes: number;
  /** `prlimit --as`; 0 leaves it out. Node reserves address space, so it needs 4 GiB or more. Default 0. */
  addressSpaceBytes: number;
  openFiles: number;
}

export const DEFAULT_LIMITS: Readonly<Limits> = {
  memoryBytes: 1024 ** 3,
  wallMs: 120_000,
  cpuMs: 60_000,
  fileBytes: 256 * 1024 ** 2,
  stdoutBytes: 64 * 1024 ** 2,
  tmpBytes: 256 * 1024 ** 2,
  addressSpaceBytes: 0,
  openFiles: 256,
};

/** A file handed to a tool, read-only, as `{in}/<name>`. */
export type ToolFile = { name: string; bytes: Uint8Array } | { name: string; path: string };

export interface ToolSpec {
  command: string;
  /** `{in}`, `{out}` and `{tmp}` are replaced by the folders as the tool sees them. */
  args: string[];
  files?: ToolFile[];
  /**
   * Regular files left in `{out}` (one level, no links), smallest names first. True: they are read back. A function takes them one by
   * one as they are on disk, and its errors are those of the run.
   */
  outputs?: boolean | ((output: WrittenOutput) => Promise<void>);
  /** Host paths the tool may read, at the same path, beside /usr/bin, /usr/lib and /usr/share. Missing ones are skipped. */
  binds?: string[];
  env?: Record<string, string>;
  limits?: Partial<Limits>;
  signal?: AbortSignal;
}

export interface WrittenOutput {
  name: string;
  bytes: number;
  /** Open for reading until the promise is settled. */
  file: FileHandle;
  /** The program's exit code. */
  code: number | null;
}

export interface ToolResult {
  /** Exit code; null when a signal ended it. */
  code: number | null;
  stdout: Uint8Array;
  /** At most the first 16 KiB. */
  stderr: string;
  outputs: { name: string; bytes: Uint8Array }[];
  killedBy?: KilledBy;
}

export interface ChildSpec {
  /** Program and arguments; `process.execPath` for a script of our own. `{tmp}` is replaced. */
  command: string;
  args: string[];
  /** Host paths the child may read, at the same path. */
  binds?: string[];
  env?: Record<string, string>;
  limits?: Partial<Limits>;
  /** Ends the start; later aborts belong to the single requests. */
  signal?: AbortSignal;
  /** Wall milliseconds until the child's `ready` frame. Default 30 s. */
  startMs?: number;
  /** Open descriptors handed on as 3, 4, …: a way to show one file without a copy. The caller closes its own. */
  descriptors?: number[];
}

/** One frame on the wire: 4 bytes header length, 4 bytes payload length (big-endian), JSON header, payload. */
export interface Frame {
  header: FrameHeader;
  payload: Uint8Array;
}

/** A child says `ready` once, then per request any number of `part`, and one `done` or `error`. */
export type FrameHeader = { kind: 'ready' | 'part' | 'done' | 'error' | 'request' } & Record<string, unknown>;

export interface RequestOptions {
  signal?: AbortSignal;
  /**
   * Called for every `part` frame before the last one, one after another. While a promise it answers is open the child's pipe is
   * not read, so that the child waits; that time is not the child's. An error ends the request with it, and the child.
   */
  onPart?: (frame: Frame) => void | Promise<void>;
  wallMs?: number;
  cpuMs?: number;
}

/** Bytes in memory, or a file that is streamed and never held whole. */
export type Payload = Uint8Array | { path: string; bytes: number };

export interface Child {
  readonly pid: number;
  readonly alive: boolean;
  /** Requests answered so far. */
  readonly served: number;
  /** One at a time. Resolves with the `done` or `error` frame; throws LimitHit or ChildDied, and the child is gone then. */
  request(header: Record<string, unknown>, payload?: Payload, options?: RequestOptions): Promise<Frame>;
  /** Highest resident bytes of the tree seen so far. */
  readonly peakBytes: number;
  /** Kills the whole tree and waits until it is gone. */
  stop(): Promise<void>;
}

export interface Sandbox {
  /** What really protects: never assume, ask. */
  readonly mode: SandboxMode;
  runTool(spec: ToolSpec): Promise<ToolResult>;
  startChild(spec: ChildSpec): Promise<Child>;
}

/** A limit ended the request; the child was killed with all it had started. */
export class LimitHit extends Error {
  readonly killedBy: KilledBy;
  constructor(killedBy: KilledBy) {
    super(`Stopped by its ${killedBy} limit`);
    this.name = 'LimitHit';
    this.killedBy = killedBy;
  }
}

/** The child ended by itself while it had work. `stderr` is for the log only. */
export class ChildDied extends Error {
  readonly stderr: string;
  constructor(how: string, stderr: string) {
    super(`A sandboxed child ended: ${how}`);
    this.name = 'ChildDied';
    this.stderr = stderr;
  }
}
