import { formatNumber } from './docx-styles.ts';
import { mergeMarks } from './docx-table.ts';
import { joinCells, cleanText, paginate, type FlowBlock } from './flow.ts';
import { odfFontNotices } from './odf-fonts.ts';
import { openOdf, pointsOf, readOdfFrame, readOdfParagraph } from './odf.ts';
import { addStyles, inherits, type Styles } from './odt-styles.ts';
import { sniffContainer } from './sniff.ts';
import type { Format, ReadOptions, ReadResult } from './types.ts';
import { childOf, childrenOf, elementsOf, findFirst, readXmlPart, readXmlTree, type XmlElement } from './xml.ts';
import { isZip, type Zip } from './zip.ts';

interface Context {
  zip: Zip;
  styles: Styles;
  marks: { count: number };
  outline: number[];
  /** Where numbered lists got to, by their id; and the last one of each style, which `continue-numbering` goes on from. */
  lists: Map<string, number[]>;
  /** Printed after the text, as programs do. */
  endnotes: FlowBlock[];
  seen: { rendered: boolean; changes: boolean };
}

/** OpenDocument text: paragraphs, lists with their numbers, tables by row, notes, text boxes, formulas. Pages are estimated. */
export function readOdt(bytes: Uint8Array, options: ReadOptions): ReadResult {
  const { zip, content, title } = openOdf(bytes, options);
  const styles: Styles = { lists: new Map(), outline: new Map(), breaks: new Set(), parents: new Map(), hidden: new Set(), hiddenSpans: new Set() };
  const common = zip.find('styles.xml');
  const commonStyles = common && common.packedBytes > 0 ? readXmlTree(zip, common) : undefined;
  if (commonStyles) addStyles(commonStyles, styles);
  const context: Context = { zip, styles, marks: { count: 0 }, outline: [], lists: new Map(), endnotes: [], seen: { rendered: false, changes: false } };
  const blocks: FlowBlock[] = [];
  let inText = false;
  readXmlPart(zip, content, {
    onOpen: (name) => {
      if (inText || name === 'office:automatic-styles') return true;
      if (name === 'office:text') inText = true;
      return false;
    },
    onTree: (element) => {
      if (element.name === 'office:automatic-styles') addStyles({ name: '', attrs: {}, children: [element] }, styles);
      else addBlock(element, blocks, context, 0);
    },
    onClose: (name) => {
      if (name === 'office:text') inText = false;
    },
  });
  const edges = commonStyles ? readEdges(commonStyles, context) : { headers: [], footers: [] };
  const pages = paginate([...edges.headers.map((text) => ({ text })), ...blocks, ...context.endnotes], { maxPages: options.maxPages, rendered: context.seen.rendered });
  if (edges.footers.length > 0 && pages[0]!.fate !== 'image_only') {
    pages[0]!.text = [pages[0]!.text, ...edges.footers].filter(Boolean).join('\n\n');
    pages[0]!.fate = 'text';
  }
  options.onProgress?.(pages.length, pages.length);
  const notices = [...(context.seen.changes ? ['It has tracked changes: it is read as if all of them were accepted'] : []), ...odfFontNotices(zip, content, pages, options)];
  return { type: 'odt', pages, pagesEstimated: true, title, ...(notices.length > 0 && { notices }) };
}

function addBlock(element: XmlElement, blocks: FlowBlock[], context: Context, depth: number): void {
  switch (element.name) {
    case 'text:h':
    case 'text:p':
      return addParagraph(element, blocks, context, '');
    case 'text:list':
      return addList(element, blocks, context, depth, undefined, depth > 0 ? [] : startOfList(element, context));
    case 'table:table':
      return addTable(element, blocks, context);
    case 'text:tracked-changes':
      // Deleted text is kept here, outside of the text.
      context.seen.changes ||= elementsOf(element).length > 0;
      return;
    case 'text:soft-page-break':
      context.seen.rendered = true;
      blocks.push({ text: '', breaks: [0] });
      return;
    case 'text:section':
      if (element.attrs['text:display'] === 'none') {
        const inner: FlowBlock[] = [];
        for (const child of elementsOf(element)) addBlock(child, inner, context, depth);
        const hidden = inner.map((block) => block.text).join('\n').trim();
        if (hidden !== '') blocks.push({ text: '', hidden });
        return;
      }
      break;
    case 'office:forms':
    case 'text:sequence-decls':
    case 'text:variable-decls':
    case 'text:user-field-decls':
      return;
    default:
      if (element.name.startsWith('draw:')) return addFrame(element, blocks, context);
  }
  for (const child of elementsOf(element)) addBlock(child, blocks, context, depth);
}

