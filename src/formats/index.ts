import { zip } from './archive.ts';
import { csv } from './csv.ts';
import { docx } from './docx.ts';
import { eml } from './eml.ts';
import { epub } from './epub.ts';
import { html } from './html.ts';
import { md } from './markdown.ts';
import { msg } from './msg.ts';
import { odp } from './odp.ts';
import { ods } from './ods.ts';
import { odt } from './odt.ts';
import { pptx } from './pptx.ts';
import { isContainer, isShiftedPdf, sniffContainer, sniffMagic, withNameNotice } from './sniff.ts';
import { txt } from './text.ts';
import { xlsx } from './xlsx.ts';
import { type Format, type ReadOptions, type ReadResult, UnreadableFile } from './types.ts';

/** Every format that reads bytes by itself; plain text is last because nearly anything could be it. A new one is a line here. */
const registered: Format[] = [docx, pptx, xlsx, odt, ods, odp, epub, msg, zip, html, eml, md, csv, txt];

/** Throws at start-up when two formats claim one type: one of them would silently never run. */
export function indexFormats(formats: Format[]): Map<string, Format> {
  const byType = new Map<string, Format>();
  for (const format of formats) {
    if (byType.has(format.type)) throw new Error(`Two formats are registered for type "${format.type}"`);
    byType.set(format.type, format);
  }
  return byType;
}

export const formats: ReadonlyMap<string, Format> = indexFormats(registered);

/**
 * Type by content; null for what Sergo does not read. Throws UnreadableFile for an empty file and one that needs a password.
 * Zip and OLE2 files are told apart by their directory, for which `bytes` is the whole file; without it by their beginning. For other
 * files `bytes` need only end as the file ends.
 */
export function sniff(head: Uint8Array, name: string, bytes?: Uint8Array): string | null {
  if (head.length === 0) throw new UnreadableFile('The file is empty (0 bytes)');
  const magic = sniffMagic(head);
  if (magic) return magic;
  if (isContainer(head)) return sniffContainer(bytes ?? head, name);
  const type = registered.find((format) => format.sniff(head, name))?.type ?? null;
  return isShiftedPdf(head, bytes ?? head, type) ? 'pdf' : type;
}

/**
 * Reads with the format of that type and says when the file's name promised another. `as` is what the file was before it was
 * converted to that type (doc → docx). Throws UnreadableFile.
 */
export async function readFormat(type: string, bytes: Uint8Array, { as = type, ...options }: ReadOptions & { as?: string }): Promise<ReadResult> {
  const format = formats.get(type);
  if (!format) throw new Error(`No format is registered for type "${type}"`);
  return withNameNotice({ ...(await format.read(bytes, options)), type: as }, options.name);
}
