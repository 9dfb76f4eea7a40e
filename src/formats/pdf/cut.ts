import type { Limits, Sandbox } from '../../sandbox/types.ts';

/** One page as a PDF of its own, by qpdf: it leaves out what the page does not use (processing.md section 2). */

export const QPDF = '/usr/bin/qpdf';

/** Undefined when qpdf cannot read the file or has no such page: PDFium then tries, and says what is wrong. */
export async function cutWithQpdf(
  sandbox: Sandbox,
  command: string,
  input: Uint8Array | string,
  page: number,
  limits: Partial<Limits>,
  signal: AbortSignal | undefined,
): Promise<Uint8Array | undefined> {
  const result = await sandbox.runTool({
    command,
    args: [
      '--warning-exit-0',
      '--empty', '--pages', '{in}/in.pdf', String(page), '--',
      '--remove-unreferenced-resources=yes', '--object-streams=generate',
      '{out}/page.pdf',
    ],
    files: [typeof input === 'string' ? { name: 'in.pdf', path: input } : { name: 'in.pdf', bytes: input }],
    outputs: true,
    limits: { ...limits, wallMs: Math.min(limits.wallMs ?? 60_000, 60_000) },
    ...(signal ? { signal } : {}),
  });
  signal?.throwIfAborted();
  if (result.code !== 0) return undefined;
  return result.outputs.find((file) => file.name === 'page.pdf')?.bytes;
}
