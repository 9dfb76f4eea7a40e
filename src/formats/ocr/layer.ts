import type { Limits, Sandbox, ToolFile } from '../../sandbox/types.ts';
import type { Recognised } from './tesseract.ts';

/** Lays invisible words over the pages of a PDF, by qpdf: the pages themselves stay as they are. */

const QPDF = '/usr/bin/qpdf';
/** Names on one command line; more pages are laid in several runs. */
const LAYERS_A_RUN = 400;

/** `layers` by 1-based page. Undefined when qpdf cannot write the file. */
export async function layWords(
  sandbox: Sandbox,
  input: Uint8Array | string,
  layers: ReadonlyMap<number, Pick<Recognised, 'layer' | 'turns'>>,
  limits: Partial<Limits>,
  signal: AbortSignal | undefined,
): Promise<Uint8Array | undefined> {
  const pages = [...layers.keys()].toSorted((a, b) => a - b);
  let current: Uint8Array | string = input;
  for (let at = 0; at < pages.length; at += LAYERS_A_RUN) {
    const part = pages.slice(at, at + LAYERS_A_RUN);
    const words = await joinLayers(sandbox, part.map((page) => layers.get(page)!), limits, signal);
    if (words === undefined) return undefined;
    const source: ToolFile = typeof current === 'string' ? { name: 'in.pdf', path: current } : { name: 'in.pdf', bytes: current };
    const files: ToolFile[] = [source, { name: 'words.pdf', bytes: words }];
    const overlay = ['--overlay', '{in}/words.pdf', `--to=${part.join(',')}`, '--', '--object-streams=generate', '{out}/out.pdf'];
    let written = await qpdf(sandbox, files, ['--decrypt', '{in}/in.pdf', ...overlay], 'out.pdf', limits, signal);
    if (written !== undefined && !hasSize(written)) {
      // qpdf 11 forgets /Size when the damaged original had none, and nobody could open that: take its pages alone.
      written = await qpdf(sandbox, files, ['--empty', '--pages', '{in}/in.pdf', '1-z', '--', ...overlay], 'out.pdf', limits, signal);
    }
    if (written === undefined) return undefined;
    current = written;
  }
  return typeof current === 'string' ? undefined : current;
}

/** Does the cross-reference stream at the end say how many objects there are? */
function hasSize(pdf: Uint8Array): boolean {
  const at = Buffer.from(pdf.buffer, pdf.byteOffset, pdf.byteLength).lastIndexOf('/Type /XRef');
  return at < 0 || Buffer.from(pdf.subarray(at, at + 1024)).includes('/Size');
}

/** All layers as one PDF, each turned back to how its page lies. */
function joinLayers(
  sandbox: Sandbox,
  layers: Pick<Recognised, 'layer' | 'turns'>[],
  limits: Partial<Limits>,
  signal: AbortSignal | undefined,
): Promise<Uint8Array | undefined> {
  const files = layers.map(({ layer }, index) => ({ name: `w${index}.pdf`, bytes: layer }));
  const turned = layers.flatMap(({ turns }, index) => (turns === 0 ? [] : [`--rotate=+${360 - turns * 90}:${index + 1}`]));
  const args = ['--empty', '--pages', ...files.flatMap((file) => [`{in}/${file.name}`, '1']), '--', ...turned, '{out}/words.pdf'];
  return qpdf(sandbox, files, args, 'words.pdf', limits, signal);
}

async function qpdf(
  sandbox: Sandbox,
  files: ToolFile[],
  args: string[],
  output: string,
  limits: Partial<Limits>,
  signal: AbortSignal | undefined,
): Promise<Uint8Array | undefined> {
  const result = await sandbox.runTool({
    command: QPDF,
    args: ['--warning-exit-0', ...args],
    files,
    outputs: true,
    limits: { openFiles: 1024, ...limits, fileBytes: 2 * 1024 ** 3 },
    ...(signal ? { signal } : {}),
  });
  signal?.throwIfAborted();
  return result.code === 0 ? result.outputs.find((file) => file.name === output)?.bytes : undefined;
}
