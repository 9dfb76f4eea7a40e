import { availableParallelism } from 'node:os';
import type { Readable } from 'node:stream';
import { ChildDied, LimitHit, type Child, type Limits, type Sandbox } from '../sandbox/types.ts';
import { layWords } from './ocr/layer.ts';
import type { LayerPage } from './ocr/layer-page.ts';
import type { GreyPicture } from './ocr/picture.ts';
import { hasDriver, listLanguages, OcrFailed, recognise, startTesseract } from './ocr/tesseract.ts';
import type { CallOptions, PdfInput, PdfReader } from './pdf.ts';
import { ChildPool } from './child-pool.ts';
import { QPDF } from './pdf/cut.ts';
import { countWords, markHyphens, newWordCounts, resolveHyphens } from './pdf/hyphens.ts';
import { UnreadableFile } from './types.ts';

/** Reads pages that are pictures. Which ones is the caller's decision, page by page. */

export interface OcrPage {
  /** Empty when there is no text in the picture, or none that can be trusted. */
  text: string;
  /** Why this page could not be read, as the end of a sentence ("Page 3 could not be read: …"). */
  failed?: string;
  /** The invisible words, for `searchablePdf`. */
  layer?: LayerPage;
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
  /**
   * The same PDF with the words of these pages laid over them invisibly; typed pages stay as they are. `keep` takes it as it is on
   * disk. Throws UnreadableFile, whose reason is the end of a sentence.
   */
  searchablePdf<T>(input: PdfInput, pages: ReadonlyMap<number, OcrPage>, keep: (file: Readable) => Promise<T>, options?: { signal?: AbortSignal }): Promise<T>;
  close(): Promise<void>;
}

export interface OcrDeps {
  sandbox: Sandbox;
  pdf: PdfReader;
  /** Tesseract's names (`eng`, `deu`, …), the most likely first. Ones that are not installed are left out. Default `eng`. */
  languages?: string[];
  /** Pages at the same time over all documents, one process each. Default: the number of cores. */
  concurrency?: number;
  /** Default 200: recall is then 0.95 and more on printed pages. */
  dpi?: number;
  limits?: Partial<Limits>;
  /** Default /usr/bin/qpdf; where there is none, no searchable PDF is written. */
  qpdfPath?: string;
}

/** One page, however often it is turned to be read: an honest one takes 2 to 15 s. */
const PAGE_MS = 50_000;
/** So many pages that take long and in vain end it for the others, unless more were read: a file of such pages must not take hours. */
const MAX_SLOW_PAGES = 3;

/** A child that reads nothing for so long is ended, and one that has grown larger than this after its page. */
const IDLE_MS = 5_000;
const KEEP_BELOW_BYTES = 512 * 1024 ** 2;

/** A poster at 200 dpi is drawn no larger: about 36 Mpx at most. */
const MAX_SIDE_PX = 6000;

export function createOcr(deps: OcrDeps): Ocr {
  const wanted = deps.languages ?? ['eng'];
  const dpi = deps.dpi ?? 200;
  const concurrency = deps.concurrency ?? availableParallelism();
  const pageMs = deps.limits?.wallMs ?? PAGE_MS;
  let installed: Promise<string[]> | undefined;
  const languages = (): Promise<string[]> => (installed ??= listLanguages(deps.sandbox));
  const pool = new ChildPool({
    size: concurrency,
    maxServed: 100,
    keepBelowBytes: KEEP_BELOW_BYTES,
    idleMs: IDLE_MS,
    start: async () => startTesseract(deps.sandbox, known(await languages()), deps.limits ?? {}),
  });
  const known = (found: string[]): string[] => wanted.filter((name) => found.includes(name));

  async function missing(): Promise<string | undefined> {
    const found = await languages();
    if (found.length === 0) return 'tesseract is not installed: pictures of text stay pictures — install tesseract-ocr';
    if (!hasDriver()) return 'tesseract is not of use without Python: pictures of text stay pictures — install python3';
    const absent = wanted.filter((name) => !found.includes(name));
    if (absent.length === 0) return undefined;
    const install = `install ${absent.map((name) => `tesseract-ocr-${name.replaceAll('_', '-')}`).join(', ')}`;
    if (absent.length === wanted.length) return `tesseract is not of use without data for ${absent.join(', ')}: pictures of text stay pictures — ${install}`;
    return `tesseract has no data for ${absent.join(', ')}: ${install}`;
  }

  async function readPage(tesseract: Child, draw: () => Promise<GreyPicture>, canOrient: boolean, signal: AbortSignal | undefined): Promise<OcrPage> {
    const began = performance.now();
    try {
      const picture = await draw();
      const found = await recognise(tesseract, picture, { dpi, canOrient, pageMs: Math.max(0, pageMs - (performance.now() - began)), signal });
      return { text: markHyphens(found.text), layer: found.layer };
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof OcrFailed) return { text: '', failed: error.message };
      if (error instanceof UnreadableFile) return { text: '', failed: 'it could not be drawn' };
      throw error;
    }
  }

  async function pages(input: PdfInput, numbers: number[], options: OcrOptions = {}): Promise<Map<number, OcrPage>> {
    const found = await languages();
    if (known(found).length === 0) throw new Error((await missing()) ?? 'No language is set');
    const { onPage, ...call } = options;
    const queue = [...numbers];
    const results = new Map<number, OcrPage>();
    const counts = newWordCounts();
    let slow = 0;
    // One after another: a second child for drawing would have to open the file first, and drawing is short.
    let drawing: Promise<unknown> = Promise.resolve();
    const draw = (page: number): Promise<GreyPicture> => {
      const drawn = drawing.then(() => deps.pdf.drawGrey(input, page, { ...call, dpi, maxSidePx: MAX_SIDE_PX, mostMs: PAGE_MS / 2 }));
      drawing = drawn.catch(() => undefined);
      return drawn;
    };
    const readOrLeave = async (page: number): Promise<OcrPage> => {
      if (slow >= MAX_SLOW_PAGES && slow > results.size - slow) return { text: '', failed: 'too many pages before it took too long' };
      try {
        return await pool.use({ owner: call.owner ?? '', key: '', signal: call.signal }, async ({ child }) => {
          const began = performance.now();
          const result = await readPage(child, () => draw(page), found.includes('osd'), call.signal);
          if (result.failed !== undefined && performance.now() - began > pageMs / 5) slow += 1;
          return result;
        });
      } catch (error) {
        // Tesseract did not start.
        if (error instanceof ChildDied || error instanceof LimitHit) return { text: '', failed: 'its picture could not be read' };
        throw error;
      }
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
    const workers = Array.from({ length: Math.min(concurrency, numbers.length) }, work);
    const ends = await Promise.allSettled(workers);
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
    for (const [page, result] of results) results.set(page, { ...result, text: resolveHyphens(result.text, counts) });
    return results;
  }

  async function searchablePdf<T>(input: PdfInput, results: ReadonlyMap<number, OcrPage>, keep: (file: Readable) => Promise<T>, options: { signal?: AbortSignal } = {}): Promise<T> {
    const layers = new Map<number, LayerPage>();
    for (const [page, { text, layer }] of results) if (text !== '' && layer !== undefined) layers.set(page, layer);
    if (layers.size === 0) throw new UnreadableFile('no text was found in the pictures of this document');
    return layWords(deps.sandbox, input, layers, { command: deps.qpdfPath ?? QPDF, limits: deps.limits ?? {}, signal: options.signal, keep });
  }

  return { missing, pages, searchablePdf, close: () => pool.close() };
}
