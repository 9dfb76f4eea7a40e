import { Parser } from 'htmlparser2';
import { cleanText, joinCells, type FlowBlock } from './flow.ts';
import { UnreadableFile } from './types.ts';

/** Text of a web page as blocks: everything a reader sees, menus included; scripts and styles are not text. */
export interface HtmlText {
  blocks: FlowBlock[];
  title?: string;
}

const skipped = new Set(['script', 'style', 'template', 'noscript', 'head', 'iframe', 'object', 'embed', 'audio', 'video', 'canvas', 'datalist', 'svg', 'symbol', 'defs']);
const blockTags = new Set([
  'p', 'div', 'section', 'article', 'aside', 'header', 'footer', 'nav', 'main', 'address', 'blockquote', 'figure', 'figcaption', 'form', 'fieldset',
  'legend', 'dl', 'dt', 'dd', 'ul', 'ol', 'li', 'pre', 'hr', 'table', 'caption', 'thead', 'tbody', 'tfoot', 'tr', 'td', 'th', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6',
  'details', 'summary', 'option', 'center', 'body', 'html', 'dialog', 'hgroup', 'search', 'menu',
]);

/** Columns that cells from above may cover: spans that add up row by row are no table (browsers stop at 1,000 as well). */
const MOST_COLUMNS = 1_000;
/** No page is nested so deep; each level costs the parser the levels above it, so that twice as many take four times as long. */
const DEEPEST = 100_000;

interface Cell {
  blocks: FlowBlock[];
  columns: number;
  rows: number;
  holdsTable: boolean;
}

interface Table {
  row: Cell[] | undefined;
  cell: Cell | undefined;
  /** Column → rows that a cell from above still covers. */
  covered: Map<number, number>;
  isFirstRow: boolean;
}

interface Open {
  tag: string;
  hides: boolean;
  skips: boolean;
}

