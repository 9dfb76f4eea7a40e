import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { ChildDied, DEFAULT_LIMITS, LimitHit, type Frame, type Limits, type Payload, type Sandbox } from '../sandbox/types.ts';
import { runInTime, type FileTime } from './file-time.ts';
import { points, writePicturePdf, type PictureFrame } from './image/pdf.ts';
import { ChildPool } from './child-pool.ts';
import { UnreadableFile, type ReadResult } from './types.ts';

/** Pictures as documents: png, jpg, tiff (each of its pages one), webp. They are decoded in sandboxed children only. */

export interface ImageOptions {
  /** `png`, `jpg`, `tiff`, `webp`: what the sniffing found. */
  type: string;
  owner?: string;
  maxPages?: number;
  signal?: AbortSignal;
  /** What is left for this file over all its steps. */
  time?: FileTime;
  /** Called for each page (1-based) of the copy that is not whole: `partly` there, or `lost` and blank. */
  onDamage?: (page: number, damage: 'partly' | 'lost') => void;
}

export interface ImageReader {
  /** Every frame is an image-only page. Throws UnreadableFile. */
  read(input: Uint8Array | string, options: ImageOptions): Promise<ReadResult>;
  /** The PDF copy: one frame a page, upright, on white; frames that are damaged are blank, or end early. Throws UnreadableFile when all are. */
  toPdf(input: Uint8Array | string, options: ImageOptions): Promise<Uint8Array>;
  close(): Promise<void>;
}

export interface ImageReaderDeps {
  sandbox: Sandbox;
  /** Children at work at the same time. Default 1. */
  size?: number;
  limits?: Partial<Limits>;
  /** Default 100 million. */
  maxPixels?: number;
}

const LARGEST_FILE = 256 * 1024 ** 2;
const PACKAGES = ['sharp', '@img', 'detect-libc', 'semver'];

const measured = z.object({ frames: z.array(z.object({ width: z.number().int(), height: z.number().int(), dpi: z.number().positive() })) });
const encoded = z.object({
  width: z.number().int().positive(),
  height: z.number().int().positive(),
  dpi: z.number().positive(),
  colours: z.enum(['DeviceGray', 'DeviceRGB']),
  bits: z.union([z.literal(1), z.literal(8)]),
  filter: z.enum(['DCTDecode', 'FlateDecode']),
  damage: z.enum(['partly', 'lost']).optional(),
});
const problem = z.object({ problem: z.enum(['pages', 'pixels', 'damaged']), total: z.number().optional() });

export function createImageReader(deps: ImageReaderDeps): ImageReader {
  const maxPixels = deps.maxPixels ?? 100_000_000;
  const source = join(import.meta.dirname, '..');
  const modules = join(source, '..', 'node_modules');
  const limits: Partial<Limits> = { stdoutBytes: 512 * 1024 ** 2, ...deps.limits };
  const pool = new ChildPool({
    size: deps.size ?? 1,
    maxServed: 100,
    keepBelowBytes: (limits.memoryBytes ?? 1024 ** 3) / 2,
    idleMs: 15_000,
    start: () =>
      deps.sandbox.startChild({
        command: process.execPath,
        args: ['--no-warnings', join(import.meta.dirname, 'image', 'child.ts')],
        binds: [
          process.execPath,
          join(source, '..', 'package.json'),
          join(source, 'sandbox', 'frames.ts'),
          join(import.meta.dirname, 'image'),
          ...PACKAGES.map((name) => join(modules, name)).filter((path) => existsSync(path)),
        ],
        limits,
      }),
  });

  async function ask(op: 'measure' | 'encode', input: Uint8Array | string, options: ImageOptions, onPart?: (frame: Frame) => void): Promise<Frame> {
    const { owner = '', maxPages = 5000, signal, time } = options;
    const bytes = typeof input === 'string' ? (await stat(input)).size : input.byteLength;
    if (bytes === 0) throw new UnreadableFile('It is empty: the file has no bytes — upload it again');
    if (bytes > LARGEST_FILE) throw new UnreadableFile('Too large to read: pictures are read up to 256 MiB — upload a smaller copy');
    const payload: Payload = typeof input === 'string' ? { path: input, bytes } : input;
    let frame: Frame;
    try {
      frame = await pool.use({ owner, key: '', signal }, (member) =>
        runInTime(time, limits.wallMs ?? DEFAULT_LIMITS.wallMs, (wallMs) =>
          member.child.request({ op, maxPixels, maxPages }, payload, { wallMs, ...(signal ? { signal } : {}), ...(onPart ? { onPart } : {}) }),
        ),
      );
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof LimitHit && error.killedBy === 'time') throw new UnreadableFile('Too slow to read: this picture takes longer than is allowed — upload a simpler copy');
      if (error instanceof LimitHit) throw new UnreadableFile('Too large to read: this picture unpacks to more than is allowed — upload a smaller copy');
      if (error instanceof ChildDied) throw new UnreadableFile('It is damaged: the picture could not be read — upload an intact copy');
      throw error;
    }
    if (frame.header.kind !== 'error') return frame;
    const found = problem.parse(frame.header);
    if (found.problem === 'pixels') {
      throw new UnreadableFile(`Too large to read: the picture has more than ${maxPixels / 1e6} million pixels — upload a smaller copy`);
    }
    if (found.problem === 'pages') {
      throw new UnreadableFile(`Too large to read: it has ${found.total} pages, more than the ${maxPages} allowed — split it and upload the parts`);
    }
    throw new UnreadableFile('It is damaged: the picture could not be read — upload an intact copy');
  }

  return {
    async read(input, options) {
      const { frames } = measured.parse((await ask('measure', input, options)).header);
      return {
        type: options.type,
        pagesEstimated: false,
        pages: frames.map(({ width, height, dpi }, index) => ({
          number: index + 1,
          text: '',
          fate: 'image_only',
          toView: true,
          width: points(width, dpi),
          height: points(height, dpi),
        })),
      };
    },

    async toPdf(input, options) {
      const frames: PictureFrame[] = [];
      let copyBytes = 0;
      await ask('encode', input, options, ({ header, payload }) => {
        copyBytes += payload.byteLength;
        if (copyBytes > LARGEST_FILE) throw new UnreadableFile('Too large to read: its pictures together are larger than 256 MiB — split it and upload the parts');
        const { damage, ...stream } = encoded.parse(header);
        frames.push({ ...stream, bytes: payload });
        if (damage !== undefined) options.onDamage?.(frames.length, damage);
      });
      return writePicturePdf(frames);
    },

    close: () => pool.close(),
  };
}
