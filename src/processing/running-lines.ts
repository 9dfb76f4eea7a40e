import type { ReadPage } from '../formats/types.ts';

/** Running heads and feet are at most so many lines at an end of a page. */
const LINES = 4;

const letters = (text: string): string => text.normalize('NFKC').replace(/[^\p{L}]/gu, '').toLowerCase();

/** Lines at the ends of a drawn page that another page has too, at the same end; page numbers may differ. */
function repeatedEnds(drawn: readonly ReadPage[]): { head: string[]; foot: string[] }[] {
  const lines = drawn.map((page) => page.text.split('\n').map((line) => line.trim()).filter((line) => line !== ''));
  const ends = lines.map((each) => ({
    head: each.slice(0, Math.min(LINES, Math.ceil(each.length / 2))),
    foot: each.slice(Math.max(Math.ceil(each.length / 2), each.length - LINES)),
  }));
  const counts = { head: new Map<string, number>(), foot: new Map<string, number>() };
  for (const end of ends) for (const which of ['head', 'foot'] as const) for (const line of new Set(end[which].map(letters))) counts[which].set(line, (counts[which].get(line) ?? 0) + 1);
  const isRepeated = (which: 'head' | 'foot') => (line: string): boolean => letters(line).length > 2 && (counts[which].get(letters(line)) ?? 0) > 1;
  return ends.map((end) => {
    // A head is what repeats from the top on, a foot what repeats up to the end: a line between others is text.
    const last = end.head.findLastIndex(isRepeated('head'));
    const first = end.foot.findIndex(isRepeated('foot'));
    return { head: end.head.slice(0, last + 1).filter(isRepeated('head')), foot: first < 0 ? [] : end.foot.slice(first).filter(isRepeated('foot')) };
  });
}

/**
 * A Word file says its running heads once, its copy prints them on every page: each page gets those that it shows, and the first page
 * loses what only later ones show. Lines that the page's text has already are not said again.
 */
export function addRunningLines(pages: readonly ReadPage[], drawn: readonly ReadPage[]): ReadPage[] {
  if (drawn.length < 2) return [...pages];
  const ends = repeatedEnds(drawn);
  const everyHead = new Set(ends.flatMap(({ head, foot }) => [...head, ...foot]).map(letters));
  return pages.map((page, at) => {
    if (page.fate !== 'text' && page.fate !== 'empty') return page;
    const shown = letters(drawn[at]?.text ?? '');
    let { text } = page;
    let cut = 0;
    if (at === 0) {
      for (let line = /^[^\n]*\n+/.exec(text)?.[0]; line !== undefined && everyHead.has(letters(line)) && !shown.includes(letters(line)); line = /^[^\n]*\n+/.exec(text)?.[0]) {
        text = text.slice(line.length);
        cut += line.length;
      }
    }
    const own = letters(text);
    const missing = (lines: readonly string[]): string => lines.filter((line) => !own.includes(letters(line))).join('\n');
    const [head, foot] = [missing(ends[at]?.head ?? []), missing(ends[at]?.foot ?? [])];
    if (head === '' && foot === '' && cut === 0) return page;
    const before = head === '' ? '' : `${head}\n\n`;
    const whole = [head, text, foot].filter((part) => part !== '').join('\n\n').trim();
    const sections = page.sections?.filter((section) => section.start >= cut).map((section) => ({ ...section, start: section.start - cut + before.length }));
    return { ...page, text: whole, fate: whole === '' ? page.fate : 'text', ...(sections === undefined ? {} : { sections }) };
  });
}
