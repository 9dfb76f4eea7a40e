import type { ReadPage } from '../formats/types.ts';

type FlowPage = Pick<ReadPage, 'text' | 'sections' | 'notes' | 'hidden'>;

/** Estimated pages back into the one text they were cut from, with headings at their places in it. */
export function joinFlow(pages: readonly FlowPage[]): { text: string; sections: { start: number; title: string }[] } {
  let text = '';
  const sections: { start: number; title: string }[] = [];
  for (const page of pages) {
    if (text !== '') text += '\n\n';
    for (const section of page.sections ?? []) sections.push({ start: text.length + section.start, title: section.title });
    text += page.text;
  }
  return { text, sections };
}

/**
 * Cuts the flow at the places where the copy's pages start (one start a page, ascending; see formats/align.ts) and takes
 * sizes and marks from the drawn pages. Notes and hidden text have no place of their own: they stay with the first page.
 */
export function cutAtCopyPages(flow: ReturnType<typeof joinFlow>, starts: readonly number[], drawn: readonly ReadPage[], apart: Pick<ReadPage, 'notes' | 'hidden'>): ReadPage[] {
  return drawn.map((page, at): ReadPage => {
    const start = at === 0 ? 0 : (starts[at] ?? flow.text.length);
    const end = at + 1 < drawn.length ? (starts[at + 1] ?? flow.text.length) : flow.text.length;
    const whole = flow.text.slice(start, end);
    const text = whole.trim();
    const shift = start + (whole.length - whole.trimStart().length);
    const sections = flow.sections
      .filter((section) => section.start >= start && section.start < end)
      .map((section) => ({ title: section.title, start: Math.min(Math.max(0, section.start - shift), text.length) }));
    return {
      number: page.number,
      text,
      fate: text !== '' ? 'text' : page.fate === 'text' ? 'empty' : page.fate,
      toView: page.toView,
      ...(page.width === undefined ? {} : { width: page.width, height: page.height }),
      ...(sections.length > 0 ? { sections } : {}),
      ...(at === 0 ? apart : {}),
    };
  });
}
