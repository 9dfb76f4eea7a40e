import iconv from 'iconv-lite';
import { cleanText, paginate } from './flow.ts';
import { readHtmlBlocks } from './html-blocks.ts';
import { sensibleTitle } from './ooxml.ts';
import { decodeText, looksLikeText } from './text.ts';
import { type Format, type ReadOptions, type ReadResult, UnreadableFile } from './types.ts';

/** A web page: its text with headings as sections, tables row by row. Nothing it refers to is fetched. */
export function readHtml(bytes: Uint8Array, options: ReadOptions): ReadResult {
  const { blocks, title } = readHtmlBlocks(decodeHtml(bytes));
  const pages = paginate(blocks, { maxPages: options.maxPages });
  options.onProgress?.(pages.length, pages.length);
  return { type: 'html', pages, pagesEstimated: true, title: title === undefined ? undefined : sensibleTitle(title) };
}

/** Byte order mark, then what the page declares, then what the bytes look like. */
export function decodeHtml(bytes: Uint8Array): string {
  if (bytes.length === 0) throw new UnreadableFile('The file is empty (0 bytes)');
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 4_096)).toString('latin1');
  const declared = /<meta[^>]+charset\s*=\s*(?:["']\s*)?([\w:.-]+)/i.exec(head)?.[1] ?? /^<\?xml[^>]+encoding\s*=\s*["']([\w:.-]+)/i.exec(head)?.[1];
  const hasMark = /^(\xef\xbb\xbf|\xff\xfe|\xfe\xff)/.test(head);
  if (declared && !hasMark && !/^utf-?(8|16)/i.test(declared) && iconv.encodingExists(declared)) {
    return cleanText(iconv.decode(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), declared));
  }
  return decodeText(bytes).text;
}

/** A comment ends with the first of its ends: were there a choice, thirty comments would have a thousand million readings. */
const opening = /^\ufeff?\s*(?:<\?xml[^>]*>\s*|<!--(?:[^-]|-(?!->))*-->\s*)*<(?:!doctype\s+html|html|head|body)\b/i;

export const html: Format = {
  type: 'html',
  sniff: (head, name) => {
    const start = Buffer.from(head.subarray(0, 8_192)).toString('latin1').replace(/^\xef\xbb\xbf/, '').replaceAll('\0', '').replace(/^(\xff\xfe|\xfe\xff)/, '');
    return opening.test(start) || (/\.(html?|xhtml)$/i.test(name) && /<[a-z!][^>]*>/i.test(start) && looksLikeText(head));
  },
  read: async (bytes, options) => readHtml(bytes, options),
};
