import { createPdfObjects } from '../pdf-objects.ts';
import type { FrameStream } from './frame.ts';

/** Writes a PDF of pictures, one a page, as large as they are on paper. */

export interface PictureFrame extends FrameStream {
  bytes: Uint8Array;
}

export function writePicturePdf(frames: PictureFrame[]): Uint8Array {
  const { object, finish } = createPdfObjects();
  object(1, '<< /Type /Catalog /Pages 2 0 R >>');
  const pages = frames.map((_, index) => 3 + index * 3);
  object(2, `<< /Type /Pages /Count ${pages.length} /Kids [${pages.map((number) => `${number} 0 R`).join(' ')}] >>`);
  for (const [index, frame] of frames.entries()) {
    const page = pages[index]!;
    const width = points(frame.width, frame.dpi);
    const height = points(frame.height, frame.dpi);
    object(
      page,
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${width} ${height}] /Contents ${page + 1} 0 R /Resources << /XObject << /Im ${page + 2} 0 R >> >> >>`,
    );
    const content = Buffer.from(`q ${width} 0 0 ${height} 0 0 cm /Im Do Q`, 'latin1');
    object(page + 1, `<< /Length ${content.length} >>`, content);
    object(
      page + 2,
      `<< /Type /XObject /Subtype /Image /Width ${frame.width} /Height ${frame.height} /ColorSpace /${frame.colours} ` +
        `/BitsPerComponent ${frame.bits} /Filter /${frame.filter} /Length ${frame.bytes.byteLength} >>`,
      frame.bytes,
    );
  }
  return finish();
}

/** PDF pages end at 14,400 points a side (PDF 32000-1, annex C). */
export const points = (pixels: number, dpi: number): number => Math.min(14_400, Math.round(((pixels * 72) / dpi) * 1000) / 1000);
