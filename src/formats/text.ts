import { decode, detectEncoding } from './encoding.ts';
import { cleanText, paginate, type FlowBlock } from './flow.ts';
import { type Format, type ReadOptions, type ReadResult, UnreadableFile } from './types.ts';

/** Plain text in whichever encoding it was written. */
export function readText(bytes: Uint8Array, options: ReadOptions): ReadResult {
  const { text } = decodeText(bytes);
  const pages = paginate(blocksOfText(text), { maxPages: options.maxPages });
  options.onProgress?.(pages.length, pages.length);
  return { type: 'txt', pages, pagesEstimated: true };
}

export const txt: Format = {
  type: 'txt',
  sniff: (head) => looksLikeText(head),
  read: async (bytes, options) => readText(bytes, options),
};

/** Paragraphs as blocks: blank lines part them; a block keeps its own lines. */
export function blocksOfText(text: string): FlowBlock[] {
  const blocks: FlowBlock[] = [];
  let at = 0;
  for (const match of text.matchAll(/\f|\n[ \t]*(?:\n[ \t]*)+/g)) {
    blocks.push({ text: text.slice(at, match.index) });
    at = match.index + match[0].length;
  }
  blocks.push({ text: text.slice(at) });
  return blocks.filter((block) => block.text.trim() !== '').flatMap((block) => (block.text.length > 3_000 ? cutAtLines(block.text) : [block]));
}

/** A long run of lines without blank ones (a log, a list) breaks between lines. */
function cutAtLines(text: string): FlowBlock[] {
  const blocks: FlowBlock[] = [];
  let at = 0;
  while (at < text.length) {
    const end = text.length - at > 1_000 ? text.indexOf('\n', at + 1_000) : -1;
    const stop = end < 0 ? text.length : end;
    blocks.push({ text: text.slice(at, stop), tight: at > 0 });
    at = stop + 1;
  }
  return blocks;
}

/**
 * Text of bytes in an unknown encoding: BOM, then UTF-8, UTF-16 without BOM, then the most likely legacy encoding. Throws
 * UnreadableFile for what is no text. NUL and control characters are gone from the answer, lines end `\n`.
 */
export function decodeText(bytes: Uint8Array): { text: string; encoding: string } {
  if (bytes.length === 0) throw new UnreadableFile('The file is empty (0 bytes)');
  const encoding = detectEncoding(bytes);
  if (encoding === undefined) throw new UnreadableFile('This is not a text file: its content is binary — upload it with its own file type');
  return { text: cleanText(decode(bytes, encoding)), encoding };
}

/** True when these first bytes are text in some encoding. */
export const looksLikeText = (head: Uint8Array): boolean => head.length > 0 && detectEncoding(head.subarray(0, 65_536)) !== undefined;
