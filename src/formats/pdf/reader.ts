import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { open, stat, type FileHandle } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import sharp from 'sharp';
import { z } from 'zod';
import { ChildDied, LimitHit, type Frame, type Limits, type Payload, type Sandbox } from '../../sandbox/types.ts';
import { runInTime, type FileTime } from '../file-time.ts';
import { mostText, tooMuchText } from '../read-answer.ts';
import { UnreadableFile, type ReadOptions, type ReadPage, type ReadResult } from '../types.ts';
import { cutWithQpdf, QPDF } from './cut.ts';
import { fallbackFonts, FONT_FOLDER } from './fonts.ts';
import { ChildPool, type Member } from '../child-pool.ts';
import { lackedFonts, pageNotice, sentences, type Problem } from './problems.ts';

/** The parent's side of reading PDFs: a pool of warm sandboxed children. Holds at most one copy of a file, a path none. */

/** Bytes in memory, or a path that is streamed to the child. */
export type PdfInput = Uint8Array | string;

export interface CallOptions {
  /** Whose file it is: a child never serves two owners. Default: one and the same. */
  owner?: string;
  /** Names the content (its hash): calls that follow each other on one file then send it once. */
  key?: string;
  signal?: AbortSignal;
}

export type PdfReadOptions = Partial<ReadOptions> & CallOptions & {
  /** What is left for this file over all its steps. */
  time?: FileTime;
};

export interface DrawOptions extends CallOptions {
  /** Default 110 (seeds/000). */
  dpi?: number;
  /** Longer side at most. Default 1,568 (seeds/000). */
  maxSidePx?: number;
  /** Wall time at most. Default: twice what a reading gives one page. */
  mostMs?: number;
}

export interface PdfReader {
  /** Throws UnreadableFile with a sentence for the file's owner; an abort throws the signal's reason. */
  read(input: PdfInput, options?: PdfReadOptions): Promise<ReadResult>;
  /** One page (1-based) as PNG. Throws RangeError past the end, else as `read`. */
  draw(input: PdfInput, page: number, options?: DrawOptions): Promise<Uint8Array>;
  /** One page (1-based) in shades of grey, for OCR: not encoded. Errors as `draw`. */
  drawGrey(input: PdfInput, page: number, options?: DrawOptions): Promise<{ width: number; height: number; pixels: Uint8Array }>;
  /** One page (1-based) alone as PDF with its text layer. Errors as `draw`. */
  cut(input: PdfInput, page: number, options?: CallOptions): Promise<Uint8Array>;
  close(): Promise<void>;
}

export interface PdfReaderDeps {
  sandbox: Sandbox;
  /** Children at work at the same time. Default: the number of processors; beyond that, one is started only when none becomes free soon. */
  size?: number;
  /** When the child that is kept for the next owner is started. Default: beside the first one's work. */
  spare?: { quietMs: number; firstMs?: number };
  limits?: Partial<Limits>;
  /** Default /usr/bin/qpdf; where there is none, PDFium cuts. */
  qpdfPath?: string;
  /** Where fonts are looked for when the file brings none. Default /usr/share/fonts. */
  fontFolder?: string;
  /** A page that takes longer than this is given up and named. Default 30 s. */
  pageMs?: number;
  log?: (message: string) => void;
}

/** Larger files are not sent but shown to a child of their own through an open descriptor. */
const LARGE_BYTES = 64 * 1024 ** 2;
/** Pages that may end a child before the whole file is given up. */
const MAX_LOST_PAGES = 3;

const partFrame = z.union([
  z.object({ at: z.number().int(), total: z.number().int() }),
  z.object({
    pages: z.array(
      z.object({
        number: z.number().int(),
        text: z.string(),
        fate: z.enum(['text', 'ocr', 'image_only', 'garbled', 'empty', 'failed']),
        toView: z.boolean(),
        width: z.number().nullish().transform((value) => value ?? undefined),
        height: z.number().nullish().transform((value) => value ?? undefined),
        sections: z.array(z.object({ start: z.number(), title: z.string() })).optional(),
        notes: z.string().optional(),
        hidden: z.string().optional(),
        scan: z.literal(true).optional(),
      }),
    ),
  }),
]);
const problemFrame = z.object({
  problem: z.enum(['damaged', 'password', 'protection', 'pages', 'no page', 'memory', 'crash']),
  total: z.number().optional(),
});
const drawnFrame = z.object({
  width: z.number().int().positive(),
  height: z.number().int().positive(),
  channels: z.union([z.literal(1), z.literal(4)]),
});

