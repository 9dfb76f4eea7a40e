import { presetOf } from '../library/presets.ts';
import type { ReadPage, ReadResult } from '../formats/types.ts';
import type { Ocr, ReadSettings, SourceFile } from './ports.ts';

/** What a reading has so far: pages, and the PDFs made on the way. */
export interface Reading {
  result: ReadResult;
  copy?: Uint8Array;
  ocr?: Uint8Array;
}

/**
 * Reads the pages that are pictures (or whose text layer is garbled) with OCR, where the preset says so: decided per page, never
 * per file. A page that OCR cannot read stays what it was.
 */
export async function withOcr(ocr: Ocr, preset: string, pdf: SourceFile, reading: Reading, settings: ReadSettings): Promise<Reading> {
  if (!presetOf(preset).ocr) return reading;
  const wanted = reading.result.pages.filter((page) => page.fate === 'image_only' || page.fate === 'garbled').map((page) => page.number);
  if (wanted.length === 0) return reading;
  const missing = await ocr.missing();
  if (missing !== undefined && missing.startsWith('tesseract is not')) return withNotices(reading, [missing]);
  let done = 0;
  const onPage = (): void => settings.onProgress?.(++done, wanted.length);
  const read = await ocr.read(pdf, wanted, { signal: settings.signal, onPage });
  const found = new Map([...read].filter(([, page]) => page.text.trim() !== ''));
  const pages = reading.result.pages.map((page): ReadPage => {
    const text = found.get(page.number)?.text;
    // A scanned page stays marked: its letters were read, its stamps, figures and tables were not.
    return text === undefined ? page : { ...page, text, fate: 'ocr', toView: true };
  });
  const failures = [...read].flatMap(([number, page]) => (page.failed === undefined ? [] : [`Page ${number} could not be read: ${page.failed}`]));
  const notices = [...(missing === undefined ? [] : [missing]), ...failures.slice(0, 5)];
  const searchable = found.size > 0 ? { ocr: await ocr.searchablePdf(pdf, found, settings.signal) } : {};
  return withNotices({ ...reading, result: { ...reading.result, pages }, ...searchable }, notices);
}

const withNotices = (reading: Reading, notices: readonly string[]): Reading =>
  notices.length === 0 ? reading : { ...reading, result: { ...reading.result, notices: [...(reading.result.notices ?? []), ...notices] } };
