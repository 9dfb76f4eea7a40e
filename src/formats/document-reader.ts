import { existsSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { DEFAULT_LIMITS, LimitHit, type Frame, type Payload, type Sandbox } from '../sandbox/index.ts';
import { ChildPool } from './child-pool.ts';
import { runInTime, type FileTime } from './file-time.ts';
import type { OfficeConverter, OfficeTarget } from './office-converter.ts';
import { listFontFamilies } from './fonts.ts';
import { createAnswer, type AttachmentTaker } from './read-answer.ts';
import { isContainer, mayHidePdf, sniffMagic, withNameNotice } from './sniff.ts';
import { type ReadOptions, type ReadResult, UnreadableFile } from './types.ts';

/** A file on disk; `owner` decides which warm child may see it. */
export interface FileToRead {
  path: string;
  bytes: number;
  name: string;
  owner: string;
}

export interface ReadSettings extends ReadOptions {
  signal: AbortSignal;
  /**
   * Takes each attachment piece by piece as it comes, so that none is in memory whole; the result then has none. Without it they are
   * in the result, up to 256 MiB.
   */
  onAttachment?: (name: string, inline: boolean) => AttachmentTaker;
  /** What is left for this file over all its steps; without it each step has the reader's whole limit. */
  time?: FileTime;
}

export interface DocumentReader {
  /** Type by content, or null for a kind that Sergo does not read. Throws UnreadableFile (empty, needs a password, damaged). */
  sniff(file: FileToRead): Promise<string | null>;
  /** Throws UnreadableFile for what is wrong with the file or too much of it; anything else is ours and may be tried again. */
  read(type: string, file: FileToRead, settings: ReadSettings): Promise<ReadResult>;
  close(): Promise<void>;
}

export interface DocumentReaderDeps {
  sandbox: Sandbox;
  /** Turns old kinds (doc, ppt, xls, rtf) into what the readers here read. Without it such files say what is missing. */
  office?: Pick<OfficeConverter, 'convert' | 'available'>;
  /** Types that another reader takes: PDF and pictures through PDFium. */
  others?: Record<string, (file: FileToRead, settings: ReadSettings) => Promise<ReadResult>>;
  limits?: { memoryBytes?: number; wallMs?: number; cpuMs?: number };
  /** Children at work at the same time. Default: the number of processors; beyond that, one is started only when none becomes free soon. */
  size?: number;
  /** Keeps one child ready for the next owner, started after so long without work. */
  spare?: { quietMs: number; firstMs?: number };
}

interface RequestSettings {
  signal?: AbortSignal;
  onPart?: (frame: Frame) => void | Promise<void>;
  time?: FileTime;
}

const headBytes = 65_536;
/** Held in the child's memory whole, beside what is made of it. */
const largestFile = 600 * 1024 ** 2;
/** A child that has read this many files is replaced: leaks and fragments end with it. */
const filesPerChild = 200;
const IDLE_MS = 60_000;

/** What LibreOffice turns an old kind into before it is read. */
const modernOf: Record<string, OfficeTarget> = { doc: 'docx', rtf: 'docx', ppt: 'pptx', xls: 'xlsx' };

/** Packages that formats import, seen by the child and nothing else of node_modules. */
const packages = [
  'fflate', 'saxes', 'xmlchars', 'iconv-lite', 'safer-buffer', 'htmlparser2', 'domhandler', 'domutils', 'dom-serializer',
  'domelementtype', 'entities', 'postal-mime', '@kenjiuno/msgreader', '@kenjiuno/decompressrtf',
];

/** Reads files in warm sandboxed children, one file at a time each; a child never sees files of two owners. */
export function createDocumentReader({ sandbox, office, others = {}, limits = {}, size = availableParallelism(), spare }: DocumentReaderDeps): DocumentReader {
  const pool = new ChildPool({
    size,
    enough: availableParallelism(),
    maxServed: filesPerChild,
    keepBelowBytes: (limits.memoryBytes ?? DEFAULT_LIMITS.memoryBytes) / 2,
    idleMs: IDLE_MS,
    start: () => sandbox.startChild({ ...childProgram(), limits: { ...limits, stdoutBytes: 128 * 1024 ** 2 } }),
    ...(spare && { spare }),
  });
  let fonts: Promise<string[]> | undefined;

  /** Asked once; only where PDF copies are made do fonts cost anything. */
  const availableFonts = async (): Promise<{ availableFonts?: string[] }> => {
    if (!office?.available) return {};
    const families = await (fonts ??= listFontFamilies(sandbox));
    return families.length > 0 ? { availableFonts: families } : {};
  };

  function request({ owner, name }: FileToRead, header: Record<string, unknown>, payload: Payload, { time, ...options }: RequestSettings = {}): Promise<Frame> {
    return pool.use({ owner, key: '', signal: options.signal }, async ({ child }) => {
      try {
        const frame = await runInTime(time, limits.wallMs ?? DEFAULT_LIMITS.wallMs, (wallMs) => child.request({ ...header, name }, payload, { ...options, wallMs }));
        if (frame.header.kind !== 'error') return frame;
        if (typeof frame.header['reason'] === 'string') throw new UnreadableFile(frame.header['reason']);
        throw new Error(`A format module failed: ${String(frame.header['message'])}`);
      } catch (error) {
        throw error instanceof LimitHit ? limitReason(error) : error;
      }
    });
  }

  return {
    async sniff(file) {
      if (file.bytes === 0) throw new UnreadableFile('The file is empty (0 bytes)');
      const head = await readPart(file, 0);
      const magic = sniffMagic(head);
      if (magic) return magic;
      const whole = isContainer(head);
      if (whole) checkSize(file);
      const ends = !whole && mayHidePdf(head) && file.bytes > head.length ? Buffer.concat([head, await readPart(file, Math.max(head.length, file.bytes - headBytes))]) : head;
      const frame = await request(file, { what: 'sniff' }, whole ? file : ends);
      const type = frame.header['type'];
      return typeof type === 'string' ? type : null;
    },

    async read(type, file, settings) {
      const other = others[type];
      if (other) return withNameNotice(await other(file, settings), file.name);
      checkSize(file);
      const { maxPages, maxUnpackedBytes, signal, time } = settings;
      const spending = time === undefined ? {} : { time };
      const answer = createAnswer(settings);
      const modern = modernOf[type];
      if (modern === undefined) {
        const frame = await request(file, { what: 'read', type, as: type, maxPages, maxUnpackedBytes, ...(await availableFonts()) }, file, { signal, onPart: answer.add, ...spending });
        return answer.finish(frame);
      }
      if (!office?.available) throw new UnreadableFile('LibreOffice is not installed on this server, so old office files are not read');
      const converted = await office.convert(file.path, modern, { type, owner: file.owner, signal, ...spending });
      const frame = await request(file, { what: 'read', type: modern, as: type, maxPages, maxUnpackedBytes, ...(await availableFonts()) }, converted, { signal, onPart: answer.add, ...spending });
      return answer.finish(frame);
    },

    close: () => pool.close(),
  };
}

function checkSize(file: FileToRead): void {
  if (file.bytes > largestFile) throw new UnreadableFile('Too large to read: files of this kind are read up to 600 MiB');
}

async function readPart(file: FileToRead, at: number): Promise<Uint8Array> {
  const handle = await open(file.path);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(headBytes), 0, headBytes, at);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

/** A limit says that this file needs more than any reading gets; a cancel is no fault of the file. */
function limitReason(error: LimitHit): Error {
  switch (error.killedBy) {
    case 'memory':
      return new UnreadableFile('Too large to read: reading it needs more memory than one file may use');
    case 'time':
      return new UnreadableFile('Too large to read: reading it takes longer than one file may take');
    case 'output':
      return new UnreadableFile('Too large to read: it holds more text than one document may have');
    default:
      return error;
  }
}

function childProgram(): { command: string; args: string[]; binds: string[] } {
  const here = import.meta.dirname;
  const root = dirname(dirname(here));
  return {
    command: process.execPath,
    // The heap ends before the watchdog does, so that a runaway is a clean exit; young garbage is cheap to hold.
    args: ['--max-old-space-size=900', '--max-semi-space-size=32', join(here, 'read-child.ts')],
    binds: [process.execPath, here, join(root, 'package.json'), ...packages.map((name) => join(root, 'node_modules', name)).filter(existsSync)],
  };
}
