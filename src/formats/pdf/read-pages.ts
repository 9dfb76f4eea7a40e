import type { ReadPage } from '../types.ts';
import { readAnnotations } from './annotations.ts';
import { openForm } from './draw.ts';
import { countWords, HYPHEN_MARK, newWordCounts, resolveHyphens, type WordCounts } from './hyphens.ts';
import { hasInk, isDensePicture } from './ink.ts';
import { judgePage } from './marks.ts';
import { placeSections, readOutline, sensibleTitle } from './outline.ts';
import { readPageText } from './page-text.ts';
import { drawPaper, type Paper } from './paper.ts';
import { readUtf16, withCString, type Pdfium } from './pdfium.ts';
import { readSignals, type Box, type Signals } from './signals.ts';
import { openDocument, type OpenDocument, type OpenProblem, type Source } from './source.ts';

/** Reads every page of a document. Runs in the sandboxed child. */

export interface PdfReading {
  title: string | undefined;
  pages: ReadPage[];
}

interface RawPage extends ReadPage {
  fields: string[];
}

const PAGES_KEPT_OPEN = 4;
/** PDFium keeps what it has parsed; a very large file is opened anew after this much, so that memory stays flat. */
const REOPEN_AFTER_BYTES = 192 * 1024 ** 2;

export interface Current {
  document: OpenDocument;
}

/**
 * `skip`: pages (1-based) that ended an earlier attempt; they come back as failed. `onPage` is called before each page is
 * touched, so that the parent knows which one was at work when the child dies.
 */
export function readPages(
  pdfium: Pdfium,
  current: Current,
  source: Source,
  skip: ReadonlySet<number>,
  onPage: (number: number, total: number) => void,
): PdfReading | OpenProblem {
  const { call } = pdfium;
  const total = current.document.pageCount;
  const outline = readOutline(pdfium, current.document.handle);
  const title = sensibleTitle(
    withCString(pdfium, 'Title', (tag) =>
      readUtf16(pdfium, (buffer, bytes) => call.FPDF_GetMetaText(current.document.handle, tag, buffer, bytes)),
    ),
  );
  const hasForm = call.FPDF_GetFormType(current.document.handle) !== 0;
  let form = hasForm ? openForm(pdfium, current.document.handle) : undefined;
  const raw: RawPage[] = [];
  // PDFium drops a font with the last page that uses it and loads it anew for the next: a few pages stay open meanwhile.
  const open: number[] = [];
  const closePages = (keep: number): void => {
    for (const page of open.splice(0, open.length - keep)) call.FPDF_ClosePage(page);
  };
  for (let index = 0; index < total; index += 1) {
    onPage(index + 1, total);
    if (current.document.bytesRead() > REOPEN_AFTER_BYTES) {
      closePages(0);
      form?.close();
      current.document.close();
      const again = openDocument(pdfium, source);
      if (typeof again === 'string') return again;
      current.document = again;
      form = hasForm ? openForm(pdfium, again.handle) : undefined;
    }
    const handle = skip.has(index + 1) ? 0 : call.FPDF_LoadPage(current.document.handle, index);
    closePages(Math.min(open.length, PAGES_KEPT_OPEN));
    if (handle !== 0) open.push(handle);
    const page = handle === 0 ? undefined : readPage(pdfium, handle, form?.handle ?? 0, index);
    raw.push(page ?? { number: index + 1, text: '', fate: 'failed', toView: true, fields: [] });
  }
  closePages(0);
  form?.close();
  const counts = countDocument(raw);
  return { title, pages: raw.map((page, index) => finishPage(page, outline.get(index), counts)) };
}

/** What the document writes elsewhere, for deciding hyphens; nothing when there are none to decide. */
function countDocument(pages: readonly RawPage[]): WordCounts {
  const counts = newWordCounts();
  const marked = pages.some((page) => page.text.includes(HYPHEN_MARK) || page.hidden?.includes(HYPHEN_MARK));
  if (marked) for (const page of pages) countWords(page.text, counts);
  return counts;
}

function readPage(pdfium: Pdfium, page: number, form: number, index: number): RawPage {
  const { call, scratch } = pdfium;
  const textPage = call.FPDFText_LoadPage(page);
  try {
    const width = call.FPDF_GetPageWidthF(page);
    const height = call.FPDF_GetPageHeightF(page);
    const area = visibleArea(pdfium, page, scratch);
    let known: Signals | undefined;
    const signals = (): Signals => (known ??= readSignals(pdfium, page, area));
    const turns = call.FPDFPage_GetRotation(page) & 3;
    let drawn: Paper | undefined;
    const paper = (): Paper => (drawn ??= drawPaper(pdfium, form, page, area, turns));
    const read = textPage === 0 ? { text: '', hidden: '', unmapped: 0, isLayer: false } : readPageText(pdfium, textPage, area, turns, { signals, paper });
    const { fields, comments, visible } = readAnnotations(pdfium, page, form);
    const shown = [read.text, ...fields].join('\n').trim();
    const showsInk = (): boolean => {
      const { drawnThings, largest } = signals();
      if (largest !== undefined && isDensePicture(pdfium, largest)) return true;
      return (drawnThings > 0 || visible > 0) && hasInk(pdfium, form, page);
    };
    const judged = judgePage({ ...read, text: shown }, signals(), showsInk);
    const noise = judged.fate === 'garbled';
    return {
      number: index + 1,
      text: noise ? '' : read.text,
      ...judged,
      width: round(width),
      height: round(height),
      fields: noise ? [] : fields,
      ...(comments.length > 0 ? { notes: comments.join('\n') } : {}),
      ...(read.hidden !== '' ? { hidden: read.hidden } : {}),
    };
  } finally {
    if (textPage !== 0) call.FPDFText_ClosePage(textPage);
  }
}

/** Text with its hyphens decided; values of form fields that the text does not show follow it. */
function finishPage({ fields, ...page }: RawPage, titles: string[] | undefined, counts: WordCounts): ReadPage {
  let text = resolveHyphens(page.text, counts);
  const missing = fields.filter((field) => !text.includes(field));
  if (missing.length > 0) text = [text, ...missing].filter((part) => part !== '').join('\n');
  const hidden = page.hidden === undefined ? undefined : resolveHyphens(page.hidden, counts);
  return {
    ...page,
    text,
    ...(hidden === undefined ? {} : { hidden }),
    ...(titles !== undefined && text !== '' ? { sections: placeSections(titles, text) } : {}),
  };
}

function visibleArea(pdfium: Pdfium, page: number, scratch: number): Box {
  // FS_RECTF: left, top, right, bottom.
  pdfium.call.FPDF_GetPageBoundingBox(page, scratch);
  const [left, top, right, bottom] = pdfium.floats().subarray(scratch >> 2, (scratch >> 2) + 4) as unknown as [number, number, number, number];
  return { x0: Math.min(left, right), y0: Math.min(top, bottom), x1: Math.max(left, right), y1: Math.max(top, bottom) };
}

const round = (points: number): number => Math.round(points * 1000) / 1000;
