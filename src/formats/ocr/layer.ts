import type { FileHandle } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import type { Readable } from 'node:stream';
import type { KilledBy, Limits, Sandbox, ToolFile } from '../../sandbox/types.ts';
import { UnreadableFile } from '../types.ts';
import type { LayerPage } from './layer-page.ts';
import { writeLayerPdf } from './layer-pdf.ts';

/** Lays invisible words over the pages of a PDF, by qpdf: the pages themselves stay as they are. */

export interface LayOptions<T> {
  /** Where qpdf is. */
  command: string;
  limits: Partial<Limits>;
  signal: AbortSignal | undefined;
  /** Takes what was written, which may be as large as the file: it is never in memory whole. */
  keep(file: Readable): Promise<T>;
}

/** The largest file that may come of it: that of an upload. */
const MOST_BYTES = 2 * 1024 ** 3;

/** `layers` by 1-based page. Throws UnreadableFile when qpdf is not there, or cannot write the file. */
export async function layWords<T>(sandbox: Sandbox, input: Uint8Array | string, layers: ReadonlyMap<number, LayerPage>, options: LayOptions<T>): Promise<T> {
  if (!existsSync(options.command)) throw new UnreadableFile('qpdf is not installed on this server — install qpdf and process it again to have one');
  const pages = [...layers.keys()].toSorted((a, b) => a - b);
  const source: ToolFile = typeof input === 'string' ? { name: 'in.pdf', path: input } : { name: 'in.pdf', bytes: input };
  const files: ToolFile[] = [source, { name: 'words.pdf', bytes: writeLayerPdf(pages.map((page) => layers.get(page)!)) }];
  const overlay = ['--overlay', '{in}/words.pdf', `--to=${pages.join(',')}`, '--', '--object-streams=generate', '{out}/out.pdf'];
  const written = await qpdf(sandbox, files, ['--decrypt', '{in}/in.pdf', ...overlay], options);
  // qpdf 11 forgets /Size when the damaged original had none, and nobody could open that: take its pages alone.
  const result = written === 'no size' ? await qpdf(sandbox, files, ['--empty', '--pages', '{in}/in.pdf', '1-z', '--', ...overlay], options) : written;
  if (typeof result === 'object') return result.kept;
  throw new UnreadableFile(
    result === undefined || result === 'no size'
      ? 'its pages could not be written again, which is so with damaged files — upload an intact copy to have one'
      : `writing it takes more ${result === 'output' ? 'space' : result} than one file may use — split it and upload the parts to have them`,
  );
}

/** What was kept, the limit that ended it, `no size` for a file that nobody could open, undefined when it failed. */
async function qpdf<T>(sandbox: Sandbox, files: ToolFile[], args: string[], { command, limits, signal, keep }: LayOptions<T>): Promise<{ kept: T } | 'no size' | KilledBy | undefined> {
  let taken: { kept: T } | 'no size' | undefined;
  const result = await sandbox.runTool({
    command,
    args: ['--warning-exit-0', ...args],
    files,
    outputs: async ({ name, bytes, file, code }) => {
      if (name !== 'out.pdf' || code !== 0) return;
      taken = (await hasSize(file, bytes)) ? { kept: await keep(file.createReadStream({ start: 0, autoClose: false })) } : 'no size';
    },
    limits: { ...limits, fileBytes: MOST_BYTES },
    ...(signal ? { signal } : {}),
  });
  signal?.throwIfAborted();
  return result.killedBy ?? taken;
}

/** Does the cross-reference stream that the end points at say how many objects there are? */
async function hasSize(file: FileHandle, bytes: number): Promise<boolean> {
  const textAt = async (at: number): Promise<string> => {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(1024), 0, 1024, Math.max(0, at));
    return buffer.subarray(0, bytesRead).toString('latin1');
  };
  const start = /startxref\s+(\d+)\s+%%EOF\s*$/.exec(await textAt(bytes - 1024))?.[1];
  if (start === undefined) return false;
  const head = await textAt(Number(start));
  return !head.includes('/Type /XRef') || head.includes('/Size');
}
