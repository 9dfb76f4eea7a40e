export { createPdfReader } from './pdf/reader.ts';
export type { CallOptions, PdfInput, PdfReader } from './pdf/reader.ts';

/** True for `%PDF-` within the first 1,024 bytes, as readers have always accepted it. */
export function isPdf(head: Uint8Array): boolean {
  return Buffer.from(head.buffer, head.byteOffset, Math.min(head.byteLength, 1024)).includes('%PDF-');
}
