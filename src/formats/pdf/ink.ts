import { drawPage } from './draw.ts';
import type { Pdfium } from './pdfium.ts';

/** Does a page without text show anything at all? */

/** Bytes that a JPEG spends on a pixel: white paper takes 0.01 to 0.04 of them, text a tenth and more. */
const BYTES_OF_INK = 0.08;
const COMPRESSED = new Set(['DCTDecode', 'JPXDecode']);

/** Any ink at all, seen from afar? Tells a page that only draws from a blank one. */
export function hasInk(pdfium: Pdfium, form: number, page: number): boolean {
  const drawing = drawPage(pdfium, form, page, { dpi: 72, maxSidePx: 400 });
  if (drawing === undefined) return true;
  const { rgba } = drawing;
  for (let i = 0; i < rgba.length; i += 4) {
    if (rgba[i]! < 245 || rgba[i + 1]! < 245 || rgba[i + 2]! < 245) return true;
  }
  return false;
}

/** A scan of more than white paper, seen from its size alone: unpacking it takes longer than all else that is done with its page. */
export function isDensePicture(pdfium: Pdfium, picture: number): boolean {
  const { call, scratch } = pdfium;
  if (call.FPDFImageObj_GetImagePixelSize(picture, scratch, scratch + 4) === 0) return false;
  const [width, height] = pdfium.ints().subarray(scratch >> 2, (scratch >> 2) + 2) as unknown as [number, number];
  const last = call.FPDFImageObj_GetImageFilterCount(picture) - 1;
  if (last < 0) return false;
  const length = call.FPDFImageObj_GetImageFilter(picture, last, scratch, 32);
  if (length > 32) return false;
  const filter = Buffer.from(pdfium.bytes().subarray(scratch, scratch + Math.max(0, length - 1))).toString('latin1');
  return COMPRESSED.has(filter) && call.FPDFImageObj_GetImageDataRaw(picture, 0, 0) >= width * height * BYTES_OF_INK;
}