/** Nearest folder upwards that holds `node_modules/<name>`: the path as the child will look for it. */
function packageFolder(name: string): string {
  for (let at = import.meta.dirname; ; at = dirname(at)) {
    const path = join(at, 'node_modules', name);
    if (existsSync(path)) return path;
    if (at === dirname(at)) throw new Error(`${name} is not installed`);
  }
}

export function createPdfReader(deps: PdfReaderDeps): PdfReader {
  const limits: Partial<Limits> = { stdoutBytes: 128 * 1024 ** 2, ...deps.limits };
  const memoryBytes = limits.memoryBytes ?? 1024 ** 3;
  const wallMs = limits.wallMs ?? 120_000;
  const pageMs = deps.pageMs ?? 30_000;
  const qpdf = deps.qpdfPath ?? QPDF;
  const fontFolder = deps.fontFolder ?? FONT_FOLDER;
  const source = join(import.meta.dirname, '..', '..');
  const pool = new ChildPool({
    size: deps.size ?? availableParallelism(),
    enough: availableParallelism(),
    spare: deps.spare ?? { quietMs: 0 },
    maxServed: 200,
    keepBelowBytes: memoryBytes / 2,
    idleMs: 30_000,
    start: (descriptors) =>
      deps.sandbox.startChild({
        command: process.execPath,
        // The heap's maximum leaves room for Node and the file itself.
        args: ['--no-warnings', '--max-old-space-size=384', join(import.meta.dirname, 'child.ts'), String(Math.floor(memoryBytes * 0.7)), fontFolder],
        binds: [
          process.execPath,
          join(source, '..', 'package.json'),
          join(source, 'sandbox', 'frames.ts'),
          import.meta.dirname,
          packageFolder('@embedpdf/pdfium'),
          ...fallbackFonts(fontFolder),
        ],
        limits,
        ...(descriptors ? { descriptors } : {}),
      }),
  });

  /** Opens the input for one call; `run` sends a request about it. */
  async function withFile<T>(
    input: PdfInput,
    options: CallOptions,
    work: (run: (header: Record<string, unknown>, more: { wallMs: number; signal?: AbortSignal | undefined; onPart?: (frame: Frame) => void }) => Promise<Frame>) => Promise<T>,
  ): Promise<T> {
    const size = typeof input === 'string' ? (await stat(input)).size : input.byteLength;
    if (size === 0) throw new UnreadableFile(sentences.empty());
    const key = options.key ?? randomUUID();
    const owner = options.owner ?? '';
    let handle: FileHandle | undefined;
    if (typeof input === 'string' && size > LARGE_BYTES) handle = await open(input, 'r');
    const file = handle;
    try {
      return await work((header, more) =>
        pool.use(
          { owner, key, signal: options.signal, ...(file ? { descriptors: () => [file.fd] } : {}) },
          async (member: Member) => {
            const kept = member.key === key;
            const payload: Payload | undefined = kept || file ? undefined : typeof input === 'string' ? { path: input, bytes: size } : input;
            // Unknown until it has answered: a failed opening leaves nothing behind.
            member.key = '';
            const frame = await member.child.request({ ...header, key, file: kept ? 'kept' : file ? size : 'payload' }, payload, {
              wallMs: more.wallMs,
              ...(more.signal ? { signal: more.signal } : {}),
              ...(more.onPart ? { onPart: more.onPart } : {}),
            });
            if (frame.header.kind === 'done') member.key = key;
            return frame;
          },
        ),
      );
    } finally {
      await handle?.close();
    }
  }

  function unreadable(problem: Problem, total: number | undefined, maxPages: number): UnreadableFile {
    return new UnreadableFile(sentences[problem]({ memoryBytes, wallMs, total, maxPages }));
  }

  async function read(input: PdfInput, options: PdfReadOptions = {}): Promise<ReadResult> {
    return runInTime(options.time, wallMs, (mostMs) => readWithin(input, options, mostMs));
  }

  async function readWithin(input: PdfInput, options: PdfReadOptions, mostMs: number): Promise<ReadResult> {
    const maxPages = options.maxPages ?? 5000;
    const startedAt = performance.now();
    const lost = new Map<number, Problem>();
    return withFile(input, options, async (run) => {
      for (;;) {
        const pages: ReadPage[] = [];
        let at = 0;
        let total = 0;
        let text = 0;
        const stalled = new AbortController();
        const stall = setTimeout(() => stalled.abort(), pageMs);
        const onPart = (frame: Frame): void => {
          stall.refresh();
          const part = partFrame.parse(frame.header);
          if ('pages' in part) {
            for (const page of part.pages) text += page.text.length + (page.notes?.length ?? 0) + (page.hidden?.length ?? 0);
            if (text > mostText) throw tooMuchText();
            pages.push(...part.pages);
            return;
          }
          ({ at, total } = part);
          options.onProgress?.(at - 1, total);
        };
        let frame: Frame;
        try {
          const signal = options.signal ? AbortSignal.any([options.signal, stalled.signal]) : stalled.signal;
          const left = mostMs - (performance.now() - startedAt);
          frame = await run({ op: 'read', maxPages, skip: [...lost.keys()] }, { wallMs: Math.max(1, left), signal, onPart });
        } catch (error) {
          options.signal?.throwIfAborted();
          const problem = problemOf(error);
          if (problem === undefined) throw error;
          deps.log?.(`A PDF reading ended at page ${at} of ${total}: ${problem}`);
          const outOfTime = performance.now() - startedAt >= mostMs;
          if (at === 0 || outOfTime || lost.size + 1 >= total || lost.size >= MAX_LOST_PAGES) throw unreadable(problem, total, maxPages);
          lost.set(at, problem);
          continue;
        } finally {
          clearTimeout(stall);
        }
        if (frame.header.kind === 'error') {
          const failed = problemFrame.parse(frame.header);
          // A trap inside PDFium: the child ends itself after saying so.
          const trap = failed.problem === 'crash' || failed.problem === 'memory' ? failed.problem : undefined;
          if (trap !== undefined && at > 0 && lost.size + 1 < total && lost.size < MAX_LOST_PAGES) {
            lost.set(at, trap);
            continue;
          }
          throw unreadable(failed.problem === 'no page' ? 'damaged' : failed.problem, failed.total, maxPages);
        }
        if (pages.every((page) => page.fate === 'failed')) throw unreadable('damaged', total, maxPages);
        options.onProgress?.(total, total);
        const title = z.string().optional().parse(frame.header['title']);
        const notices = [...[...lost].map(([number, problem]) => pageNotice(number, problem)), ...(frame.header['lacksFonts'] === true ? [lackedFonts] : [])];
        return {
          type: 'pdf',
          pages,
          pagesEstimated: false,
          ...(title !== undefined ? { title } : {}),
          ...(notices.length > 0 ? { notices } : {}),
        };
      }
    });
  }

  /** A request about one page: its errors are the file's or the caller's. */
  async function onPage(input: PdfInput, options: CallOptions, header: Record<string, unknown>, mostMs = pageMs * 2): Promise<Frame> {
    const frame = await withFile(input, options, (run) => run(header, { wallMs: Math.min(wallMs, mostMs), signal: options.signal })).catch(
      (error: unknown) => {
        options.signal?.throwIfAborted();
        const problem = problemOf(error);
        throw problem === undefined ? error : unreadable(problem, undefined, 0);
      },
    );
    if (frame.header.kind !== 'error') return frame;
    const { problem, total } = problemFrame.parse(frame.header);
    if (problem === 'no page') throw new RangeError(`This document has ${total} pages`);
    throw unreadable(problem, total, 0);
  }

  async function drawn(input: PdfInput, page: number, options: DrawOptions, gray: boolean) {
    const { dpi = 110, maxSidePx = 1568, mostMs } = options;
    const frame = await onPage(input, options, { op: 'draw', page, dpi, maxSidePx, gray }, mostMs);
    return { ...drawnFrame.parse(frame.header), pixels: frame.payload };
  }

  async function draw(input: PdfInput, page: number, options: DrawOptions = {}): Promise<Uint8Array> {
    const { pixels, ...raw } = await drawn(input, page, options, false);
    const picture = sharp(pixels, { raw });
    if (raw.channels === 4) picture.removeAlpha();
    else picture.toColourspace('b-w');
    return picture.png({ compressionLevel: 3 }).toBuffer();
  }

  async function drawGrey(input: PdfInput, page: number, options: DrawOptions = {}): Promise<{ width: number; height: number; pixels: Uint8Array }> {
    const { width, height, pixels } = await drawn(input, page, options, true);
    if (pixels.byteLength !== width * height) throw unreadable('crash', undefined, 0);
    return { width, height, pixels };
  }

  async function cut(input: PdfInput, page: number, options: CallOptions = {}): Promise<Uint8Array> {
    if (existsSync(qpdf)) {
      const copy = await cutWithQpdf(deps.sandbox, qpdf, input, page, limits, options.signal);
      if (copy !== undefined) return copy;
    }
    return (await onPage(input, options, { op: 'cut', page })).payload;
  }

  return { read, draw, drawGrey, cut, close: () => pool.close() };
}

function problemOf(error: unknown): Problem | undefined {
  if (error instanceof LimitHit) return error.killedBy === 'memory' ? 'memory' : error.killedBy === 'output' ? 'crash' : 'time';
  if (error instanceof ChildDied) return 'crash';
  return undefined;
}
