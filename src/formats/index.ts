import { csv } from './csv.ts';
import { docx } from './docx.ts';
import { md } from './markdown.ts';
import { pptx } from './pptx.ts';
import { isContainer, nameNotice, sniffContainer, sniffMagic } from './sniff.ts';
import { txt } from './text.ts';
import { type Format, type ReadOptions, type ReadResult, UnreadableFile } from './types.ts';

/** Every format that reads bytes by itself; plain text is last because nearly anything could be it. A new one is a line here. */
const registered: Format[] = [docx, pptx, md, csv, txt];

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
 * Zip and OLE2 files are told apart by their directory, for which `bytes` is the whole file; without it by their beginning.
 */
export function sniff(head: Uint8Array, name: string, bytes?: Uint8Array): string | null {
  if (head.length === 0) throw new UnreadableFile('The file is empty (0 bytes)');
  const magic = sniffMagic(head);
  if (magic) return magic;
  if (isContainer(head)) return sniffContainer(bytes ?? head, name);
  return registered.find((format) => format.sniff(head, name))?.type ?? null;
}

/** Reads with the format of that type and says when the file's name promised another. Throws UnreadableFile. */
export async function readFormat(type: string, bytes: Uint8Array, options: ReadOptions): Promise<ReadResult> {
  const format = formats.get(type);
  if (!format) throw new Error(`No format is registered for type "${type}"`);
  const result = await format.read(bytes, options);
  const notice = nameNotice(options.name, result.type);
  return notice === undefined ? result : { ...result, notices: [notice, ...(result.notices ?? [])] };
}
