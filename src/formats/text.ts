import { analyse } from 'chardet';
import iconv from 'iconv-lite';
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
  const decoded = encoding === 'utf-8' || encoding.startsWith('utf-16') ? new TextDecoder(encoding).decode(bytes) : iconv.decode(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), encoding);
  return { text: cleanText(decoded), encoding };
}

/** True when these first bytes are text in some encoding. */
export const looksLikeText = (head: Uint8Array): boolean => head.length > 0 && detectEncoding(head.subarray(0, 65_536)) !== undefined;

const sampleBytes = 256 * 1024;

function detectEncoding(bytes: Uint8Array): string | undefined {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8';
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return bytes[2] === 0 && bytes[3] === 0 && bytes.length >= 4 ? 'utf-32le' : 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  const sample = bytes.subarray(0, sampleBytes);
  const wide = detectUtf16(sample);
  if (wide) return wide;
  if (isBinary(sample)) return detectAsianUtf16(sample);
  if (isMostlyUtf8(sample)) return 'utf-8';
  return detectAsianUtf16(sample) ?? detectLegacy(sample);
}

/** UTF-16 without a BOM: one of each two bytes is nearly always 0, or at least the pairs decode to letters and spaces. */
function detectUtf16(sample: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  const pairs = Math.floor(sample.length / 2);
  if (pairs < 4) return undefined;
  let evenZeros = 0;
  let oddZeros = 0;
  let leBlanks = 0;
  let beBlanks = 0;
  for (let at = 0; at < pairs * 2; at += 2) {
    const even = sample[at]!;
    const odd = sample[at + 1]!;
    if (even === 0) evenZeros++;
    if (odd === 0) oddZeros++;
    if (odd === 0 && (even === 0x20 || even === 0x0a || even === 0x0d)) leBlanks++;
    if (even === 0 && (odd === 0x20 || odd === 0x0a || odd === 0x0d)) beBlanks++;
  }
  if (evenZeros + oddZeros < pairs * 0.02) return undefined;
  // Latin text has a zero in nearly each pair; Cyrillic or Chinese only at blanks and line ends, and none on the other side.
  const little = oddZeros > evenZeros * 8 && (oddZeros > pairs * 0.4 || leBlanks >= oddZeros * 0.3);
  const big = evenZeros > oddZeros * 8 && (evenZeros > pairs * 0.4 || beBlanks >= evenZeros * 0.3);
  const encoding = little ? 'utf-16le' : big ? 'utf-16be' : undefined;
  if (!encoding) return undefined;
  const text = new TextDecoder(encoding).decode(sample.subarray(0, Math.min(pairs * 2, 8_192)));
  return countOf(text, /[\p{L}\p{N}\p{P}\p{Z}\p{S}\p{M}\s]/gu) > text.length * 0.9 ? encoding : undefined;
}

/** Chinese, Japanese or Korean in UTF-16 without BOM, blanks or line ends: no zero byte tells, only what it decodes to. */
function detectAsianUtf16(sample: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  const even = sample.subarray(0, Math.min(sample.length & ~1, 8_192));
  if (even.length < 12) return undefined;
  for (const encoding of ['utf-16le', 'utf-16be'] as const) {
    const text = new TextDecoder(encoding).decode(even);
    const native = countOf(text, /[\u3000-\u30ff\u4e00-\u9fff\uac00-\ud7a3\uff00-\uffef]/g);
    // Punctuation, kana and particles are frequent in real text and rare in bytes read wrongly.
    const common = countOf(text, /[\u3001\u3002\u3040-\u30ff\uff0c\uff01\uff1f的是不一了在人有我他这這个個中]/g);
    if (native >= text.length * 0.9 && common >= text.length * 0.06) return encoding;
  }
  return undefined;
}

const countOf = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0;

