import { paginate, type FlowBlock } from './flow.ts';
import { decodeText, looksLikeText } from './text.ts';
import type { Format, ReadOptions, ReadResult } from './types.ts';

/** Rows are gathered into blocks of about this many characters: a page break falls between rows. */
const blockChars = 600;
const longestRepeatedHeader = 400;

/**
 * Tables as text (csv, tsv): the delimiter is detected, quotes are honoured, each row is one line with its cells parted by
 * ` | `. The header row stands again at the top of each page, so that a page can be understood alone.
 */
export function readCsv(bytes: Uint8Array, options: ReadOptions): ReadResult {
  const { text } = decodeText(bytes);
  const delimiter = detectDelimiter(text);
  const blocks: FlowBlock[] = [];
  let gathered = '';
  let header: string | undefined;
  for (const cells of parseRows(text, delimiter)) {
    const line = rowLine(cells);
    if (line === '') continue;
    header ??= cells.length > 1 && cells.every((cell) => /[^\d.,\s%+-]/.test(cell)) ? line : '';
    if (gathered.length + line.length > blockChars && gathered !== '') {
      blocks.push({ text: gathered, tight: true });
      gathered = '';
    }
    gathered += gathered === '' ? line : `\n${line}`;
  }
  if (gathered !== '') blocks.push({ text: gathered, tight: true });
  const pages = paginate(blocks, { maxPages: options.maxPages });
  if (header && header.length <= longestRepeatedHeader) {
    for (const page of pages.slice(1)) page.text = `${header}\n${page.text}`;
  }
  options.onProgress?.(pages.length, pages.length);
  return { type: 'csv', pages, pagesEstimated: true };
}

/** Cells parted by ` | `, empty ones at the end left out, each on one line. */
export function rowLine(cells: string[]): string {
  let last = cells.length;
  while (last > 0 && cells[last - 1]!.trim() === '') last--;
  return cells
    .slice(0, last)
    .map((cell) => (/[\t\n\v\f]|  /.test(cell) ? cell.replace(/\s+/g, ' ').trim() : cell.trim()))
    .join(' | ');
}

export const csv: Format = {
  type: 'csv',
  sniff: (head, name) => /\.(csv|tsv|tab)$/i.test(name) && looksLikeText(head),
  read: async (bytes, options) => readCsv(bytes, options),
};

const delimiters = [',', ';', '\t', '|'];

/** The delimiter whose number per row is steadiest over the first rows; `,` when none occurs. */
export function detectDelimiter(text: string): string {
  const sample = text.slice(0, 65_536);
  let best = ',';
  let bestScore = 0;
  for (const delimiter of delimiters) {
    const widths: number[] = [];
    for (const row of parseRows(sample, delimiter)) {
      if (widths.length >= 100) break;
      if (row.length > 1 || row[0] !== '') widths.push(row.length);
    }
    // The last row of a cut sample may be cut too.
    if (widths.length > 2 && text.length > sample.length) widths.pop();
    const counts = new Map<number, number>();
    for (const width of widths) counts.set(width, (counts.get(width) ?? 0) + 1);
    for (const [width, rows] of counts) {
      if (width < 2) continue;
      const score = (rows / widths.length) * Math.min(2, 1 + Math.log10(width));
      if (score > bestScore * 1.001) [best, bestScore] = [delimiter, score];
    }
  }
  return best;
}

/** No spreadsheet has more columns; a longer row goes on as the next one. */
const longestRow = 16_384;
/** Longest text searched for the end of a quote: beyond it the quote is an ordinary character. */
const longestQuoted = 1_000_000;

/** Rows of cells by RFC 4180, lenient: a quote inside a cell or without an end is part of its text. */
export function* parseRows(text: string, delimiter: string): Generator<string[]> {
  const split = delimiter.charCodeAt(0);
  let at = 0;
  let row: string[] = [];
  while (at < text.length) {
    let cell: string | undefined;
    if (text.charCodeAt(at) === 34) {
      const quoted = readQuoted(text, at, delimiter);
      if (quoted) {
        cell = quoted.cell;
        at = quoted.end;
      }
    }
    if (cell === undefined) {
      let end = at;
      // Code units are compared one by one: indexOf twice per cell would be quadratic on one long line.
      for (; end < text.length; end++) {
        const code = text.charCodeAt(end);
        if (code === split || code === 10) break;
      }
      cell = text.slice(at, end);
      at = end;
    }
    row.push(cell);
    if (at >= text.length || text.charCodeAt(at) === 10 || row.length >= longestRow) {
      yield row;
      row = [];
    } else if (at === text.length - 1) {
      row.push('');
    }
    at++;
  }
  if (row.length > 0) yield row;
}

function readQuoted(text: string, start: number, delimiter: string): { cell: string; end: number } | undefined {
  let from = start + 1;
  for (;;) {
    const quote = text.indexOf('"', from);
    if (quote < 0 || quote - start > longestQuoted) return undefined;
    const next = text[quote + 1];
    if (next === '"') {
      from = quote + 2;
      continue;
    }
    if (next !== undefined && next !== delimiter && next !== '\n') return undefined;
    return { cell: text.slice(start + 1, quote).replaceAll('""', '"'), end: quote + 1 };
  }
}
