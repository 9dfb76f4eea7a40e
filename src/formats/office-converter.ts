import { stat } from 'node:fs/promises';
import { runInTime, type FileTime } from './file-time.ts';
import { ChildDied, LimitHit, type Child, type Frame, type Payload, type Sandbox } from '../sandbox/index.ts';
import { findPrograms, missingSentence, startOffice, type OfficePrograms } from './office-start.ts';
import { createSpare } from './spare.ts';
import { UnreadableFile } from './types.ts';

/**
 * Converts office files through a LibreOffice that is kept running in the sandbox: 60 ms to 1 s a file instead of 2 s and more. While
 * a slow file holds it, a second one is started for the others.
 */
export interface OfficeConverter {
  readonly available: boolean;
  /** Null when LibreOffice is there, else the sentence that says what is missing and what that costs. */
  readonly missing: string | null;
  /** Throws UnreadableFile when LibreOffice cannot open the file, or it needs more than a conversion may use. */
  toPdf(source: OfficeInput, options: ConvertOptions): Promise<Uint8Array>;
  /** To a format that a reader of ours takes: doc → docx, ppt → pptx, xls → xlsx, rtf → docx. */
  convert(source: OfficeInput, to: OfficeTarget, options: ConvertOptions): Promise<Uint8Array>;
  /** Starts LibreOffice for this owner's files unless it runs: a file that will need it soon then does not wait for that. */
  warm(owner: string): void;
  close(): Promise<void>;
}

/** Bytes in memory, or the path of a file that is streamed. */
export type OfficeInput = Uint8Array | string;

export type OfficeTarget = 'docx' | 'pptx' | 'xlsx' | 'odt' | 'txt' | 'pdf';

export interface ConvertOptions {
  /** What the file is: `docx`, `ppt`, `html`, … */
  type: string;
  /** The running LibreOffice is replaced when the owner changes: no file is converted beside another owner's. */
  owner: string;
  signal?: AbortSignal;
  /** What is left for this file over all its steps. */
  time?: FileTime;
}

export interface OfficeConverterDeps {
  sandbox: Sandbox;
  /** Conversions after which LibreOffice is started anew: it grows. Default 100. */
  filesPerStart?: number;
  /** Milliseconds without work after which it is stopped. Default 5 minutes. */
  idleMs?: number;
  /** Keeps one LibreOffice running that has seen no file yet: the first file, and that of the next owner, then wait for no start. Default false. */
  keepSpare?: boolean;
  /** Milliseconds that a file waits for the one before it until a second LibreOffice is started. Default 2 s. */
  patienceMs?: number;
  limits?: { wallMs?: number; cpuMs?: number; memoryBytes?: number };
  /** Where LibreOffice and Python are looked for; for tests. */
  programs?: OfficePrograms;
}

/** One file, whether LibreOffice has to be started for it or not. */
const MOST_MS = 120_000;

/** One LibreOffice, started when it is first needed. */
interface Lane {
  running: { child: Child; owner: string } | undefined;
  busy: boolean;
  idle: NodeJS.Timeout | undefined;
  idleMs: number;
}

const makeLane = (idleMs: number): Lane => ({ running: undefined, busy: false, idle: undefined, idleMs });

async function stop(lane: Lane): Promise<void> {
  clearTimeout(lane.idle);
  const { running } = lane;
  lane.running = undefined;
  await running?.child.stop();
}