function addParagraph(p: XmlElement, blocks: FlowBlock[], context: Context, label: string): void {
  const read = readOdfParagraph(p, context.marks, context.styles.hiddenSpans);
  const style = p.attrs['text:style-name'] ?? '';
  let number = label;
  if (p.name === 'text:h') {
    const level = Math.min(10, Math.max(1, Number(p.attrs['text:outline-level'] ?? 1) || 1));
    number = label || outlineNumber(level, p, context);
  }
  const body = read.text.trim();
  const text = body === '' ? '' : number === '' ? body : `${number} ${body}`;
  const block: FlowBlock = { text };
  if (read.breaks.length > 0) {
    context.seen.rendered = true;
    block.breaks = read.breaks.map((at) => (at === 0 ? 0 : Math.min(text.length, at + text.length - body.length)));
  }
  if (inherits(style, context.styles, context.styles.breaks)) block.breaks = [0, ...(block.breaks ?? [])];
  if (p.name === 'text:h' && body !== '') block.heading = text.replace(/\s+/g, ' ');
  if (read.notes.length > 0) block.notes = read.notes.join('\n');
  if (inherits(style, context.styles, context.styles.hidden)) {
    block.hidden = text;
    block.text = '';
  } else if (read.hidden.trim() !== '') block.hidden = read.hidden.trim();
  if (block.text !== '' || block.breaks || block.notes || block.hidden) blocks.push(block);
  for (const { mark, body: note, atEnd } of read.footnotes) (atEnd ? context.endnotes : blocks).push({ text: `${mark} ${storyText(note, context)}`, tight: true });
  for (const frame of read.frames) addFrame(frame, blocks, context);
}

/** Counts that a list goes on from: another list's, where it says so. They are counted on in place, for lists that continue this one. */
function startOfList(list: XmlElement, context: Context): number[] {
  const style = `style ${list.attrs['text:style-name'] ?? ''}`;
  const before = context.lists.get(list.attrs['text:continue-list'] ?? '') ?? (list.attrs['text:continue-numbering'] === 'true' ? context.lists.get(style) : undefined);
  const counts = [...(before ?? [])];
  for (const name of [list.attrs['xml:id'], style]) if (name) context.lists.set(name, counts);
  return counts;
}

function addList(list: XmlElement, blocks: FlowBlock[], context: Context, depth: number, inherited: string | undefined, counts: number[]): void {
  const styleName = list.attrs['text:style-name'] ?? inherited;
  const level = (styleName === undefined ? undefined : context.styles.lists.get(styleName))?.get(depth + 1);
  let first = depth === 0;
  for (const item of elementsOf(list)) {
    if (item.name !== 'text:list-item' && item.name !== 'text:list-header') continue;
    let label = '';
    if (item.name === 'text:list-item') {
      counts[depth] = item.attrs['text:start-value'] !== undefined ? Number(item.attrs['text:start-value']) : (counts[depth] ?? (level?.start ?? 1) - 1) + 1;
      counts.length = depth + 1;
      label = level === undefined || level.format === '' ? '•' : level.prefix + counts.slice(Math.max(0, depth + 1 - level.shown)).map((count) => formatNumber(count ?? 1, level.format)).join('.') + level.suffix;
    }
    for (const child of elementsOf(item)) {
      if (child.name === 'text:list') {
        addList(child, blocks, context, depth + 1, styleName, counts);
        continue;
      }
      const at = blocks.length;
      if (child.name === 'text:p' || child.name === 'text:h') {
        addParagraph(child, blocks, context, label);
        // A label belongs to the first paragraph of its item.
        if (blocks.length > at) label = '';
      } else addBlock(child, blocks, context, depth);
      if (blocks[at] && !first && blocks[at].heading === undefined) blocks[at].tight = true;
      if (blocks.length > at) first = false;
    }
  }
}

