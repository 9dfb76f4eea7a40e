import iconv from 'iconv-lite';
import { judge } from './encoding-fit.ts';
import { allLanguages, multiByte, singleByte } from './encoding-languages.ts';

/** Which encoding bytes of text are in, when nothing says so. */

const sampleBytes = 256 * 1024;
/** Of lines that are not plain ASCII, which say nothing. */
const tellingBytes = 16 * 1024;

/**
 * A name that `decode` takes, or undefined for what is no text. BOM, then UTF-16 and UTF-8, then the legacy encoding in which the bytes
 * become what people write: letters of one language, capitals where words begin, quotation marks around words and not in them.
 */
export function detectEncoding(bytes: Uint8Array): string | undefined {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8';
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return bytes[2] === 0 && bytes[3] === 0 && bytes.length >= 4 ? 'utf-32le' : 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  const sample = bytes.subarray(0, sampleBytes);
  const wide = detectUtf16(sample);
  if (wide) return wide;
  if (isBinary(sample)) return undefined;
  if (isAscii(sample) && hasJapaneseShifts(sample)) return 'iso-2022-jp';
  const telling = tellingLines(bytes);
  return isMostlyUtf8(sample, sample.length < bytes.length) && isMostlyUtf8(telling, false) ? 'utf-8' : detectLegacy(telling);
}

export function decode(bytes: Uint8Array, encoding: string): string {
  if (encoding === 'utf-8' || encoding.startsWith('utf-16') || encoding === 'iso-2022-jp') return new TextDecoder(encoding).decode(bytes);
  return iconv.decode(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), encoding);
}

const countOf = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0;
const isAscii = (bytes: Uint8Array): boolean => bytes.every((byte) => byte < 128);
const hasJapaneseShifts = (bytes: Uint8Array): boolean => /\u001b\$[@B]/.test(Buffer.from(bytes.subarray(0, 8_192)).toString('latin1'));

/**
 * UTF-16 without a BOM. Scripts of one alphabet have the same few bytes, below 32, at every second place, where no other text has them;
 * Chinese, Japanese and Korean are known by what they decode to.
 */
function detectUtf16(sample: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  const even = sample.subarray(0, Math.min(sample.length & ~1, 8_192));
  const pairs = even.length / 2;
  if (pairs < 2) return undefined;
  /** Bytes below 32 that no text of single bytes has: the upper halves of Latin, Greek, Cyrillic, Hebrew, Arabic, Thai. */
  const low = [0, 0];
  let lineEnds = 0;
  let latin = 0;
  for (let at = 0; at < even.length; at += 1) {
    const byte = even[at]!;
    if (byte < 9 || byte === 0x0e) low[at & 1]! += 1;
    else if (byte === 0x0a || byte === 0x0d) lineEnds += 1;
    if (byte === 0x20 || (byte >= 0x61 && byte <= 0x7a) || (byte >= 0x41 && byte <= 0x5a)) latin += 1;
  }
  if (low[0]! + low[1]! === 0 && isValidUtf8(even)) return undefined;
  let best: 'utf-16le' | 'utf-16be' | undefined;
  let most = 0;
  for (const encoding of ['utf-16le', 'utf-16be'] as const) {
    const uppers = encoding === 'utf-16le' ? low[1]! : low[0]!;
    const others = encoding === 'utf-16le' ? low[0]! : low[1]!;
    const text = new TextDecoder(encoding).decode(even);
    const letters = countOf(text, /[\p{L}\p{N}\p{P}\p{Z}\p{S}\p{M}\s\u200e\u200f]/gu) / [...text].length;
    // Thai's most frequent letters have such a byte below as well.
    const isAlphabet = uppers > pairs * 0.7 && others <= Math.max(lineEnds, uppers * (letters > 0.98 ? 0.4 : 0.12)) && letters > 0.9;
    // Bytes of Latin text are nearly all letters and blanks, those of Han less than half.
    const isHan = pairs >= 4 && latin < even.length * 0.7 && countOf(text, /[\u3000-\u30ff\u4e00-\u9fff\uac00-\ud7a3\uff00-\uffef\s\u0020-\u007e]/gu) >= text.length * 0.95 && judge(text, eastern) >= 0.5;
    const weight = isAlphabet ? 1 + uppers / pairs : isHan ? judge(text, eastern) : 0;
    if (weight > most) [best, most] = [encoding, weight];
  }
  return best;
}

const eastern = allLanguages.filter((language) => language.common !== undefined);

function isValidUtf8(bytes: Uint8Array): boolean {
  return countOf(new TextDecoder('utf-8').decode(bytes).slice(0, -2), /\ufffd/g) === 0;
}

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
function isMostlyUtf8(sample: Uint8Array, isCut: boolean): boolean {
  const text = new TextDecoder('utf-8').decode(sample);
  // A character cut at the end of the sample is not an error.
  const bad = countOf(isCut ? text.slice(0, -2) : text, /\ufffd/g);
  // oxlint-disable-next-line no-control-regex
  const wide = countOf(text, /[^\u0000-\u007f\ufffd]/g);
  return bad === 0 || wide > bad * 10;
}

/** Lines with bytes beyond ASCII, from anywhere in the file: the first may be thousands of lines down. */
function tellingLines(bytes: Uint8Array): Uint8Array {
  const parts: Uint8Array[] = [];
  let size = 0;
  for (let at = 0; at < bytes.length && size < tellingBytes; ) {
    if (bytes[at]! < 128) {
      at += 1;
      continue;
    }
    // From the line's beginning, so that no character of two bytes is cut; a very long line from a blank or its own start.
    let start = bytes.lastIndexOf(0x0a, at) + 1;
    if (at - start > 2_048) start = Math.max(start, bytes.lastIndexOf(0x20, at) + 1);
    const lineEnd = bytes.indexOf(0x0a, at);
    const end = Math.min(lineEnd < 0 ? bytes.length : lineEnd + 1, start + 4_096);
    parts.push(bytes.subarray(start, end));
    size += end - start;
    at = Math.max(end, at + 1);
    if (lineEnd < 0 || end < lineEnd) at = lineEnd < 0 ? bytes.length : lineEnd + 1;
  }
  return Buffer.concat(parts);
}

function detectLegacy(telling: Uint8Array): string {
  const buffer = Buffer.from(telling.buffer, telling.byteOffset, telling.byteLength);
  let best = 'windows-1252';
  let most = -Infinity;
  for (const { name, prior, languages } of [...singleByte, ...multiByte]) {
    const found = judge(iconv.decode(buffer, name), languages) + prior;
    if (found > most) [best, most] = [name, found];
  }
  return best;
}
