import type { Limits, Sandbox, ToolFile } from '../../sandbox/types.ts';
import type { LayerPage } from './layer-page.ts';
import { writeLayerPdf } from './layer-pdf.ts';

/** Lays invisible words over the pages of a PDF, by qpdf: the pages themselves stay as they are. */

const QPDF = '/usr/bin/qpdf';

/** `layers` by 1-based page. Undefined when qpdf cannot write the file. */
export async function layWords(
  sandbox: Sandbox,
  input: Uint8Array | string,
  layers: ReadonlyMap<number, LayerPage>,
  limits: Partial<Limits>,
  signal: AbortSignal | undefined,
): Promise<Uint8Array | undefined> {
  const pages = [...layers.keys()].toSorted((a, b) => a - b);
  const source: ToolFile = typeof input === 'string' ? { name: 'in.pdf', path: input } : { name: 'in.pdf', bytes: input };
  const files: ToolFile[] = [source, { name: 'words.pdf', bytes: writeLayerPdf(pages.map((page) => layers.get(page)!)) }];
  const overlay = ['--overlay', '{in}/words.pdf', `--to=${pages.join(',')}`, '--', '--object-streams=generate', '{out}/out.pdf'];
  const written = await qpdf(sandbox, files, ['--decrypt', '{in}/in.pdf', ...overlay], limits, signal);
  if (written === undefined || hasSize(written)) return written;
  // qpdf 11 forgets /Size when the damaged original had none, and nobody could open that: take its pages alone.
  return qpdf(sandbox, files, ['--empty', '--pages', '{in}/in.pdf', '1-z', '--', ...overlay], limits, signal);
}

/** Does the cross-reference stream at the end say how many objects there are? */
function hasSize(pdf: Uint8Array): boolean {
  const at = Buffer.from(pdf.buffer, pdf.byteOffset, pdf.byteLength).lastIndexOf('/Type /XRef');
  return at < 0 || Buffer.from(pdf.subarray(at, at + 1024)).includes('/Size');
}

async function qpdf(
  sandbox: Sandbox,
  files: ToolFile[],
  args: string[],
  limits: Partial<Limits>,
  signal: AbortSignal | undefined,
): Promise<Uint8Array | undefined> {
  const result = await sandbox.runTool({
    command: QPDF,
    args: ['--warning-exit-0', ...args],
    files,
    outputs: true,
    limits: { ...limits, fileBytes: 2 * 1024 ** 3 },
    ...(signal ? { signal } : {}),
  });
  signal?.throwIfAborted();
  return result.code === 0 ? result.outputs.find((file) => file.name === 'out.pdf')?.bytes : undefined;
}
