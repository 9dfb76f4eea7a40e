export { createPdfReader } from './pdf/reader.ts';
export type { CallOptions, PdfInput, PdfReader } from './pdf/reader.ts';