export function readHtmlBlocks(html: string): HtmlText {
  const blocks: FlowBlock[] = [];
  const tables: Table[] = [];
  const lists: { ordered: boolean; next: number }[] = [];
  const open: Open[] = [];
  let skipping = 0;
  let drawings = 0;
  let drawnWords = 0;
  let hiding = 0;
  let preformatted = 0;
  let text = '';
  let hidden = '';
  let heading = false;
  let figure = false;
  let label = '';
  let afterItem = false;
  let title: string | undefined;
  let inTitle = false;

  /** The innermost open cell, which may be one of an outer table; else the page. */
  const target = (): FlowBlock[] => tables.findLast((table) => table.cell)?.cell?.blocks ?? blocks;

  function flush(): void {
    const body = cleanText(text).replace(/(?<![ \t])[ \t]+\n/g, '\n').replace(/\n[ \t]+/g, preformatted > 0 ? '$&' : '\n').trim();
    const secret = cleanText(hidden).replace(/\s+/g, ' ').trim();
    text = '';
    hidden = '';
    if (body === '' && secret === '' && !figure) return;
    const block: FlowBlock = { text: body === '' ? '' : label === '' ? body : `${label} ${body}` };
    if (heading && body !== '') block.heading = body.replace(/\s+/g, ' ');
    if (label !== '' && afterItem && body !== '') block.tight = true;
    if (body !== '') {
      afterItem = label !== '';
      label = '';
    }
    if (secret !== '') block.hidden = secret;
    if (figure) block.figure = true;
    figure = false;
    target().push(block);
  }

  function closeRow(table: Table): void {
    flush();
    const cells = table.row;
    table.row = undefined;
    table.cell = undefined;
    if (!cells) return;
    const filled = cells.filter((cell) => cell.blocks.some((block) => block.text !== ''));
    const isLayout = filled.length <= 1 ? filled.some((cell) => cell.blocks.length > 1 || cell.holdsTable) : cells.some((cell) => cell.holdsTable || cell.blocks.filter((block) => block.text !== '').length > 8);
    const into = target();
    if (isLayout) {
      for (const cell of cells) into.push(...cell.blocks);
      table.isFirstRow = true;
      return;
    }
    const columns: string[] = [];
    const row: FlowBlock = { text: '' };
    const skipCovered = () => {
      for (let left = table.covered.get(columns.length); left !== undefined && left > 0 && columns.length < MOST_COLUMNS; left = table.covered.get(columns.length)) {
        table.covered.set(columns.length, left - 1);
        columns.push('');
      }
    };
    for (const cell of cells) {
      skipCovered();
      for (let column = 0; column < cell.columns; column++) {
        if (cell.rows > 1 && columns.length < MOST_COLUMNS) table.covered.set(columns.length, cell.rows - 1);
        columns.push(column === 0 ? cell.blocks.map((block) => block.text.replace(/\s+/g, ' ')).filter(Boolean).join(' ') : '');
      }
      for (const inner of cell.blocks) {
        if (inner.figure) row.figure = true;
        if (inner.hidden) row.hidden = row.hidden ? `${row.hidden} ${inner.hidden}` : inner.hidden;
        if (inner.heading !== undefined) row.heading ??= inner.heading;
      }
    }
    skipCovered();
    row.text = joinCells(columns);
    if (!table.isFirstRow) row.tight = true;
    if (row.text !== '' || row.figure || row.hidden) {
      into.push(row);
      table.isFirstRow = false;
    }
  }

  const parser = new Parser(
    {
      onopentag(tag, attributes) {
        const skips = skipped.has(tag);
        // The title stands in the head, which is skipped; only its own text is taken.
        if (tag === 'title' && !open.some((element) => element.tag === 'svg')) inTitle = true;
        const hides = isHidden(attributes);
        if (open.length >= DEEPEST) throw new UnreadableFile('Damaged: its parts are nested too deep to be a real page');
        open.push({ tag, hides, skips });
        if (skips) skipping++;
        // The words of a drawing (a chart's labels) are seen; its title and what it only defines are not.
        if (tag === 'svg') drawings++;
        if (tag === 'text' && skipping === 1 && drawings > 0) drawnWords++;
        if (hides) hiding++;
        if (tag === 'svg' && skipping === 1) figure ||= isLarge(attributes);
        if (skipping > 0) return;
        if (blockTags.has(tag)) flush();
        switch (tag) {
          case 'br':
            text += '\n';
            break;
          case 'pre':
          case 'textarea':
            preformatted++;
            break;
          case 'img':
          case 'image':
            if (isLarge(attributes)) figure = true;
            break;
          case 'ul':
          case 'ol':
            lists.push({ ordered: tag === 'ol', next: Number(attributes['start'] ?? 1) || 1 });
            break;
          case 'li': {
            const list = lists.at(-1);
            label = list?.ordered ? `${list.next++}.` : '•';
            break;
          }
          case 'table': {
            const outer = tables.at(-1)?.cell;
            if (outer) outer.holdsTable = true;
            tables.push({ row: undefined, cell: undefined, covered: new Map(), isFirstRow: true });
            break;
          }
          case 'tr': {
            const table = tables.at(-1);
            if (table) {
              closeRow(table);
              table.row = [];
            }
            break;
          }
          case 'td':
          case 'th': {
            const table = tables.at(-1);
            if (!table) break;
            table.row ??= [];
            table.cell = { blocks: [], columns: spanOf(attributes['colspan'], 100), rows: spanOf(attributes['rowspan'], 1_000), holdsTable: false };
            table.row.push(table.cell);
            break;
          }
          case 'h1': case 'h2': case 'h3': case 'h4': case 'h5': case 'h6':
            heading = true;
            break;
          case 'input':
            if (/^(text|email|number|tel|url|search|date)?$/i.test(attributes['type'] ?? '') && attributes['value']) text += ` ${attributes['value']} `;
            break;
          default:
            break;
        }
      },
      ontext(piece) {
        if (inTitle) title = (title ?? '') + piece;
        if (skipping > (drawnWords > 0 ? 1 : 0)) return;
        const shown = preformatted > 0 ? piece : collapse(piece, hiding > 0 ? hidden : text);
        if (hiding > 0) hidden += shown;
        else text += shown;
      },
      onclosetag(tag) {
        const element = open.pop();
        if (tag === 'svg' && drawings > 0) drawings--;
        if (tag === 'text' && drawnWords > 0) {
          drawnWords--;
          text += '\n';
        }
        if (tag === 'title') inTitle = false;
        if (element?.skips) {
          skipping--;
          return;
        }
        if (skipping === 0 && blockTags.has(tag)) flush();
        if (element?.hides) {
          // What was hidden inside a sentence must not swallow the next words.
          hiding--;
        }
        if (skipping > 0) return;
        switch (tag) {
          case 'pre':
          case 'textarea':
            preformatted--;
            break;
          case 'ul':
          case 'ol':
            lists.pop();
            label = '';
            afterItem = false;
            break;
          case 'li':
            label = '';
            break;
          case 'td':
          case 'th': {
            const table = tables.at(-1);
            if (table) table.cell = undefined;
            break;
          }
          case 'tr': {
            const table = tables.at(-1);
            if (table) closeRow(table);
            break;
          }
          case 'table': {
            const table = tables.at(-1);
            if (table) closeRow(table);
            tables.pop();
            break;
          }
          case 'h1': case 'h2': case 'h3': case 'h4': case 'h5': case 'h6':
            heading = false;
            break;
          default:
            break;
        }
      },
    },
    { decodeEntities: true, lowerCaseTags: true, recognizeSelfClosing: true },
  );
  parser.write(html);
  parser.end();
  flush();
  while (tables.length > 0) {
    closeRow(tables.at(-1)!);
    tables.pop();
  }
  return { blocks, title: title?.replace(/\s+/g, ' ').trim() };
}

/** White space as a browser shows it: one blank, none at the start of a block or after another. */
function collapse(piece: string, before: string): string {
  const shown = piece.replace(/[ \t\n\r\f]+/g, ' ');
  return /(^|[\s])$/.test(before.slice(-1)) && shown.startsWith(' ') ? shown.slice(1) : shown;
}

const spanOf = (value: string | undefined, most: number): number => Math.min(most, Math.max(1, Math.floor(Number(value ?? 1)) || 1));

const isHidden = (attributes: Record<string, string>): boolean =>
  'hidden' in attributes || /display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0(px|pt|em|%)?\s*(;|$|!)|opacity\s*:\s*0(\.0+)?\s*(;|$|!)/i.test(attributes['style'] ?? '');

/** Icons, spacers and counters are no reason to look at the page. */
function isLarge(attributes: Record<string, string>): boolean {
  const { width, height } = declaredSize(attributes);
  return (width === undefined || width >= 150) && (height === undefined || height >= 100);
}

/** What a page says of a picture's size, in pixels. */
export function declaredSize(attributes: Record<string, string>): { width: number | undefined; height: number | undefined } {
  const sizeOf = (name: string) => {
    const raw = attributes[name] ?? new RegExp(`(?:^|[;\\s])${name}\\s*:\\s*([\\d.]+)px`, 'i').exec(attributes['style'] ?? '')?.[1];
    return raw === undefined || !/^[\d.]+(px)?$/.test(raw) ? undefined : Number.parseFloat(raw);
  };
  return { width: sizeOf('width'), height: sizeOf('height') };
}