function addTable(table: XmlElement, blocks: FlowBlock[], context: Context): void {
  let isFirst = true;
  const visit = (holder: XmlElement): void => {
    for (const child of elementsOf(holder)) {
      if (child.name === 'text:soft-page-break') {
        context.seen.rendered = true;
        blocks.push({ text: '', breaks: [0] });
      } else if (child.name !== 'table:table-row') {
        if (/^table:table-(rows|header-rows|row-group)$/.test(child.name)) visit(child);
      } else {
        addRow(child);
      }
    }
  };
  const addRow = (row: XmlElement): void => {
    const columns: string[] = [];
    const inner: FlowBlock[][] = [];
    for (const cell of elementsOf(row)) {
      if (cell.name !== 'table:table-cell' && cell.name !== 'table:covered-table-cell') continue;
      const read: FlowBlock[] = [];
      if (cell.name === 'table:table-cell') for (const child of elementsOf(cell)) addBlock(child, read, context, 0);
      inner.push(read);
      const text = read.map((block) => block.text.replaceAll(' | ', ', ').replace(/\s+/g, ' ').trim()).filter(Boolean).join(' ');
      const repeated = Math.min(100, Number(cell.attrs['table:number-columns-repeated'] ?? 1) || 1);
      for (let at = 0; at < repeated; at++) columns.push(text);
    }
    const filled = inner.filter((read) => read.some((block) => block.text !== ''));
    if (columns.length === 1 || (filled.length === 1 && filled[0]!.length > 3)) {
      for (const read of inner) blocks.push(...read);
      isFirst = true;
      return;
    }
    const block: FlowBlock = { text: joinCells(columns) };
    for (const read of inner.flat()) mergeMarks(block, read);
    if (!isFirst) block.tight = true;
    if (block.text !== '' || block.figure || block.notes || block.hidden || block.breaks) {
      blocks.push(block);
      isFirst = false;
    }
  };
  visit(table);
}

function addFrame(frame: XmlElement, blocks: FlowBlock[], context: Context): void {
  if (frame.name === 'draw:g') {
    for (const child of elementsOf(frame)) if (child.name.startsWith('draw:')) addFrame(child, blocks, context);
    return;
  }
  if (frame.name !== 'draw:frame') {
    // A drawn shape with text in it.
    for (const child of elementsOf(frame)) addBlock(child, blocks, context, 0);
    return;
  }
  const { text, isFigure, box } = readOdfFrame(context.zip, frame);
  if (box) for (const child of elementsOf(box)) addBlock(child, blocks, context, 0);
  const isLarge = pointsOf(frame.attrs['svg:width']) * pointsOf(frame.attrs['svg:height']) > 7_500 || frame.attrs['svg:width'] === undefined;
  if (text !== '' || (isFigure && isLarge)) blocks.push({ text: cleanText(text), ...(isFigure && { figure: true }) });
}

const storyText = (holder: XmlElement, context: Context): string => {
  const blocks: FlowBlock[] = [];
  for (const child of elementsOf(holder)) addBlock(child, blocks, context, 0);
  return blocks.map((block) => block.text.trim()).filter(Boolean).join(' ');
};

function outlineNumber(level: number, heading: XmlElement, context: Context): string {
  const { outline } = context;
  if (heading.attrs['text:is-list-header'] === 'true') return '';
  const style = context.styles.outline.get(level);
  outline[level - 1] = (outline[level - 1] ?? (style?.start ?? 1) - 1) + 1;
  outline.length = level;
  if (!style || style.format === '') return '';
  const shown = Array.from({ length: level }, (_, at) => outline[at] ?? 1).slice(Math.max(0, level - style.shown));
  return style.prefix + shown.map((count) => formatNumber(count, style.format)).join('.') + style.suffix;
}

/** Headers and footers of the page styles, each once, without page numbers. */
function readEdges(styles: XmlElement, context: Context): { headers: string[]; footers: string[] } {
  const masters = findFirst(styles, 'office:master-styles');
  const texts = (name: string) => {
    const found = new Set<string>();
    for (const page of childrenOf(masters, 'style:master-page')) {
      const edge = childOf(page, name);
      const text = edge ? storyText(withoutPageNumbers(edge), { ...context, marks: { count: 0 } }) : '';
      if (/\p{L}/u.test(text)) found.add(text);
    }
    return [...found];
  };
  return { headers: texts('style:header'), footers: texts('style:footer') };
}

const withoutPageNumbers = (element: XmlElement): XmlElement => ({
  ...element,
  children: element.children.filter((child) => typeof child === 'string' || !/^text:page-(number|count)$/.test(child.name)).map((child) => (typeof child === 'string' ? child : withoutPageNumbers(child))),
});

export const odt: Format = {
  type: 'odt',
  sniff: (head) => isZip(head) && sniffContainer(head, 'x.odt') === 'odt',
  read: async (bytes, options) => readOdt(bytes, options),
};

