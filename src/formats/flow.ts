import { UnreadableFile, type ReadPage } from './types.ts';

/** A piece of flowing text: a paragraph, a table row, a heading. Files without pages are a list of these. */
export interface FlowBlock {
  text: string;
  /** Set on a heading: what excerpts name as their section. */
  heading?: string;
  /** Joined to the block before by one line end instead of a blank line (list items, table rows). */
  tight?: boolean;
  /** UTF-16 offsets in `text` where the file says a page ended; 0 = before this block. */
  breaks?: number[];
  notes?: string;
  hidden?: string;
  /** A picture, chart or drawing stands here: the page is one to view. */
  figure?: boolean;
}

/** A table's row as one line, empty cells at its end left out (by a loop: the pattern for it takes forever on a row of thousands). */
export function joinCells(cells: readonly string[]): string {
  let end = cells.length;
  while (end > 0 && cells[end - 1]!.trim() === '') end -= 1;
  return cells.slice(0, end).join(' | ');
}

export interface FlowOptions {
  maxPages: number;
  /** About how many characters a printed page holds. */
  charsPerPage?: number;
  /** True when `breaks` are those that the writing program itself rendered, so that they alone make the pages. */
  rendered?: boolean;
}

/** The agent door reads at most 24,000 characters at once (seeds/000): a longer estimated page could not be read whole. */
const longestPage = 24_000;

/**
 * Cuts flowing text into estimated pages: where the file says so, else about every 3,000 characters at the end of a
 * paragraph. A longer block is cut at a line, sentence or word, never inside a grapheme. Always at least one page.
 */
export function paginate(blocks: FlowBlock[], { maxPages, charsPerPage = 3_000, rendered = false }: FlowOptions): ReadPage[] {
  const total = lengthOf(blocks);
  const target = Math.max(charsPerPage, Math.ceil((total * 1.3) / maxPages));
  if (target > longestPage) throw new UnreadableFile(`Too large to read: more text than ${maxPages.toLocaleString('en-US')} pages hold`);
  const pieces = blocks.flatMap(cutAtBreaks);
  const byMarks = rendered ? pagesByMarks(pieces) : undefined;
  // Marks that leave pages no paper holds are stale: the size is the better guess.
  const marksHold = byMarks && byMarks.length <= maxPages && total / byMarks.length < 8_000 && byMarks.every((page) => lengthOf(page) < longestPage);
  return (marksHold ? byMarks : pagesBySize(pieces, target)).map(pageOf);
}

const lengthOf = (blocks: FlowBlock[]): number => blocks.reduce((sum, block) => sum + block.text.length + 2, 0);

/** The block in pieces that each begin where a page does (`breaks: [0]`), but for the first. */
function cutAtBreaks(block: FlowBlock): FlowBlock[] {
  if (!block.breaks?.some((at) => at > 0)) return [block];
  const cuts = [...new Set(block.breaks)].filter((at) => at > 0).sort((a, b) => a - b);
  const pieces: FlowBlock[] = [{ ...block, text: block.text.slice(0, cuts[0]), breaks: block.breaks.filter((at) => at === 0) }];
  cuts.forEach((at, index) => pieces.push({ text: block.text.slice(at, cuts[index + 1]), breaks: [0] }));
  return pieces;
}

const holdsSomething = (page: FlowBlock[]): boolean => page.some((piece) => piece.text.trim() !== '' || piece.figure);

function pagesByMarks(pieces: FlowBlock[]): FlowBlock[][] {
  const pages: FlowBlock[][] = [[]];
  for (const piece of pieces) {
    // A hard break is followed by a rendered one: together they end one page.
    if (piece.breaks?.includes(0) && holdsSomething(pages[pages.length - 1]!)) pages.push([]);
    pages[pages.length - 1]!.push(piece);
  }
  return withoutBlankEnd(pages);
}

