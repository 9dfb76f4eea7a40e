import { init } from '@embedpdf/pdfium';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { capWasmMemory } from './wasm-memory.ts';

/** PDFium as a small set of raw calls (fpdfview.h, fpdf_text.h, fpdf_edit.h, fpdf_annot.h, fpdf_formfill.h), in WASM. */

const CALLS = [
  'malloc', 'free',
  'PDFiumExt_Init', 'FPDF_SetSystemFontInfo',
  'FPDF_LoadCustomDocument', 'FPDF_GetLastError', 'FPDF_CloseDocument', 'FPDF_GetPageCount', 'FPDF_GetMetaText',
  'FPDF_LoadPage', 'FPDF_ClosePage', 'FPDF_GetPageWidthF', 'FPDF_GetPageHeightF', 'FPDF_GetPageBoundingBox',
  'FPDFPage_GetRotation', 'FPDFPage_CountObjects', 'FPDFPage_GetObject',
  'FPDFText_LoadPage', 'FPDFText_ClosePage', 'FPDFText_CountChars', 'FPDFText_GetUnicode', 'FPDFText_GetCharBox',
  'FPDFText_GetTextObject', 'FPDFText_GetLooseCharBox', 'FPDFText_GetCharAngle', 'FPDFText_HasUnicodeMapError', 'FPDFTextObj_GetTextRenderMode', 'FPDFTextObj_GetFontSize',
  'FPDFPageObj_GetType', 'FPDFPageObj_GetBounds', 'FPDFPageObj_GetMatrix', 'FPDFPageObj_GetFillColor',
  'FPDFPageObj_GetStrokeColor', 'FPDFPath_GetDrawMode', 'FPDFPath_CountSegments',
  'FPDFImageObj_GetImagePixelSize', 'FPDFImageObj_GetImageFilterCount', 'FPDFImageObj_GetImageFilter', 'FPDFImageObj_GetImageDataRaw',
  'FPDFFormObj_CountObjects', 'FPDFFormObj_GetObject',
  'FPDFPage_GetAnnotCount', 'FPDFPage_GetAnnot', 'FPDFPage_CloseAnnot', 'FPDFAnnot_GetSubtype',
  'FPDFAnnot_GetStringValue', 'FPDFAnnot_GetFlags', 'FPDFAnnot_GetFormFieldType', 'FPDFAnnot_GetFormFieldFlags',
  'FPDFAnnot_GetFormFieldValue', 'FPDFAnnot_GetFormFieldAlternateName', 'FPDFAnnot_IsChecked',
  'FPDF_GetFormType', 'PDFiumExt_OpenFormFillInfo', 'PDFiumExt_CloseFormFillInfo', 'PDFiumExt_InitFormFillEnvironment',
  'PDFiumExt_ExitFormFillEnvironment', 'FORM_OnAfterLoadPage', 'FORM_OnBeforeClosePage', 'FPDF_FFLDraw',
  'FPDFBitmap_Create', 'FPDFBitmap_FillRect', 'FPDFBitmap_GetBuffer', 'FPDFBitmap_GetStride', 'FPDFBitmap_Destroy',
  'FPDF_RenderPageBitmap',
  'FPDF_CreateNewDocument', 'FPDF_ImportPagesByIndex', 'PDFiumExt_OpenFileWriter', 'PDFiumExt_CloseFileWriter',
  'PDFiumExt_GetFileWriterSize', 'PDFiumExt_GetFileWriterData', 'PDFiumExt_SaveAsCopy',
  'FPDFBookmark_GetFirstChild', 'FPDFBookmark_GetNextSibling', 'FPDFBookmark_GetTitle', 'FPDFBookmark_GetDest',
  'FPDFDest_GetDestPageIndex',
] as const;

type Call = (typeof CALLS)[number];
/** Pointers, integers and floats in, one number out; a call without a result gives undefined, never used. */
export type Calls = Record<Call, (...args: number[]) => number>;

export interface Pdfium {
  call: Calls;
  /** The heap as it is now: it moves when it grows, so never keep it over a call. */
  bytes(): Uint8Array;
  floats(): Float32Array;
  doubles(): Float64Array;
  ints(): Int32Array;
  /** True once the heap was asked to grow over its maximum. */
  outOfMemory(): boolean;
  /** A scratch block of 256 bytes for out-parameters. */
  scratch: number;
  /** Makes a function that PDFium can call: signature as in emscripten (`iiii`: result, then arguments). */
  callback(fn: (...args: number[]) => number | void, signature: string): number;
}

/** Compiles and starts PDFium with a heap of at most so many bytes. About 70 ms. */
export async function loadPdfium(maxHeapBytes: number): Promise<Pdfium> {
  const wasm = createRequire(import.meta.url).resolve('@embedpdf/pdfium/pdfium.wasm');
  const wasmBinary = capWasmMemory(readFileSync(wasm), maxHeapBytes).buffer as ArrayBuffer;
  let refused = false;
  // Its build talks to the console: standard output is ours for frames, and the one thing worth hearing is a full heap.
  const printErr = (message: string): void => {
    if (/enlarge memory|grow the heap/.test(message)) refused = true;
  };
  const library = await init({ wasmBinary, print: () => undefined, printErr });
  const exports = library.pdfium.wasmExports as unknown as Calls & { memory: { buffer: ArrayBufferLike } };
  for (const name of CALLS) if (typeof exports[name] !== 'function') throw new Error(`PDFium lacks ${name}`);
  exports.PDFiumExt_Init();
  let views = viewsOf(exports.memory.buffer);
  const current = (): ReturnType<typeof viewsOf> => {
    // A heap that grew has left its old views empty; asking the memory itself costs more than most calls.
    if (views.bytes.length === 0) views = viewsOf(exports.memory.buffer);
    return views;
  };
  return {
    call: exports,
    bytes: () => current().bytes,
    floats: () => current().floats,
    doubles: () => current().doubles,
    ints: () => current().ints,
    scratch: exports.malloc(256),
    outOfMemory: () => refused,
    callback: (fn, signature) => library.pdfium.addFunction(fn as () => void, signature),
  };
}

function viewsOf(buffer: ArrayBufferLike) {
  return {
    buffer,
    bytes: new Uint8Array(buffer),
    floats: new Float32Array(buffer),
    doubles: new Float64Array(buffer),
    ints: new Int32Array(buffer),
  };
}

/** Calls a getter of the kind "buffer, length in bytes → length needed" that writes UTF-16LE with a final NUL. */
export function readUtf16(pdfium: Pdfium, get: (buffer: number, bytes: number) => number): string {
  const bytes = get(0, 0);
  // 4 MiB of one field value is nobody's text.
  if (bytes <= 2 || bytes > 4 * 1024 ** 2) return '';
  const buffer = pdfium.call.malloc(bytes);
  try {
    get(buffer, bytes);
    return Buffer.from(pdfium.bytes().subarray(buffer, buffer + bytes - 2)).toString('utf16le');
  } finally {
    pdfium.call.free(buffer);
  }
}

/** Runs with a NUL-terminated Latin-1 string in the heap. */
export function withCString<T>(pdfium: Pdfium, text: string, use: (pointer: number) => T): T {
  const pointer = pdfium.call.malloc(text.length + 1);
  try {
    pdfium.bytes().set(Buffer.from(`${text}\0`, 'latin1'), pointer);
    return use(pointer);
  } finally {
    pdfium.call.free(pointer);
  }
}
