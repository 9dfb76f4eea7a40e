import type { OpenDocument } from './source.ts';
import type { Pdfium } from './pdfium.ts';

/** Draws one page with its form fields and annotations on white, and cuts one page out. */

const ANNOTATIONS = 0x01;
const GRAYSCALE = 0x08;
/** Red first, as picture encoders want it. */
const RGB_ORDER = 0x10;
const WHITE = 0xffffffff;

export interface Drawing {
  width: number;
  height: number;
  /** 4 bytes a pixel, the fourth without meaning. */
  rgba: Uint8Array;
}

export interface DrawSize {
  dpi: number;
  /** Longer side at most; the whole page shrinks to it, whatever its size. */
  maxSidePx: number;
  gray?: boolean;
}

/** Pixels of a page of `width` × `height` points. At least 1 × 1. */
export function pixelSize(width: number, height: number, size: DrawSize): { width: number; height: number } {
  const w = Number.isFinite(width) && width > 0 ? width : 1;
  const h = Number.isFinite(height) && height > 0 ? height : 1;
  const scale = Math.min(size.dpi / 72, size.maxSidePx / Math.max(w, h));
  return { width: Math.max(1, Math.round(w * scale)), height: Math.max(1, Math.round(h * scale)) };
}

/** A form environment: without it field values vanish from the picture. 0 when there is none to be had. */
export function openForm(pdfium: Pdfium, document: number): { handle: number; close(): void } {
  const { call } = pdfium;
  const info = call.PDFiumExt_OpenFormFillInfo();
  const handle = call.PDFiumExt_InitFormFillEnvironment(document, info);
  return {
    handle,
    close: () => {
      if (handle !== 0) call.PDFiumExt_ExitFormFillEnvironment(handle);
      call.PDFiumExt_CloseFormFillInfo(info);
    },
  };
}

/** `page` is an open page. Undefined when there is no memory for the picture. */
export function drawPage(pdfium: Pdfium, form: number, page: number, size: DrawSize): Drawing | undefined {
  const { call } = pdfium;
  const { width, height } = pixelSize(call.FPDF_GetPageWidthF(page), call.FPDF_GetPageHeightF(page), size);
  const bitmap = call.FPDFBitmap_Create(width, height, 0);
  if (bitmap === 0) return undefined;
  try {
    const flags = ANNOTATIONS | RGB_ORDER | (size.gray === true ? GRAYSCALE : 0);
    call.FPDFBitmap_FillRect(bitmap, 0, 0, width, height, WHITE);
    if (form !== 0) call.FORM_OnAfterLoadPage(page, form);
    call.FPDF_RenderPageBitmap(bitmap, page, 0, 0, width, height, 0, flags);
    if (form !== 0) {
      call.FPDF_FFLDraw(form, bitmap, page, 0, 0, width, height, 0, flags);
      call.FORM_OnBeforeClosePage(page, form);
    }
    const stride = call.FPDFBitmap_GetStride(bitmap);
    const start = call.FPDFBitmap_GetBuffer(bitmap);
    const heap = pdfium.bytes();
    const row = width * 4;
    if (stride === row) return { width, height, rgba: heap.slice(start, start + row * height) };
    const rgba = new Uint8Array(row * height);
    for (let y = 0; y < height; y += 1) rgba.set(heap.subarray(start + y * stride, start + y * stride + row), y * row);
    return { width, height, rgba };
  } finally {
    call.FPDFBitmap_Destroy(bitmap);
  }
}

/**
 * The picture as one byte a pixel when it has no colour anywhere, else as it is (4 bytes). Most pages of text have none: a quarter of
 * the bytes to hand over, and a third of them as a PNG.
 */
export function withoutColour({ width, height, rgba }: Drawing): { pixels: Uint8Array; channels: 1 | 4 } {
  const words = new Uint32Array(rgba.buffer, rgba.byteOffset, width * height);
  const grey = new Uint8Array(words.length);
  for (let at = 0; at < words.length; at += 1) {
    // Red lowest; the fourth byte has no meaning.
    const word = words[at]!;
    const level = word & 0xff;
    if (((word >>> 8) & 0xff) !== level || ((word >>> 16) & 0xff) !== level) return { pixels: rgba, channels: 4 };
    grey[at] = level;
  }
  return { pixels: grey, channels: 1 };
}

/** One byte a pixel. Forms and annotations keep their colours in a grey drawing: those are weighed as the eye does (ITU-R BT.601). */
export function toGrey(drawing: Drawing): Uint8Array {
  const { pixels, channels } = withoutColour(drawing);
  if (channels === 1) return pixels;
  const grey = new Uint8Array(drawing.width * drawing.height);
  for (let at = 0, from = 0; at < grey.length; at += 1, from += 4) {
    grey[at] = (pixels[from]! * 77 + pixels[from + 1]! * 150 + pixels[from + 2]! * 29) >>> 8;
  }
  return grey;
}

/** A new PDF that holds only this page (0-based), text layer included. Undefined when PDFium cannot import it. */
export function importPage(pdfium: Pdfium, document: OpenDocument, index: number): Uint8Array | undefined {
  const { call, scratch } = pdfium;
  const target = call.FPDF_CreateNewDocument();
  if (target === 0) return undefined;
  const writer = call.PDFiumExt_OpenFileWriter();
  try {
    pdfium.ints()[scratch >> 2] = index;
    if (call.FPDF_ImportPagesByIndex(target, document.handle, scratch, 1, 0) === 0) return undefined;
    if (call.PDFiumExt_SaveAsCopy(target, writer) === 0) return undefined;
    const bytes = call.PDFiumExt_GetFileWriterSize(writer);
    const buffer = call.malloc(bytes);
    call.PDFiumExt_GetFileWriterData(writer, buffer, bytes);
    const copy = pdfium.bytes().slice(buffer, buffer + bytes);
    call.free(buffer);
    return copy;
  } finally {
    call.PDFiumExt_CloseFileWriter(writer);
    call.FPDF_CloseDocument(target);
  }
}
