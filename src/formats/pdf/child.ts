import { readSync, writeSync } from 'node:fs';
import { encodeFrameHead } from '../../sandbox/frames.ts';
import { drawPage, importPage, openForm, toGrey, withoutColour } from './draw.ts';
import { installFallbackFonts } from './fonts.ts';
import { loadPdfium } from './pdfium.ts';
import { readPages, type Current } from './read-pages.ts';
import { openDocument, type OpenDocument, type Source } from './source.ts';

/**
 * The warm child: PDFium behind frames on standard input and output, one file at a time. Everything is synchronous on
 * purpose: nothing else happens in this process. Started by reader.ts; never imported.
 */

interface Request {
  op: 'read' | 'draw' | 'cut';
  /** Names the file; the payload is left out when the child still has it. */
  key: string;
  /** `payload`: it comes with this request; `kept`: as before; a number: descriptor 3 holds a file of so many bytes. */
  file: 'payload' | 'kept' | number;
  maxPages?: number;
  skip?: number[];
  /** 1-based. */
  page?: number;
  dpi?: number;
  maxSidePx?: number;
  gray?: boolean;
}

const PAGES_A_FRAME = 64;

function say(header: object, payload?: Uint8Array): void {
  write(encodeFrameHead(header, payload?.byteLength ?? 0));
  if (payload !== undefined) write(payload);
}

function write(bytes: Uint8Array): void {
  for (let at = 0; at < bytes.byteLength; ) at += writeSync(1, bytes, at);
}

function fill(target: Uint8Array): boolean {
  for (let at = 0; at < target.byteLength; ) {
    const count = readSync(0, target, at, target.byteLength - at, null);
    if (count === 0) return false;
    at += count;
  }
  return true;
}

const pdfium = await loadPdfium(Number(process.argv[2]));
const fonts = installFallbackFonts(pdfium, process.argv[3] ?? '');
let store = Buffer.alloc(0);
let key = '';
let source: Source = { bytes: store };
let current: Current | undefined;
say({ kind: 'ready' });

const prefix = Buffer.alloc(8);
while (fill(prefix)) {
  const head = Buffer.alloc(prefix.readUInt32BE(0));
  const size = prefix.readUInt32BE(4);
  if (!fill(head)) break;
  const request = JSON.parse(head.toString('utf8')) as Request;
  if (request.file !== 'kept') {
    current?.document.close();
    current = undefined;
    key = '';
  }
  if (request.file === 'payload') {
    // One block that only grows: freed blocks would count as resident until the next collection.
    if (store.byteLength < size) store = Buffer.allocUnsafeSlow(size);
    source = { bytes: store.subarray(0, size) };
    if (!fill(source.bytes)) break;
  } else if (typeof request.file === 'number') {
    source = { descriptor: 3, size: request.file };
  }
  try {
    answer(request);
  } catch (error) {
    // A trap in WASM leaves its heap as it was in the middle of something: this process must not go on.
    say({ kind: 'error', problem: pdfium.outOfMemory() ? 'memory' : 'crash', detail: String(error) });
    process.exit(70);
  }
}
process.exit(0);

function answer(request: Request): void {
  if (current === undefined || key !== request.key) {
    fonts.forget();
    const opened = openDocument(pdfium, source);
    if (typeof opened === 'string') return say({ kind: 'error', problem: opened });
    current = { document: opened };
    key = request.key;
  }
  const { document } = current;
  if (request.op === 'read') {
    const total = document.pageCount;
    if (total === 0) return say({ kind: 'error', problem: 'damaged' });
    if (request.maxPages !== undefined && total > request.maxPages) return say({ kind: 'error', problem: 'pages', total });
    const skip = new Set(request.skip);
    const result = readPages(pdfium, current, source, skip, (number) => say({ kind: 'part', at: number, total }));
    if (typeof result === 'string') return say({ kind: 'error', problem: result });
    for (let at = 0; at < result.pages.length; at += PAGES_A_FRAME) {
      say({ kind: 'part', pages: result.pages.slice(at, at + PAGES_A_FRAME) });
    }
    return say({ kind: 'done', title: result.title, lacksFonts: fonts.lacked() });
  }
  const index = (request.page ?? 0) - 1;
  if (index < 0 || index >= document.pageCount) return say({ kind: 'error', problem: 'no page', total: document.pageCount });
  if (request.op === 'draw') return draw(request, document, index);
  const copy = importPage(pdfium, document, index);
  return copy === undefined ? say({ kind: 'error', problem: 'damaged' }) : say({ kind: 'done' }, copy);
}

function draw(request: Request, document: OpenDocument, index: number): void {
  const form = openForm(pdfium, document.handle);
  const page = pdfium.call.FPDF_LoadPage(document.handle, index);
  try {
    if (page === 0) return say({ kind: 'error', problem: 'damaged' });
    const size = { dpi: request.dpi ?? 110, maxSidePx: request.maxSidePx ?? 1568, gray: request.gray ?? false };
    const drawing = drawPage(pdfium, form.handle, page, size);
    if (drawing === undefined) return say({ kind: 'error', problem: 'memory' });
    const { pixels, channels } = size.gray ? { pixels: toGrey(drawing), channels: 1 } : withoutColour(drawing);
    return say({ kind: 'done', width: drawing.width, height: drawing.height, channels }, pixels);
  } finally {
    if (page !== 0) pdfium.call.FPDF_ClosePage(page);
    form.close();
  }
}
