import type { Format } from './types.ts';
import type { PdfReader } from './pdf/reader.ts';

export { createPdfReader } from './pdf/reader.ts';
export type { CallOptions, DrawOptions, PdfInput, PdfReader, PdfReaderDeps, PdfReadOptions } from './pdf/reader.ts';

/** True for `%PDF-` within the first 1,024 bytes, as readers have always accepted it. */
export function isPdf(head: Uint8Array): boolean {
  return Buffer.from(head.buffer, head.byteOffset, Math.min(head.byteLength, 1024)).includes('%PDF-');
}

/** PDF as one of the formats; large files are better given to the reader as a path. */
export function createPdfFormat(reader: PdfReader): Format {
  return { type: 'pdf', sniff: isPdf, read: (bytes, options) => reader.read(bytes, options) };
}
