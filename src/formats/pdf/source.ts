import { readSync } from 'node:fs';
import { withCString, type Pdfium } from './pdfium.ts';

/** Where PDFium reads a file from: memory of ours or an open descriptor, never a copy in its own heap. */
export type Source = { bytes: Uint8Array } | { descriptor: number; size: number };

/** `FPDF_GetLastError` (fpdfview.h). */
const reasons: Record<number, OpenProblem> = { 2: 'damaged', 3: 'damaged', 4: 'password', 5: 'protection' };

export type OpenProblem = 'damaged' | 'password' | 'protection';

export interface OpenDocument {
  handle: number;
  pageCount: number;
  /** Bytes PDFium has asked for since the opening; much of it stays in its cache. */
  bytesRead(): number;
  close(): void;
}

/** Opens with the empty password: files that only have an owner's password open (processing.md section 3). */
export function openDocument(pdfium: Pdfium, source: Source): OpenDocument | OpenProblem {
  const { call } = pdfium;
  const size = 'bytes' in source ? source.bytes.byteLength : source.size;
  let asked = 0;
  const readBlock = (_param: number, position: number, target: number, length: number): number => {
    const from = position >>> 0;
    const count = length >>> 0;
    if (from + count > size) return 0;
    asked += count;
    const heap = pdfium.bytes();
    if ('bytes' in source) {
      heap.set(source.bytes.subarray(from, from + count), target >>> 0);
      return 1;
    }
    return readSync(source.descriptor, heap, target >>> 0, count, from) === count ? 1 : 0;
  };
  const callback = blockCallback(pdfium, readBlock);
  const access = call.malloc(12);
  pdfium.ints().set([size | 0, callback, 0], access >> 2);
  const handle = withCString(pdfium, '', (password) => call.FPDF_LoadCustomDocument(access, password));
  if (handle === 0) {
    const problem = reasons[call.FPDF_GetLastError()] ?? 'damaged';
    call.free(access);
    return problem;
  }
  return {
    handle,
    pageCount: call.FPDF_GetPageCount(handle),
    bytesRead: () => asked,
    close: () => {
      call.FPDF_CloseDocument(handle);
      call.free(access);
    },
  };
}

type BlockReader = (param: number, position: number, target: number, length: number) => number;
let pointer = 0;
let current: BlockReader = () => 0;

/** One table entry for all documents: they are open one at a time, and entries are never given back. */
function blockCallback(pdfium: Pdfium, reader: BlockReader): number {
  current = reader;
  if (pointer === 0) pointer = pdfium.callback((...args) => current(...(args as Parameters<BlockReader>)), 'iiiii');
  return pointer;
}
