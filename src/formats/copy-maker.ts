import type { DocumentReader, FileToRead } from './document-reader.ts';
import type { OfficeConverter } from './office-converter.ts';
import { UnreadableFile } from './types.ts';

/** PDF copies for every kind that can have one: office files by LibreOffice, mails as the page a person would print. */
export interface CopyMaker {
  /** Null when copies can be made, else the sentence that says what is missing and what that costs. */
  readonly missing: string | null;
  toPdf(file: FileToRead, type: string, signal: AbortSignal): Promise<Uint8Array>;
}

/** The mail's files are documents of their own by now. */
const nobody = { write: () => undefined, end: () => undefined };

const mails = new Set(['eml', 'msg']);

export function createCopyMaker({ office, reader, limits = {} }: { office: OfficeConverter; reader: DocumentReader; limits?: { maxPages?: number; maxUnpackedBytes?: number } }): CopyMaker {
  return {
    missing: office.missing,
    toPdf: async (file, type, signal) => {
      const { owner } = file;
      if (!mails.has(type)) return office.toPdf(file.path, { type, owner, signal });
      // LibreOffice knows no mails: what was read of it is printed. The text is ours and harmless by then.
      const { maxPages = 5_000, maxUnpackedBytes = 1024 ** 3 } = limits;
      const { pages } = await reader.read(type, file, { name: file.name, maxPages, maxUnpackedBytes, signal, onAttachment: () => nobody });
      const text = pages.map((page) => page.text).join('\n\n');
      if (text.trim() === '') throw new UnreadableFile('The mail has no text to print');
      return office.toPdf(printableMail(text), { type: 'html', owner, signal });
    },
  };
}

/** Headers as a block, then the body; nothing in it refers to anything. */
export function printableMail(text: string): Uint8Array {
  const escape = (part: string) => part.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const [head = '', ...body] = text.split('\n\n');
  const paragraphs = body.map((part) => `<p>${escape(part).replaceAll('\n', '<br>')}</p>`).join('\n');
  return Buffer.from(
    `<!DOCTYPE html><html><head><meta charset="utf-8"></head><body style="font-family: sans-serif; font-size: 10pt"><p>${escape(head).replaceAll('\n', '<br>')}</p><hr>\n${paragraphs}</body></html>`,
    'utf8',
  );
}
