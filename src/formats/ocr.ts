import { availableParallelism } from 'node:os';
import type { Limits, Sandbox } from '../sandbox/types.ts';
import { layWords } from './ocr/layer.ts';
import { listLanguages, OcrFailed, recognise, type Recognised } from './ocr/tesseract.ts';
import type { CallOptions, PdfInput, PdfReader } from './pdf.ts';
import { countWords, markHyphens, newWordCounts, resolveHyphens } from './pdf/hyphens.ts';
import { UnreadableFile } from './types.ts';

/** Reads pages that are pictures. Which ones is the caller's decision, page by page. */

export interface OcrPage {
  /** Empty when there is no text in the picture, or none that can be trusted. */
  text: string;
  /** Why this page could not be read, as the end of a sentence ("Page 3 could not be read: …"). */
  failed?: string;
  /** The invisible words, for `searchablePdf`. */
  layer?: Uint8Array;
  /** Quarter turns clockwise after which the page reads upright, as far as Sergo had to find out itself. */
  turns?: 0 | 1 | 2 | 3;
}

export interface OcrOptions extends CallOptions {
  /** Called once a page, in no fixed order. */
  onPage?: (page: number, result: OcrPage) => void;
}

export interface Ocr {
  /** What is missing for OCR to work, as a sentence; undefined when it works. */
  missing(): Promise<string | undefined>;
  /** One result for every page asked for (1-based). An abort throws the signal's reason; a page that fails says so alone. */
  pages(input: PdfInput, pages: number[], options?: OcrOptions): Promise<Map<number, OcrPage>>;
  /** The same PDF with the words of these pages laid over them invisibly; typed pages stay as they are. Throws UnreadableFile. */
  searchablePdf(input: PdfInput, pages: ReadonlyMap<number, OcrPage>, options?: { signal?: AbortSignal }): Promise<Uint8Array>;
}

export interface OcrDeps {
  sandbox: Sandbox;
  pdf: PdfReader;
  /** Tesseract's names (`eng`, `deu`, …), the most likely first. Ones that are not installed are left out. Default `eng`. */
  languages?: string[];
  /** Pages at the same time, one process each. Default: the number of cores. */
  concurrency?: number;
  /** Default 200: recall is then 0.95 and more on printed pages. */
  dpi?: number;
  limits?: Partial<Limits>;
}

/** One page, however often it is turned to be read: an honest one takes 2 to 15 s. */
const PAGE_MS = 50_000;
/** So many pages that take long and in vain end it for the others, unless more were read: a file of such pages must not take hours. */
const MAX_SLOW_PAGES = 3;

/** A poster at 200 dpi is drawn no larger: about 36 Mpx at most. */
const MAX_SIDE_PX = 6000;

export function createOcr(deps: OcrDeps): Ocr {
  const wanted = deps.languages ?? ['eng'];
  const dpi = deps.dpi ?? 200;
  const pageMs = deps.limits?.wallMs ?? PAGE_MS;
  const limits: Partial<Limits> = { cpuMs: pageMs, ...deps.limits };
  let installed: Promise<string[]> | undefined;
  const languages = (): Promise<string[]> => (installed ??= listLanguages(deps.sandbox));

  async function missing(): Promise<string | undefined> {
    const found = await languages();
    if (found.length === 0) return 'tesseract is not installed: pictures of text stay pictures — install tesseract-ocr';
    const absent = wanted.filter((name) => !found.includes(name));
    if (absent.length === 0) return undefined;
    return `tesseract has no data for ${absent.join(', ')}: install ${absent.map((name) => `tesseract-ocr-${name.replaceAll('_', '-')}`).join(', ')}`;
  }

  async function readPage(input: PdfInput, page: number, call: CallOptions, use: string[], canOrient: boolean): Promise<OcrPage> {
    const began = performance.now();
    try {
      const png = await deps.pdf.draw(input, page, { ...call, dpi, maxSidePx: MAX_SIDE_PX, gray: true, mostMs: PAGE_MS / 2 });
      const found: Recognised = await recognise(deps.sandbox, png, { languages: use, dpi, canOrient, limits, pageMs: pageMs - (performance.now() - began), signal: call.signal });
      return { text: markHyphens(found.text), layer: found.layer, turns: found.turns };
    } catch (error) {
      call.signal?.throwIfAborted();
      if (error instanceof OcrFailed) return { text: '', failed: error.message };
      if (error instanceof UnreadableFile) return { text: '', failed: 'it could not be drawn' };
      throw error;
    }
  }

  async function pages(input: PdfInput, numbers: number[], options: OcrOptions = {}): Promise<Map<number, OcrPage>> {
    const found = await languages();
    const use = wanted.filter((name) => found.includes(name));
    if (use.length === 0) throw new Error((await missing()) ?? 'No language is set');
    const { onPage, ...call } = options;
    const queue = [...numbers];
    const results = new Map<number, OcrPage>();
    const counts = newWordCounts();
    let slow = 0;
    const readOrLeave = async (page: number): Promise<OcrPage> => {
      if (slow >= MAX_SLOW_PAGES && slow > results.size - slow) return { text: '', failed: 'too many pages before it took too long' };
      const began = performance.now();
      const result = await readPage(input, page, call, use, found.includes('osd'));
      if (result.failed !== undefined && performance.now() - began > pageMs / 5) slow += 1;
      return result;
    };
    const work = async (): Promise<void> => {
      for (let page = queue.shift(); page !== undefined; page = queue.shift()) {
        call.signal?.throwIfAborted();
        const result = await readOrLeave(page);
        countWords(result.text, counts);
        results.set(page, result);
        onPage?.(page, result);
      }
    };
    const workers = Array.from({ length: Math.min(deps.concurrency ?? availableParallelism(), numbers.length) }, work);
    const ends = await Promise.allSettled(workers);
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
    for (const [page, result] of results) results.set(page, { ...result, text: resolveHyphens(result.text, counts) });
    return results;
  }

  async function searchablePdf(input: PdfInput, results: ReadonlyMap<number, OcrPage>, options: { signal?: AbortSignal } = {}): Promise<Uint8Array> {
    const layers = new Map<number, Pick<Recognised, 'layer' | 'turns'>>();
    for (const [page, { text, layer, turns }] of results) {
      if (text !== '' && layer !== undefined) layers.set(page, { layer, turns: turns ?? 0 });
    }
    if (layers.size === 0) throw new UnreadableFile('No text was found in the pictures of this document');
    const written = await layWords(deps.sandbox, input, layers, deps.limits ?? {}, options.signal);
    if (written === undefined) throw new UnreadableFile('No searchable copy could be written: the file is damaged — upload an intact copy');
    return written;
  }

  return { missing, pages, searchablePdf };
}
