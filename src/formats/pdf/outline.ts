import { readUtf16, type Pdfium } from './pdfium.ts';

/** The document's own title and its bookmarks, as titles a page. */

const MAX_BOOKMARKS = 5000;
const MAX_DEPTH = 16;

/** Titles by 0-based page, in the order of the outline. Loops in it end at the bounds. */
export function readOutline(pdfium: Pdfium, document: number): Map<number, string[]> {
  const { call } = pdfium;
  const found = new Map<number, string[]>();
  const seen = new Set<number>();
  const walk = (parent: number, depth: number): void => {
    let item = call.FPDFBookmark_GetFirstChild(document, parent);
    while (item !== 0 && seen.size < MAX_BOOKMARKS && !seen.has(item)) {
      seen.add(item);
      const destination = call.FPDFBookmark_GetDest(document, item);
      const page = destination === 0 ? -1 : call.FPDFDest_GetDestPageIndex(document, destination);
      const current = item;
      const title = readUtf16(pdfium, (buffer, bytes) => call.FPDFBookmark_GetTitle(current, buffer, bytes))
        .replaceAll(/\s+/g, ' ')
        .trim();
      if (page >= 0 && title !== '') found.set(page, [...(found.get(page) ?? []), title.slice(0, 300)]);
      if (depth < MAX_DEPTH) walk(item, depth + 1);
      item = call.FPDFBookmark_GetNextSibling(document, item);
    }
  };
  walk(0, 0);
  return found;
}

/** Where the titles stand in the page's text, in order; one that is not there counts from the page's start. */
export function placeSections(titles: string[], text: string): { start: number; title: string }[] {
  const placed = titles.map((title) => {
    const pattern = title
      .trim()
      .split(/\s+/)
      .map((word) => word.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('\\s+');
    const at = text.search(new RegExp(pattern, 'iu'));
    return { start: Math.max(0, at), title };
  });
  return placed.toSorted((a, b) => a.start - b.start);
}

/** A title worth showing, from what programs write into the field: no file names, no "untitled". */
export function sensibleTitle(raw: string): string | undefined {
  const title = raw.replaceAll(/\s+/g, ' ').replace(/^Microsoft (?:Word|PowerPoint|Excel) - /i, '').trim();
  if (title.length < 3 || title.length > 300 || !/\p{L}{2}/u.test(title)) return undefined;
  if (/^(?:untitled|unbenannt|sans titre|document\d*|presentation\d*|slide ?\d+|title|\(?anonymous\)?)\b.{0,3}$/i.test(title)) return undefined;
  if (/\.(?:docx?|pptx?|xlsx?|pdf|indd|tex|dvi|qxd|rtf|txt|fm|pmd|ai|html?)$/i.test(title) || /^[a-z]:\\|^\/\w|^file:/i.test(title)) return undefined;
  return title;
}
