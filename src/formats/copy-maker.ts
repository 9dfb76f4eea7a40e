import type { DocumentReader, FileToRead } from './document-reader.ts';
import type { FileTime } from './file-time.ts';
import type { OfficeConverter } from './office-converter.ts';
import { pictureSize } from './picture-size.ts';
import type { AttachmentTaker } from './read-answer.ts';
import { sniffMagic } from './sniff.ts';
import { UnreadableFile } from './types.ts';

export interface CopyOptions {
  signal: AbortSignal;
  /** What is left for this file over all its steps. */
  time?: FileTime;
  /** Of pictures: called for each page (1-based) that is damaged, `partly` there or `lost`. */
  onDamage?: (page: number, damage: 'partly' | 'lost') => void;
}

/** PDF copies for every kind that can have one: office files and web pages by LibreOffice, mails, books and plain text as a person would print them. */
export interface CopyMaker {
  /** Null when copies can be made, else the sentence that says what is missing and what that costs. */
  readonly missing: string | null;
  toPdf(file: FileToRead, type: string, options: CopyOptions): Promise<Uint8Array>;
}

/** The mail's other files are documents of their own by now. */
const nobody = { write: () => undefined, end: () => undefined };

interface Printer {
  as: (text: string, pictures: readonly Uint8Array[]) => Uint8Array;
  empty: string;
}

/** Kinds that LibreOffice does not know, or would ask about, by how what was read of them is printed. */
const printed: Record<string, Printer> = {
  eml: { as: printableMail, empty: 'The mail has no text to print' },
  msg: { as: printableMail, empty: 'The mail has no text to print' },
  ...Object.fromEntries(['txt', 'md', 'csv', 'epub'].map((type) => [type, { as: printableText, empty: 'It has no text to print' }])),
};

/** Pictures of a mail's page that are printed: they are held in memory together. */
const mostPictures = 100;
const mostPictureBytes = 16 * 1024 ** 2;

/** Keeps the pictures that the mail's own page shows, as far as there is room. */
function takePictures(): { pictures: Uint8Array[]; onAttachment: (name: string, inline: boolean) => AttachmentTaker } {
  const pictures: Uint8Array[] = [];
  let held = 0;
  return {
    pictures,
    onAttachment: (_name, inline) => {
      if (!inline || pictures.length >= mostPictures) return nobody;
      const pieces: Uint8Array[] = [];
      return {
        write(piece) {
          held += piece.byteLength;
          if (held <= mostPictureBytes) pieces.push(Uint8Array.from(piece));
        },
        end(whole) {
          if (whole && held <= mostPictureBytes) pictures.push(Buffer.concat(pieces));
        },
      };
    },
  };
}

export function createCopyMaker({ office, reader, limits = {} }: { office: OfficeConverter; reader: DocumentReader; limits?: { maxPages?: number; maxUnpackedBytes?: number } }): CopyMaker {
  return {
    missing: office.missing,
    toPdf: async (file, type, options) => {
      const { owner } = file;
      const print = printed[type];
      if (print === undefined) return office.toPdf(file.path, { type, owner, ...options });
      // What was read of it is printed. The text is ours and harmless by then.
      const { maxPages = 5_000, maxUnpackedBytes = 1024 ** 3 } = limits;
      const { pictures, onAttachment } = takePictures();
      const { pages } = await reader.read(type, file, { name: file.name, maxPages, maxUnpackedBytes, ...options, onAttachment });
      const text = pages.map((page) => page.text).join('\n\n');
      if (text.trim() === '') throw new UnreadableFile(print.empty);
      return office.toPdf(print.as(text, pictures), { type: 'html', owner, ...options });
    },
  };
}

const escape = (part: string): string => part.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
const lines = (part: string): string => escape(part).replaceAll('\n', '<br>');
const sheet = (style: string, body: string): Uint8Array =>
  Buffer.from(`<!DOCTYPE html><html><head><meta charset="utf-8"></head><body style="${style}">${body}</body></html>`, 'utf8');

/** Headers as a block, then the body, then the pictures of its page; nothing in it refers to anything outside. */
export function printableMail(text: string, pictures: readonly Uint8Array[] = []): Uint8Array {
  const [head = '', ...body] = text.split('\n\n');
  const shown = pictures.map(printablePicture).join('');
  return sheet('font-family: sans-serif; font-size: 10pt', `<p>${lines(head)}</p><hr>\n${body.map((part) => `<p>${lines(part)}</p>`).join('\n')}${shown}`);
}

/** In pixels at 96 dpi: what fits on a page between its margins. */
const printable = { width: 600, height: 840 };
const pictureKinds: Record<string, string> = { png: 'png', jpg: 'jpeg' };
/** More would cost the mail its whole copy, for want of memory. */
const mostPixels = 40_000_000;

/** Only kinds whose size is known before they are decoded: one that is larger than the page is made to fit. */
function printablePicture(bytes: Uint8Array): string {
  const kind = pictureKinds[sniffMagic(bytes) ?? ''];
  const size = pictureSize(bytes);
  if (kind === undefined || size === undefined || size.width * size.height === 0 || size.width * size.height > mostPixels) return '';
  const scale = Math.min(1, printable.width / size.width, printable.height / size.height);
  const [width, height] = [size.width, size.height].map((side) => Math.max(1, Math.round(side * scale)));
  return `\n<p><img width="${width}" height="${height}" src="data:image/${kind};base64,${Buffer.from(bytes).toString('base64')}"></p>`;
}

/** Lines stay lines and keep what they are indented by. */
export function printableText(text: string): Uint8Array {
  const indented = (part: string): string => lines(part).replaceAll(/(?<=^|<br>) +|\t/g, (blanks) => '\u00a0'.repeat(blanks === '\t' ? 4 : blanks.length));
  return sheet('font-family: monospace; font-size: 10pt', text.split('\n\n').map((part) => `<p>${indented(part)}</p>`).join('\n'));
}