export function createOfficeConverter(deps: OfficeConverterDeps): OfficeConverter {
  const { sandbox, filesPerStart = 100, idleMs = 300_000, patienceMs = 2_000, keepSpare = false } = deps;
  const programs = deps.programs ?? findPrograms();
  const missing = missingSentence(programs);
  const lanes: Lane[] = [makeLane(idleMs), makeLane(Math.min(idleMs, 30_000))];
  let waiting: (() => void)[] = [];
  let closed = false;
  const start = (wallMs: number, signal?: AbortSignal): Promise<Child> => startOffice(sandbox, programs, { ...deps.limits, wallMs: MOST_MS }, { startMs: wallMs, signal });
  const spare = keepSpare && missing === null ? createSpare({ start: () => start(MOST_MS), firstMs: 1_000, quietMs: 10_000 }) : null;

  async function childFor(lane: Lane, owner: string, wallMs: number, signal: AbortSignal | undefined): Promise<Child> {
    const { running } = lane;
    if (running && running.child.alive && running.owner === owner && running.child.served < filesPerStart) return running.child;
    await stop(lane);
    if (closed) throw new Error('The converter is closed');
    const child = (await spare?.take()) ?? (await start(wallMs, signal));
    if (closed) {
      await child.stop();
      throw new Error('The converter is closed');
    }
    lane.running = { child, owner };
    return child;
  }

  /** Starting LibreOffice is in the file's time: one that crashes it again and again must not have more. */
  async function convertOnce(lane: Lane, source: OfficeInput, to: OfficeTarget, { type, owner, signal }: ConvertOptions, wallMs: number): Promise<Frame> {
    const began = performance.now();
    const child = await childFor(lane, owner, wallMs, signal);
    try {
      const payload: Payload = typeof source === 'string' ? { path: source, bytes: (await stat(source)).size } : source;
      const frame = await child.request({ from: type, to }, payload, { wallMs: Math.max(1, wallMs - (performance.now() - began)), ...(signal && { signal }) });
      // "crashed" comes from the driver that saw LibreOffice go; so does a driver that went along.
      if (frame.header['reason'] === 'crashed') throw new ChildDied('LibreOffice crashed', '');
      return frame;
    } catch (error) {
      await stop(lane);
      throw error;
    }
  }

  async function convertNow(lane: Lane, source: OfficeInput, to: OfficeTarget, options: ConvertOptions): Promise<Uint8Array> {
    const mostMs = deps.limits?.wallMs ?? MOST_MS;
    const began = performance.now();
    const once = (): Promise<Frame> => runInTime(options.time, Math.max(1, mostMs - (performance.now() - began)), (wallMs) => convertOnce(lane, source, to, options, wallMs));
    let frame: Frame;
    try {
      frame = await once().catch((error: unknown) => {
        // The crash may be an old one's: a fresh LibreOffice gets one more try.
        if (error instanceof ChildDied && options.signal?.aborted !== true) return once();
        throw error;
      });
    } catch (error) {
      if (error instanceof LimitHit && error.killedBy === 'time') throw new UnreadableFile('LibreOffice does not get done with it in the time that one file may take');
      if (error instanceof LimitHit && error.killedBy === 'output') throw new UnreadableFile('Too large for LibreOffice: what it makes of it is larger than 256 MiB');
      if (error instanceof LimitHit && error.killedBy !== 'cancel') throw new UnreadableFile('Too large for LibreOffice: it needs more memory than one file may use');
      if (error instanceof ChildDied) throw new UnreadableFile('LibreOffice ends without an answer when it opens this file: it may be damaged');
      throw error;
    }
    if (frame.header.kind === 'done') return frame.payload;
    throw new UnreadableFile(frame.header['reason'] === 'not written' ? 'LibreOffice opens it but cannot convert it' : 'LibreOffice cannot open it: it is damaged or needs a password');
  }

  async function convert(source: OfficeInput, to: OfficeTarget, options: ConvertOptions): Promise<Uint8Array> {
    if (missing !== null) throw new UnreadableFile(missing);
    const lane = await takeLane(options);
    try {
      return await convertNow(lane, source, to, options);
    } finally {
      await leaveLane(lane);
    }
  }

  function occupy(lane: Lane): void {
    lane.busy = true;
    clearTimeout(lane.idle);
    spare?.hold();
  }

  async function leaveLane(lane: Lane): Promise<void> {
    lane.busy = false;
    if (closed) await stop(lane);
    else {
      lane.idle = setTimeout(() => void stop(lane), lane.idleMs);
      lane.idle.unref();
      if (lanes.every((each) => !each.busy)) spare?.refill();
    }
    waiting.shift()?.();
  }

  function warm(owner: string): void {
    const [lane] = lanes as [Lane];
    if (missing !== null || closed || lane.busy || lanes.some((each) => each.running?.owner === owner)) return;
    occupy(lane);
    // One that does not start says so to the file that needs it, which tries again.
    void childFor(lane, owner, MOST_MS, undefined).catch(() => undefined).then(() => leaveLane(lane));
  }

  /** A lane of one's own; its LibreOffice is started anew when it has seen another owner's files. */
  async function takeLane({ owner, signal }: ConvertOptions): Promise<Lane> {
    const since = performance.now();
    for (;;) {
      signal?.throwIfAborted();
      if (closed) throw new Error('The converter is closed');
      const [first] = lanes as [Lane];
      const free = lanes.filter((lane) => !lane.busy);
      const lane =
        free.find((each) => each.running?.owner === owner) ??
        free.find((each) => each === first || each.running !== undefined || performance.now() - since >= patienceMs);
      if (lane !== undefined) {
        occupy(lane);
        return lane;
      }
      await turn(since, signal);
    }
  }

  /** Until a lane may have become free, or patience has run out. */
  function turn(since: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const left = patienceMs - (performance.now() - since);
      const timer = left > 0 ? setTimeout(wake, left) : undefined;
      function wake(): void {
        clearTimeout(timer);
        signal?.removeEventListener('abort', wake);
        waiting = waiting.filter((other) => other !== wake);
        resolve();
      }
      signal?.addEventListener('abort', wake, { once: true });
      waiting.push(wake);
    });
  }

  return {
    available: missing === null,
    missing,
    convert,
    toPdf: (source, options) => convert(source, 'pdf', options),
    warm,
    close: async () => {
      closed = true;
      // Each takes itself off the list by putting a new one in its place.
      for (const wake of waiting) wake();
      await Promise.all([...lanes.map(stop), spare?.close()]);
    },
  };
}
