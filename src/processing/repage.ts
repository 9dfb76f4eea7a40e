import type { ReadPage } from '../formats/types.ts';

type FlowPage = Pick<ReadPage, 'text' | 'sections'> & { toView?: boolean };

export interface Flow {
  text: string;
  sections: { start: number; title: string }[];
  /** Where pages lie that are to view, in order. */
  toView: { start: number; end: number }[];
}

/** Estimated pages back into the one text they were cut from, with headings at their places in it. */
export function joinFlow(pages: readonly FlowPage[]): Flow {
  let text = '';
  const sections: Flow['sections'] = [];
  const toView: Flow['toView'] = [];
  for (const page of pages) {
    if (text !== '') text += '\n\n';
    for (const section of page.sections ?? []) sections.push({ start: text.length + section.start, title: section.title });
    if (page.toView) toView.push({ start: text.length, end: text.length + page.text.length });
    text += page.text;
  }
  return { text, sections, toView };
}

/**
 * Cuts the flow at the places where the copy's pages start (one start a page, ascending; see formats/align.ts) and takes
 * sizes and marks from the drawn pages, and text for those that nothing of the flow falls to. What the flow has marked stays marked: a
 * copy that is printed from text shows no figures. Notes and hidden text have no place of their own: they stay with the first page.
 */
export function cutAtCopyPages(flow: Flow, starts: readonly number[], drawn: readonly ReadPage[], apart: Pick<ReadPage, 'notes' | 'hidden'>): ReadPage[] {
  const cuts = drawn.map((_page, at) => (at === 0 ? 0 : endOfSentence(flow.text, endOfWord(flow.text, starts[at] ?? flow.text.length))));
  return drawn.map((page, at): ReadPage => {
    const start = cuts[at] ?? flow.text.length;
    const end = cuts[at + 1] ?? flow.text.length;
    const whole = flow.text.slice(start, end);
    const own = whole.trim();
    const text = own === '' && page.fate === 'text' ? page.text : own;
    const shift = start + (whole.length - whole.trimStart().length);
    const sections = flow.sections
      .filter((section) => section.start >= start && section.start < end)
      .map((section) => ({ title: section.title, start: Math.min(Math.max(0, section.start - shift), text.length) }));
    return {
      number: page.number,
      text,
      fate: text !== '' ? 'text' : page.fate,
      toView: page.toView || flow.toView.some((marked) => lies(marked, start, end, at === drawn.length - 1)),
      ...(page.width === undefined ? {} : { width: page.width, height: page.height }),
      ...(sections.length > 0 ? { sections } : {}),
      ...(at === 0 ? apart : {}),
    };
  });
}

/** A page without text, a picture between chapters, lies at one place: on one page of the copy. */
const lies = (marked: { start: number; end: number }, start: number, end: number, isLast: boolean): boolean =>
  marked.start === marked.end ? marked.start >= start && (marked.start < end || isLast) : marked.start < end && marked.end > start;

const wordBefore = /(?<![\p{L}\p{N}\p{M}])[\p{L}\p{N}\p{M}]+$/u;
const wordBehind = /^[\p{L}\p{N}\p{M}]+/u;
/** Their words are not parted by blanks: a cut stays where it is. */
const withoutBlanks = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

/** Alignment may be a few letters off where the copy's own text has none: no word is cut in two, it stays with its larger part. */
function endOfWord(text: string, start: number): number {
  const before = wordBefore.exec(text.slice(Math.max(0, start - 40), start))?.[0] ?? '';
  const behind = wordBehind.exec(text.slice(start, start + 40))?.[0] ?? '';
  if (before === '' || behind === '' || withoutBlanks.test(before + behind)) return start;
  return behind.length <= before.length ? start + behind.length : start - before.length;
}

/** Alignment knows letters and digits only: what closes the sentence before the cut stays with that sentence. */
function endOfSentence(text: string, start: number): number {
  const closing = /^(?:[^\p{L}\p{N}\n]*(?=\n)|[\p{Pe}\p{Pf}.,;:!?…"']+(?=\s|$))/u.exec(text.slice(start, start + 40));
  return start + (closing?.[0].length ?? 0);
}
