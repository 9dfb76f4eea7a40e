import type { Readable } from 'node:stream';
import { presetOf } from '../library/presets.ts';
import { UnreadableFile, type ReadPage, type ReadResult } from '../formats/types.ts';
import type { ProcessingDeps } from './deps.ts';
import type { OcrPage, ReadSettings, SourceFile } from './ports.ts';
import { addTypedLines } from './typed-lines.ts';

/** What a reading has so far: pages, and the PDFs made on the way. */
export interface Reading {
  result: ReadResult;
  /** A copy was tried and could not be made: the pages are the file's own. */
  copyFailed?: boolean;
  copy?: Uint8Array;
  /** The searchable PDF, stored already: it may be as large as the file itself. */
  ocr?: { sha256: string; bytes: number };
}

/** Failures that are named one by one; many pages fail for the same reason. */
const FAILURES_NAMED = 5;

/** Pages that are pictures, whose text layer is garbled, or that are scans with a few words typed over them. */
export const isForOcr = (page: ReadPage): boolean => page.fate === 'image_only' || page.fate === 'garbled' || page.scan === true;

/**
 * Reads the pages that are pictures (or whose text layer is garbled) with OCR, where the preset says so: decided per page, never
 * per file. A page that OCR cannot read stays what it was. `pdf` is what these pages are drawn from.
 */
export async function withOcr(deps: Pick<ProcessingDeps, 'ocr' | 'blobs'>, preset: string, pdf: SourceFile, reading: Reading, settings: Pick<ReadSettings, 'signal' | 'onProgress'>): Promise<Reading> {
  if (!presetOf(preset).ocr) return reading;
  const wanted = reading.result.pages.filter(isForOcr).map((page) => page.number);
  if (wanted.length === 0) return reading;
  const missing = await deps.ocr.missing();
  if (missing !== undefined && missing.startsWith('tesseract is not')) return withNotices(reading, [missing]);
  let done = 0;
  const onPage = (): void => settings.onProgress?.(++done, wanted.length);
  const read = await deps.ocr.read(pdf, wanted, { signal: settings.signal, onPage });
  const found = new Map<number, OcrPage>();
  const pages = reading.result.pages.map((page): ReadPage => {
    const recognised = read.get(page.number);
    if (recognised === undefined || recognised.text.trim() === '') return page;
    const text = addTypedLines(page.text, recognised.text);
    if (text === undefined) return page;
    found.set(page.number, recognised);
    const sections = page.sections?.map((section) => ({ ...section, start: Math.max(0, text.indexOf(section.title)) })).toSorted((a, b) => a.start - b.start);
    // A scanned page stays marked: its letters were read, its stamps, figures and tables were not.
    return { ...page, text, fate: 'ocr', toView: true, ...(sections && { sections }) };
  });
  const notices = [...(missing === undefined ? [] : [missing]), ...failures(read)];
  const searchable: Pick<Reading, 'ocr'> = {};
  if (found.size > 0) {
    try {
      searchable.ocr = await deps.ocr.searchablePdf(pdf, found, settings.signal, (file: Readable) => deps.blobs.put(file, Number.MAX_SAFE_INTEGER));
    } catch (error) {
      // The words were read all the same.
      if (!(error instanceof UnreadableFile)) throw error;
      notices.push(`No searchable PDF is kept: ${error.reason}`);
    }
  }
  return withNotices({ ...reading, result: { ...reading.result, pages }, ...searchable }, notices);
}

function failures(read: ReadonlyMap<number, OcrPage>): string[] {
  const failed = [...read].filter(([, page]) => page.failed !== undefined).toSorted(([a], [b]) => a - b);
  const named = failed.slice(0, FAILURES_NAMED).map(([number, page]) => `Page ${number} could not be read: ${page.failed}`);
  const more = failed.length - named.length;
  return more === 0 ? named : [...named, `${more} more ${more === 1 ? 'page' : 'pages'} could not be read`];
}

const withNotices = (reading: Reading, notices: readonly string[]): Reading =>
  notices.length === 0 ? reading : { ...reading, result: { ...reading.result, notices: [...(reading.result.notices ?? []), ...notices] } };