/** Magic numbers of programs and containers, or more control bytes than any text has. */
function isBinary(sample: Uint8Array): boolean {
  let zeros = 0;
  let controls = 0;
  for (const byte of sample) {
    if (byte === 0) zeros++;
    else if (byte < 9 || (byte > 13 && byte < 27) || (byte > 27 && byte < 32) || byte === 127) controls++;
  }
  if (sample[0] === 0x4d && sample[1] === 0x5a && zeros > 0) return true;
  return zeros > Math.max(2, sample.length * 0.01) || controls > Math.max(2, sample.length * 0.02);
}

/** Text is UTF-8 even with a few bad bytes (they become U+FFFD): a damaged line is no reason to misread all others. */
function isMostlyUtf8(sample: Uint8Array): boolean {
  const text = new TextDecoder('utf-8').decode(sample);
  // A character cut at the end of the sample is not an error.
  const bad = countOf(text.slice(0, -2), /\ufffd/g);
  // oxlint-disable-next-line no-control-regex
  const wide = countOf(text, /[^\u0000-\u007f\ufffd]/g);
  return bad === 0 || wide > bad * 10;
}

/** How letters of each encoding's own language are spread: chardet's guess, checked against what the bytes become. */
function detectLegacy(sample: Uint8Array): string {
  const head = sample.subarray(0, 65_536);
  const buffer = Buffer.from(head.buffer, head.byteOffset, head.byteLength);
  const candidates = new Map<string, number>();
  for (const guess of analyse(head)) {
    const name = guess.name.toLowerCase();
    if (name.startsWith('utf-') || name === 'ascii' || !iconv.encodingExists(name)) continue;
    // windows-125x is a superset of its ISO sibling: the same letters, and quotation marks instead of controls.
    candidates.set(supersetOf[name] ?? name, Math.max(guess.confidence, candidates.get(supersetOf[name] ?? name) ?? 0));
  }
  // chardet does not know the DOS code pages.
  for (const name of ['windows-1252', 'cp866', 'cp850', 'windows-1251', 'koi8-r', 'iso-8859-5']) if (!candidates.has(name)) candidates.set(name, 0);
  let best = 'windows-1252';
  let bestScore = -Infinity;
  for (const [name, confidence] of candidates) {
    const score = plausibility(iconv.decode(buffer, name)) * 100 + confidence * 0.3 + (name === 'windows-1252' ? 1 : 0);
    if (score > bestScore) [best, bestScore] = [name, score];
  }
  return best;
}

const supersetOf: Record<string, string> = {
  'iso-8859-1': 'windows-1252', 'iso-8859-2': 'windows-1250', 'iso-8859-7': 'windows-1253',
  'iso-8859-8': 'windows-1255', 'iso-8859-9': 'windows-1254', 'iso-8859-6': 'windows-1256', gb2312: 'gb18030', 'iso-8859-15': 'windows-1252',
};

/** Share of non-ASCII characters that sit as letters do in words: lower case inside words, one script a word, no box drawing. */
function plausibility(text: string): number {
  let good = 0;
  let all = 0;
  let before = '';
  for (const char of text) {
    if (char.codePointAt(0)! > 127) {
      all++;
      const joins = before === '' || !/\p{L}/u.test(before) || scriptOf(before) === scriptOf(char);
      if (/\p{Ll}|\p{Lo}/u.test(char)) good += joins ? 1 : 0.2;
      else if (/\p{Lu}/u.test(char)) good += /\p{Ll}/u.test(before) || !joins ? -0.5 : 0.9;
      else if (/\p{M}/u.test(char)) good += 0.8;
      else if (/[\u3000-\u303f\uff00-\uffef’‘“”„«»–—…•€°§·№\u00a0]/u.test(char)) good += 0.8;
      else if (/[\u2500-\u259f\ufffd\u0080-\u009f\ue000-\uf8ff]/u.test(char)) good -= 1;
    }
    before = char;
  }
  return all === 0 ? 1 : good / all;
}

function scriptOf(char: string): string {
  if (/\p{Script=Latin}/u.test(char)) return 'latin';
  if (/\p{Script=Cyrillic}/u.test(char)) return 'cyrillic';
  if (/\p{Script=Greek}/u.test(char)) return 'greek';
  if (/\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}/u.test(char)) return 'cjk';
  return 'other';
}
