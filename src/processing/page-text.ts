import { presetOf } from '../library/presets.ts';
import type { ReadPage, ReadResult } from '../formats/types.ts';
import { canRecognise } from './ways.ts';

/** What a document says of its pages as a whole: marks and numbers, derived once when pages are written. */
export function summarisePages(result: Pick<ReadResult, 'pages'>): { pages: number; pagesToView: number[]; imageOnlyPages: number[] } {
  return {
    pages: result.pages.length,
    pagesToView: result.pages.filter((page) => page.toView).map((page) => page.number),
    imageOnlyPages: result.pages.filter(isImageOnly).map((page) => page.number),
  };
}

/** Marked, and nothing to search: a picture, or text that only looks like text (seeds/000, "image_only_pages"). */
const isImageOnly = (page: ReadPage): boolean => page.toView && page.text.trim() === '';

type Written = Pick<ReadPage, 'text' | 'fate'> & { notes?: string | null };

export const hasText = (result: { pages: readonly Written[] }): boolean =>
  result.pages.some((page) => page.text.trim() !== '' || (page.notes ?? '').trim() !== '');

/** Why a document that was read holds nothing to search, in a sentence that says what to do. */
export function reasonWithoutText({ pages, type }: { pages: readonly Written[]; type: string }, preset: string): string {
  const count = (fate: ReadPage['fate']): number => pages.filter((page) => page.fate === fate).length;
  const way = !canRecognise(type)
    ? 'upload it as a PDF to have them read'
    : presetOf(preset).ocr
      ? 'look at them with view_page'
      : 'process it again with “Basic with OCR” to read them, or look at them with view_page';
  if (count('failed') === pages.length) return 'Damaged: no page could be read — upload an undamaged copy';
  if (count('garbled') > 0) return `No readable text: its text layer is garbled — ${way}`;
  if (count('image_only') > 0) return `No text to search: its pages are pictures — ${way}`;
  return 'It holds no text: every page is empty';
}