function pagesBySize(pieces: FlowBlock[], target: number): FlowBlock[][] {
  const pages: FlowBlock[][] = [[]];
  let size = 0;
  const turn = () => {
    if (holdsSomething(pages[pages.length - 1]!)) pages.push([]);
    size = 0;
  };
  for (const piece of pieces) {
    if (piece.breaks?.includes(0)) turn();
    // A heading near the end of a page belongs to what follows.
    if (size > 0 && (size + piece.text.length > target * 1.1 || (piece.heading !== undefined && size > target * 0.9))) turn();
    if (piece.text.length <= target * 1.25) {
      pages[pages.length - 1]!.push(piece);
      size += piece.text.length + 2;
      continue;
    }
    splitText(piece.text, target).forEach((text, index) => {
      if (index > 0) turn();
      pages[pages.length - 1]!.push(index === 0 ? { ...piece, text } : { text });
      size = text.length;
    });
  }
  return withoutBlankEnd(pages);
}

function withoutBlankEnd(pages: FlowBlock[][]): FlowBlock[][] {
  const last = pages[pages.length - 1]!;
  if (pages.length > 1 && !holdsSomething(last)) pages[pages.length - 2]!.push(...pages.pop()!);
  return pages;
}

/** Pieces of at most `target` characters; joined they are the text again. Linear in the length, whatever it holds. */
export function splitText(text: string, target: number): string[] {
  const pieces: string[] = [];
  let from = 0;
  while (text.length - from > target) {
    const cut = cutPlace(text, from, from + target);
    pieces.push(text.slice(from, cut));
    from = cut;
  }
  pieces.push(text.slice(from));
  return pieces;
}

const segmenter = new Intl.Segmenter('und', { granularity: 'grapheme' });

function cutPlace(text: string, from: number, to: number): number {
  const earliest = from + Math.floor((to - from) * 0.7);
  const window = text.slice(earliest, to);
  const line = window.lastIndexOf('\n');
  if (line >= 0) return earliest + line + 1;
  const sentence = Math.max(...['. ', '! ', '? ', '。', '！', '？', '; ', ', '].map((mark) => window.lastIndexOf(mark) + (window.includes(mark) ? mark.length : 0)));
  if (sentence > 0) return earliest + sentence;
  const space = window.lastIndexOf(' ');
  if (space >= 0) return earliest + space + 1;
  return graphemeStart(text, to, earliest);
}

/** The last grapheme boundary at or before `at`, not before `lowest`; a run of combining marks is cut hard after 1,000. */
export function graphemeStart(text: string, at: number, lowest = 0): number {
  if (at >= text.length) return text.length;
  const start = Math.max(lowest, at - 1_000);
  let boundary = start;
  // The segmenter must begin on a boundary of its own: after a line end or space if one is near.
  for (let back = at - 1; back > start; back--) {
    const code = text.charCodeAt(back);
    if (code === 32 || code === 10) {
      boundary = back;
      break;
    }
  }
  let last = boundary;
  for (const { index } of segmenter.segment(text.slice(boundary, Math.min(text.length, at + 200)))) {
    if (boundary + index > at) break;
    last = boundary + index;
  }
  if (last > lowest) return last;
  const low = text.charCodeAt(at);
  return low >= 0xdc00 && low <= 0xdfff ? at - 1 : at;
}

/** One page of these blocks; `index` is 0-based. */
export function pageOf(pieces: FlowBlock[], index: number): ReadPage {
  let text = '';
  const sections: { start: number; title: string }[] = [];
  const notes: string[] = [];
  const hidden: string[] = [];
  let figure = false;
  for (const piece of pieces) {
    if (piece.notes) notes.push(piece.notes);
    if (piece.hidden) hidden.push(piece.hidden);
    if (piece.figure) figure = true;
    const body = piece.text.replace(/(?<![ \t\n])[ \t\n]+$/, '');
    if (body.trim() === '') continue;
    if (text !== '') text += piece.tight ? '\n' : '\n\n';
    if (piece.heading !== undefined) sections.push({ start: text.length, title: piece.heading });
    text += body;
  }
  return {
    number: index + 1,
    text,
    fate: text !== '' ? 'text' : figure ? 'image_only' : 'empty',
    toView: figure,
    ...(sections.length > 0 && { sections }),
    ...(notes.length > 0 && { notes: notes.join('\n') }),
    ...(hidden.length > 0 && { hidden: hidden.join('\n') }),
  };
}

/** Removes what no reader sees and no index can hold: NUL and control characters, lone surrogates become U+FFFD. */
export const cleanText = (text: string): string =>
  text
    .replace(/\r\n?|\u2028|\u2029/g, '\n')
    // oxlint-disable-next-line no-control-regex
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\ufeff\ufffe\uffff]/g, '')
    .toWellFormed();
