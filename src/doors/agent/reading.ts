import type { PageText } from './ports.ts';
import { cleanText, cutAtGrapheme } from './text.ts';

/** Characters (UTF-16 units) that one call hands out at most (seeds/000). */
export const MAX_TEXT_LENGTH = 24_000;
/** Pages fetched at a time, so that a call on 2,000 pages reads no more of them than it can hand out. */
const BATCH = 16;

export type PageReader = (from: number, to: number) => Promise<PageText[]>;

/** Text of pages `first` to `last`; `more` says in one sentence what was left out, null when nothing was. */
export interface Reading {
  text: string;
  first: number;
  last: number;
  more: string | null;
}

/** The whole document, whole pages joined by a blank line until the limit. */
export async function readWhole(read: PageReader, pages: number): Promise<Reading> {
  const filled = await fill(read, 1, pages, (page) => ({ heading: '', body: cleanText(page.text) }));
  const more = describeRest(filled, pages, 'ask for a page to read on', 'ask for a page to read on');
  return { text: filled.text === '' ? '(no text in this document)' : filled.text, first: 1, last: filled.last, more };
}

/** Pages `from` to `to`, each under its heading, until the limit. */
export async function readRange(read: PageReader, from: number, to: number): Promise<Reading> {
  const filled = await fill(read, from, to, describePage);
  return {
    text: filled.text,
    first: from,
    last: filled.last,
    more: describeRest(filled, to, 'ask for them', 'ask for it'),
  };
}

export async function readSinglePage(read: PageReader, page: number): Promise<{ text: string; more: string | null }> {
  const text = cleanText((await read(page, page))[0]?.text ?? '');
  if (text.trim() === '') return { text: '(nothing on this page)', more: null };
  const cut = cutAtGrapheme(text, MAX_TEXT_LENGTH);
  return {
    text: cut,
    more:
      cut.length < text.length
        ? `Page ${page} is longer than 24,000 characters — the rest of it is not included`
        : null,
  };
}

interface Piece {
  heading: string;
  body: string;
}

interface Filled {
  text: string;
  /** The last page that is in, whole or cut; the one before `from` when there is none. */
  last: number;
  /** The page that was cut because it alone is longer than the limit. */
  cut: number | null;
}

async function fill(read: PageReader, from: number, to: number, present: (page: PageText) => Piece): Promise<Filled> {
  let text = '';
  let last = from - 1;
  for (let start = from; start <= to; start += BATCH) {
    for (const page of await read(start, Math.min(start + BATCH - 1, to))) {
      const { heading, body } = present(page);
      if (heading === '' && body.trim() === '') {
        last = page.number;
        continue;
      }
      const piece = heading === '' || body === '' ? heading + body : `${heading}\n${body}`;
      const longer = text === '' ? piece : `${text}\n\n${piece}`;
      if (longer.length > MAX_TEXT_LENGTH) {
        if (text !== '') return { text, last, cut: null };
        return { text: cutAtGrapheme(piece, MAX_TEXT_LENGTH), last: page.number, cut: page.number };
      }
      text = longer;
      last = page.number;
    }
  }
  return { text, last: to, cut: null };
}

function describePage(page: PageText): Piece {
  const body = cleanText(page.text);
  const empty = body.trim() === '';
  if (!page.toView) return { heading: `--- page ${page.number} ---`, body: empty ? '(nothing on this page)' : body };
  if (empty) return { heading: `--- page ${page.number} (no text, only a picture — view_page shows it) ---`, body: '' };
  return {
    heading: `--- page ${page.number} (view_page may help — the text may miss a figure, chart or table) ---`,
    body,
  };
}

/** What was left out of the pages up to `to`. */
function describeRest(filled: Filled, to: number, askMany: string, askOne: string): string | null {
  const from = filled.last + 1;
  const cut =
    filled.cut === null ? null : `Page ${filled.cut} is longer than 24,000 characters — the rest of it is not included`;
  if (from > to) return cut;
  const rest = from === to ? `Page ${to} not included — ${askOne}` : `Pages ${from}-${to} not included — ${askMany}`;
  return cut === null ? rest : `${cut}. ${rest}`;
}
