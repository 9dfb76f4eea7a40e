import { createReadStream } from 'node:fs';
import type { Writable } from 'node:stream';
import { encodeFrameHead, FrameDecoder } from './frames.ts';
import { launch, type Launched } from './launch.ts';
import { fill, type Surroundings } from './surroundings.ts';
import {
  ChildDied,
  DEFAULT_LIMITS,
  LimitHit,
  type Child,
  type ChildSpec,
  type Frame,
  type KilledBy,
  type Limits,
  type Payload,
  type RequestOptions,
} from './types.ts';
import { makeWorkspace, type Workspace } from './workspace.ts';

/** Starts a warm child and waits for its `ready` frame. Throws LimitHit or ChildDied when it does not get there. */
export async function startChild(around: Surroundings, spec: ChildSpec): Promise<Child> {
  const limits: Limits = { ...DEFAULT_LIMITS, ...spec.limits };
  const inside = around.mode === 'bubblewrap';
  const workspace = await makeWorkspace(around.tempBase, around.asRoot, inside, []);
  let run: Launched;
  try {
    const tmp = inside ? '/tmp' : workspace.tmpDir;
    run = await launch(
      {
        mode: around.mode,
        asRoot: around.asRoot,
        // CPU is watched per request: a warm child adds up over its life.
        limits: { ...limits, cpuMs: 0 },
        command: spec.command,
        args: fill(spec.args, { tmp }),
        env: { PATH: '/usr/bin', HOME: tmp, TMPDIR: tmp, LANG: 'C.UTF-8', ...spec.env },
        binds: spec.binds ?? [],
      },
      workspace.tmpDir,
      spec.descriptors ?? [],
    );
  } catch (error) {
    await workspace.remove();
    throw error;
  }
  const child = new WarmChild(run, limits, workspace);
  await child.waitUntilReady(spec.startMs ?? 30_000, spec.signal);
  return child;
}

interface Waiting {
  resolve(frame: Frame): void;
  reject(error: Error): void;
  onPart: RequestOptions['onPart'];
}

class WarmChild implements Child {
  readonly #run: Launched;
  readonly #limits: Limits;
  readonly #gone: Promise<void>;
  #waiting: Waiting | undefined;
  #killedBy: KilledBy | undefined;
  /** What went wrong on our side of the pipe, told instead of the death that it led to. */
  #failure: unknown;
  /** Frames that came in one chunk with one that is still being taken. */
  #frames: Frame[] = [];
  #taking = false;
  #alive = true;
  #stopped = false;
  served = 0;

