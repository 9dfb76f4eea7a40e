import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Pdfium } from './pdfium.ts';

/**
 * Fallback fonts for text whose font is not in the file. PDFium carries the fourteen Latin ones itself; without a font for
 * the rest it draws nothing (processing.md section 3). This is FPDF_SYSFONTINFO of fpdf_sysfontinfo.h, answered from files.
 */

interface FontFile {
  face: string;
  path: string;
}

const CJK = 'opentype/noto/NotoSansCJK-Regular.ttc';
const CJK_SERIF = 'opentype/noto/NotoSerifCJK-Regular.ttc';
const DEJAVU = 'truetype/dejavu/DejaVuSans.ttf';

/** Windows charset numbers, as PDFium uses them. */
const CHARSETS: Record<number, string[]> = {
  128: [CJK, CJK_SERIF],
  129: [CJK, CJK_SERIF],
  134: [CJK, CJK_SERIF],
  136: [CJK, CJK_SERIF],
  161: [DEJAVU],
  162: [DEJAVU],
  163: [DEJAVU],
  177: [DEJAVU],
  178: [DEJAVU],
  204: [DEJAVU],
  222: [DEJAVU],
  238: [DEJAVU],
};

export const FONT_FOLDER = '/usr/share/fonts';

export const fallbackFonts = (folder: string): string[] => [CJK, CJK_SERIF, DEJAVU].map((path) => join(folder, path));

export interface FallbackFonts {
  /** True once a font was asked for that is not here, since `forget`: text in it is drawn as nothing. */
  lacked(): boolean;
  forget(): void;
}

/** Registers the fonts that are there, below this folder. Call once, after PDFium has started and before the first document. */
export function installFallbackFonts(pdfium: Pdfium, folder: string): FallbackFonts {
  let lacked = false;
  const files: FontFile[] = [];
  const cache = new Map<string, Buffer>();
  const load = (path: string): Buffer => {
    const kept = cache.get(path);
    if (kept !== undefined) return kept;
    const bytes = readFileSync(path);
    cache.set(path, bytes);
    return bytes;
  };
  const handleFor = (path: string): number => {
    const at = files.findIndex((f) => f.path === path);
    if (at >= 0) return at + 1;
    files.push({ face: path.slice(path.lastIndexOf('/') + 1).replace(/\.\w+$/, ''), path });
    return files.length;
  };

  const release = (): void => undefined;
  const enumFonts = (): void => undefined;
  const mapFont = (_self: number, _weight: number, _italic: number, charset: number): number => {
    const candidates = CHARSETS[charset]?.map((path) => join(folder, path));
    const path = candidates?.find((candidate) => existsSync(candidate));
    if (path !== undefined) return handleFor(path);
    lacked ||= candidates !== undefined;
    return 0;
  };
  const getFont = (): number => 0;
  const getFontData = (_self: number, handle: number, table: number, target: number, room: number): number => {
    const file = files[handle - 1];
    if (file === undefined) return 0;
    const bytes = load(file.path);
    const part = tableOf(bytes, table >>> 0);
    if (part === undefined) return 0;
    if (target !== 0 && room >>> 0 >= part.byteLength) pdfium.bytes().set(part, target >>> 0);
    return part.byteLength;
  };
  const getFaceName = (_self: number, handle: number, target: number, room: number): number => {
    const name = Buffer.from(`${files[handle - 1]?.face ?? ''}\0`, 'latin1');
    if (target !== 0 && room >= name.byteLength) pdfium.bytes().set(name, target >>> 0);
    return name.byteLength;
  };
  const getCharset = (): number => 1;
  const deleteFont = (): void => undefined;

  const info = pdfium.call.malloc(40);
  const fields = [
    1,
    pdfium.callback(release, 'vi'),
    pdfium.callback(enumFonts, 'vii'),
    pdfium.callback(mapFont, 'iiiiiiii'),
    pdfium.callback(getFont, 'iii'),
    pdfium.callback(getFontData, 'iiiiii'),
    pdfium.callback(getFaceName, 'iiiii'),
    pdfium.callback(getCharset, 'iii'),
    pdfium.callback(deleteFont, 'vii'),
  ];
  pdfium.ints().set(fields, info >> 2);
  pdfium.call.FPDF_SetSystemFontInfo(info);
  return {
    lacked: () => lacked,
    forget: () => {
      lacked = false;
    },
  };
}

const COLLECTION = 0x74746366; // 'ttcf'

/** Table 0 is the whole file; a collection is asked for as the table `ttcf`, and its first font answers for single tables. */
function tableOf(bytes: Buffer, table: number): Uint8Array | undefined {
  const isCollection = bytes.readUInt32BE(0) === COLLECTION;
  if (table === 0) return isCollection ? undefined : bytes;
  if (table === COLLECTION) return isCollection ? bytes : undefined;
  const start = isCollection ? bytes.readUInt32BE(12) : 0;
  const count = bytes.readUInt16BE(start + 4);
  for (let i = 0; i < count; i += 1) {
    const entry = start + 12 + i * 16;
    if (bytes.readUInt32BE(entry) !== table) continue;
    const offset = bytes.readUInt32BE(entry + 8);
    return bytes.subarray(offset, offset + bytes.readUInt32BE(entry + 12));
  }
  return undefined;
}