  constructor(run: Launched, limits: Limits, workspace: Workspace) {
    this.#run = run;
    this.#limits = limits;
    const decoder = new FrameDecoder(limits.stdoutBytes);
    run.stdout.on('data', (chunk: Buffer) => {
      if (!this.#alive) return;
      let frames: Frame[];
      try {
        frames = decoder.push(chunk);
      } catch {
        this.#end('output');
        return;
      }
      this.#frames.push(...frames);
      this.#takeAll();
    });
    this.#gone = run.exited.then(async ({ code, signal }) => {
      this.#alive = false;
      await workspace.remove();
      const waiting = this.#waiting;
      this.#waiting = undefined;
      if (waiting === undefined) return;
      if (this.#failure !== undefined) waiting.reject(this.#failure as Error);
      else if (this.#killedBy !== undefined) waiting.reject(new LimitHit(this.#killedBy));
      else waiting.reject(new ChildDied(this.#stopped ? 'it was stopped' : `code ${code}, signal ${signal}`, run.stderr()));
    });
  }

  get pid(): number {
    return this.#run.pid;
  }

  get alive(): boolean {
    return this.#alive;
  }

  get peakBytes(): number {
    return this.#run.watchdog.peakBytes;
  }

  async waitUntilReady(wallMs: number, signal: AbortSignal | undefined): Promise<void> {
    const frame = await this.#await({ wallMs, cpuMs: this.#limits.cpuMs, ...(signal ? { signal } : {}) });
    if (frame.header.kind !== 'ready') {
      await this.stop();
      throw new ChildDied('it did not say that it was ready', this.#run.stderr());
    }
  }

  async request(header: Record<string, unknown>, payload?: Payload, options: RequestOptions = {}): Promise<Frame> {
    if (!this.#alive || this.#stopped) throw new ChildDied('before the request', this.#run.stderr());
    const answer = this.#await(options);
    // The answer may fail (a limit, a death) while the payload is still on its way: both are waited for together.
    const sent = this.#send(header, payload).catch((error: unknown) => {
      if (this.#alive) this.#end('cancel');
      throw error;
    });
    const [frame] = await Promise.all([answer, sent]);
    this.served += 1;
    return frame;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#alive) this.#run.watchdog.killAll();
    await this.#gone;
  }

  #await(options: RequestOptions): Promise<Frame> {
    if (this.#waiting !== undefined) throw new Error('A warm child takes one request at a time');
    return new Promise<Frame>((resolve, reject) => {
      this.#waiting = { resolve, reject, onPart: options.onPart };
      this.#run.watchdog.start(
        {
          memoryBytes: this.#limits.memoryBytes,
          wallMs: options.wallMs ?? this.#limits.wallMs,
          cpuMs: options.cpuMs ?? this.#limits.cpuMs,
          signal: options.signal,
        },
        (why) => (this.#killedBy ??= why),
      );
    });
  }

  #end(why: KilledBy): void {
    this.#killedBy ??= why;
    this.#run.watchdog.pause();
    this.#run.watchdog.killAll();
  }

  /** Frames in order; the pipe rests while one of them is being taken. */
  #takeAll(): void {
    while (this.#alive && !this.#taking && this.#frames.length > 0) {
      let taken: void | Promise<void>;
      try {
        taken = this.#take(this.#frames.shift()!);
      } catch (error) {
        return this.#fail(error);
      }
      if (!(taken instanceof Promise)) continue;
      this.#taking = true;
      this.#run.stdout.pause();
      this.#run.watchdog.hold();
      taken.then(
        () => {
          this.#taking = false;
          this.#run.watchdog.resume();
          this.#takeAll();
          if (!this.#taking) this.#run.stdout.resume();
        },
        (error: unknown) => this.#fail(error),
      );
    }
  }

  #fail(error: unknown): void {
    this.#failure ??= error;
    if (this.#alive) this.#end('cancel');
  }

  #take(frame: Frame): void | Promise<void> {
    const waiting = this.#waiting;
    // A child that speaks unasked is broken or worse.
    if (waiting === undefined) return this.#end('output');
    if (frame.header.kind === 'part') return waiting.onPart?.(frame);
    this.#waiting = undefined;
    this.#run.watchdog.pause();
    waiting.resolve(frame);
  }

  async #send(header: Record<string, unknown>, payload: Payload | undefined): Promise<void> {
    const { stdin } = this.#run;
    if (payload === undefined || payload instanceof Uint8Array) {
      stdin.write(encodeFrameHead({ ...header, kind: 'request' }, payload?.byteLength ?? 0));
      if (payload !== undefined) await write(stdin, payload);
      return;
    }
    stdin.write(encodeFrameHead({ ...header, kind: 'request' }, payload.bytes));
    let sent = 0;
    if (payload.bytes > 0) {
      const stream = createReadStream(payload.path, { end: payload.bytes - 1, highWaterMark: 256 * 1024 });
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        sent += chunk.length;
        if (!this.#alive) return;
        await write(stdin, chunk);
      }
    }
    if (sent !== payload.bytes) throw new Error('The file became shorter while it was read');
  }
}

/** Writes and waits while the pipe is full; a closed pipe ends the wait, the exit tells the rest. */
function write(stdin: Writable, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    if (stdin.destroyed || stdin.write(bytes)) return resolve();
    const done = (): void => {
      stdin.off('drain', done);
      stdin.off('close', done);
      stdin.off('error', done);
      resolve();
    };
    stdin.once('drain', done);
    stdin.once('close', done);
    stdin.once('error', done);
  });
}
