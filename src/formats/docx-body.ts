import { fontOf, readParagraphProperties, isOn, type Numbering, type StyleSheet } from './docx-styles.ts';
import { symbol } from './docx-symbol.ts';
import { cellsOf, flatten, isContinued, mergeMarks, rowsOf, spanOf } from './docx-table.ts';
import { readReferredText } from './drawing-text.ts';
import { joinCells, cleanText, type FlowBlock } from './flow.ts';
import { linearFormula } from './omml.ts';
import { childOf, childrenOf, elementsOf, findAll, findFirst, pathOf, textOf, type XmlElement } from './xml.ts';
import type { Zip } from './zip.ts';

/** One story of a Word file (body, header, footnote): its elements in, blocks of text out. */
export interface DocxContext {
  zip: Zip;
  /** The part being read; its relationships name charts and diagrams. */
  part: string;
  styles: StyleSheet;
  numbering: Numbering;
  /** Text of a footnote or endnote: key `footnote:3`. */
  noteText: (key: string) => string;
  /** Comment text by id, with its author. */
  commentText: (id: string) => string;
  /** Page numbers in headers are those of the last print: left out. */
  dropPageFields?: boolean;
  /** What was met on the way: for notices and pagination. */
  seen: { rendered: boolean; trackedChanges: boolean; noteCount: number; sections: XmlElement[]; fonts: Set<string>; endnotes: FlowBlock[] };
}

export interface BodyReader {
  add(element: XmlElement): void;
  finish(): FlowBlock[];
}

interface Inline {
  text: string;
  hidden: string;
  breaks: number[];
  notes: string[];
  /** Text boxes, charts and footnotes that follow the paragraph. */
  after: FlowBlock[];
  figure: boolean;
}

const newInline = (): Inline => ({ text: '', hidden: '', breaks: [], notes: [], after: [], figure: false });
/** About 1.5 square inches: smaller pictures are icons, and no reason to look at the page. */
const figureArea = 1.2e12;

export function createBodyReader(context: DocxContext): BodyReader {
  const blocks: FlowBlock[] = [];
  const { seen } = context;
  /** Complex fields may span paragraphs: what each open one is in. */
  const fields: { state: 'code' | 'result' | 'dropped'; code: string }[] = [];
  /** A paragraph whose mark was deleted: the next one continues it. */
  let carried: Inline | undefined;
  let wasList = false;

  const add = (element: XmlElement): void => {
    switch (element.name) {
      case 'w:p':
        return addParagraph(element);
      case 'w:tbl':
        wasList = false;
        return addTable(element);
      case 'w:sdt':
        return elementsOf(childOf(element, 'w:sdtContent') ?? element).forEach(add);
      case 'w:ins':
      case 'w:moveTo':
        seen.trackedChanges = true;
        return elementsOf(element).forEach(add);
      case 'w:customXml':
      case 'w:smartTag':
        return elementsOf(element).forEach(add);
      case 'mc:AlternateContent':
        return elementsOf(chooseAlternate(element)).forEach(add);
      case 'm:oMathPara':
      case 'm:oMath':
        return void blocks.push({ text: linearFormula(element) });
      case 'w:sectPr':
        seen.sections.push(element);
        return;
      default:
        return;
    }
  };

  function addParagraph(p: XmlElement): void {
    const pPr = childOf(p, 'w:pPr');
    const styleId = childOf(pPr, 'w:pStyle')?.attrs['w:val'];
    const style = { ...context.styles(styleId), ...readParagraphProperties(pPr) };
    const sectPr = childOf(pPr, 'w:sectPr');
    if (sectPr) seen.sections.push(sectPr);

    const inline = carried ?? newInline();
    carried = undefined;
    const pageBreak = childOf(pPr, 'w:pageBreakBefore');
    if (pageBreak && isOn(pageBreak.attrs['w:val'])) inline.breaks.push(inline.text.length);
    for (const child of elementsOf(p)) if (child.name !== 'w:pPr') addInline(child, inline, style.hidden === true);
    if (style.font !== undefined && inline.text !== '') seen.fonts.add(style.font);
    const mark = childOf(pPr, 'w:rPr');
    if (childOf(mark, 'w:del') || childOf(mark, 'w:moveFrom')) {
      seen.trackedChanges = true;
      carried = inline;
      return;
    }

    let label = '';
    if (style.numId !== undefined && style.numId !== '0' && (inline.text.trim() !== '' || inline.figure)) {
      label = context.numbering(style.numId, style.level ?? 0);
    }
    const isList = label !== '' && style.outline === undefined;
    emit(inline, label, style.outline, isList && wasList);
    wasList = isList;
  }

  function emit(inline: Inline, label: string, outline: number | undefined, tight: boolean): void {
    const prefix = label === '' ? '' : `${label} `;
    const text = cleanText(prefix + inline.text);
    const shift = text.length - inline.text.length;
    const block: FlowBlock = { text };
    if (tight) block.tight = true;
    if (inline.breaks.length > 0) block.breaks = inline.breaks.map((at) => (at === 0 ? 0 : Math.max(0, at + shift)));
    if (outline !== undefined && text.trim() !== '') block.heading = text.replace(/\s+/g, ' ').trim();
    if (inline.notes.length > 0) block.notes = inline.notes.join('\n');
    if (inline.hidden.trim() !== '') block.hidden = cleanText(inline.hidden).trim();
    if (inline.figure) block.figure = true;
    if (text.trim() !== '' || block.breaks || block.notes || block.hidden || block.figure) blocks.push(block);
    for (const extra of inline.after) blocks.push(extra);
  }

  function addInline(node: XmlElement, inline: Inline, hidden: boolean): void {
    switch (node.name) {
      case 'w:r': {
        const rPr = childOf(node, 'w:rPr');
        const vanish = childOf(rPr, 'w:vanish');
        const font = fontOf(rPr);
        if (font !== undefined && childOf(node, 'w:t')) seen.fonts.add(font);
        const own = vanish ? isOn(vanish.attrs['w:val']) : hidden || context.styles(childOf(rPr, 'w:rStyle')?.attrs['w:val'] ?? '').hidden === true;
        for (const child of elementsOf(node)) addRunContent(child, inline, own);
        return;
      }
      case 'w:del':
      case 'w:moveFrom':
        seen.trackedChanges = true;
        return;
      case 'w:ins':
      case 'w:moveTo':
        seen.trackedChanges = true;
        break;
      case 'w:fldSimple':
        if (context.dropPageFields && isPageField(node.attrs['w:instr'] ?? '')) return;
        break;
      case 'w:sdt':
        for (const child of elementsOf(childOf(node, 'w:sdtContent') ?? node)) addInline(child, inline, hidden);
        return;
      case 'm:oMath':
      case 'm:oMathPara':
        append(inline, padFormula(inline.text, linearFormula(node)), hidden);
        return;
      case 'mc:AlternateContent':
        for (const child of elementsOf(chooseAlternate(node))) addInline(child, inline, hidden);
        return;
      case 'w:p':
      case 'w:tbl':
        // Some writers put blocks where only runs belong: read them after the paragraph.
        inline.after.push(...readStory([node], context));
        return;
      case 'w:rPr':
      case 'w:pPr':
      case 'w:sdtPr':
        return;
      default:
        break;
    }
    for (const child of elementsOf(node)) addInline(child, inline, hidden);
  }

  function addRunContent(node: XmlElement, inline: Inline, hidden: boolean): void {
    switch (node.name) {
      case 'w:t':
        return append(inline, textOf(node), hidden);
      case 'w:tab':
      case 'w:ptab':
        return append(inline, '\t', hidden);
      case 'w:cr':
        return append(inline, '\n', hidden);
      case 'w:br':
        if (node.attrs['w:type'] === 'page') inline.breaks.push(inline.text.length);
        else append(inline, '\n', hidden);
        return;
      case 'w:lastRenderedPageBreak':
        seen.rendered = true;
        return void inline.breaks.push(inline.text.length);
      case 'w:noBreakHyphen':
        return append(inline, '-', hidden);
      case 'w:sym':
        return append(inline, symbol(node.attrs['w:font'] ?? '', node.attrs['w:char'] ?? ''), hidden);
      case 'w:ruby': {
        const reading = newInline();
        for (const child of elementsOf(childOf(node, 'w:rt') ?? node)) addInline(child, reading, false);
        for (const child of elementsOf(childOf(node, 'w:rubyBase') ?? node)) addInline(child, inline, hidden);
        return append(inline, reading.text === '' ? '' : `(${reading.text})`, hidden);
      }
      case 'w:fldChar':
        return addFieldMark(node, inline, hidden);
      case 'w:instrText': {
        const top = fields[fields.length - 1];
        if (top?.state === 'code') top.code += textOf(node);
        return;
      }
      case 'w:footnoteReference':
      case 'w:endnoteReference': {
        const note = context.noteText(`${node.name === 'w:footnoteReference' ? 'footnote' : 'endnote'}:${node.attrs['w:id'] ?? ''}`);
        if (note === '') return;
        const mark = `[${++seen.noteCount}]`;
        append(inline, mark, hidden);
        (node.name === 'w:endnoteReference' ? seen.endnotes : inline.after).push({ text: `${mark} ${note}`, tight: true });
        return;
      }
      case 'w:commentReference': {
        const comment = context.commentText(node.attrs['w:id'] ?? '');
        if (comment !== '') inline.notes.push(comment);
        return;
      }
      case 'w:drawing':
      case 'w:pict':
      case 'w:object':
        return addDrawing(node, inline);
      case 'mc:AlternateContent':
        for (const child of elementsOf(chooseAlternate(node))) addRunContent(child, inline, hidden);
        return;
      default:
        return;
    }
  }

  function append(inline: Inline, text: string, hidden: boolean): void {
    if (text === '' || fields.some((field) => field.state !== 'result')) return;
    // The page text must not lose a space because hidden words stood between.
    if (hidden) inline.hidden += text;
    else inline.text += text;
  }

  function addFieldMark(node: XmlElement, inline: Inline, hidden: boolean): void {
    const kind = node.attrs['w:fldCharType'];
    if (kind === 'begin') {
      const box = pathOf(node, 'w:ffData', 'w:checkBox');
      if (box) {
        const state = childOf(box, 'w:checked') ?? childOf(box, 'w:default');
        append(inline, state && isOn(state.attrs['w:val']) ? '☒' : '☐', hidden);
      }
      const list = pathOf(node, 'w:ffData', 'w:ddList');
      if (list) {
        const chosen = Number((childOf(list, 'w:result') ?? childOf(list, 'w:default'))?.attrs['w:val'] ?? 0);
        append(inline, childrenOf(list, 'w:listEntry')[chosen]?.attrs['w:val'] ?? '', hidden);
      }
      fields.push({ state: 'code', code: '' });
    } else if (kind === 'separate') {
      const top = fields[fields.length - 1];
      if (top) top.state = context.dropPageFields && isPageField(top.code) ? 'dropped' : 'result';
    } else if (kind === 'end') {
      fields.pop();
    }
  }

  function addDrawing(node: XmlElement, inline: Inline): void {
    const referred = readReferredText(context.zip, context.part, node);
    if (referred.text !== '') inline.after.push({ text: cleanText(referred.text), figure: true });
    if (referred.isChart || referred.isDiagram || isFigure(node)) inline.figure = true;
    const visit = (element: XmlElement): void => {
      for (const child of elementsOf(element)) {
        if (child.name === 'w:txbxContent') inline.after.push(...readStory(elementsOf(child), context));
        else if (child.name === 'mc:AlternateContent') visit(chooseAlternate(child));
        else if (child.name === 'v:textpath' && child.attrs['string']) inline.after.push({ text: cleanText(child.attrs['string']) });
        else visit(child);
      }
    };
    visit(node);
  }

  function addTable(table: XmlElement): void {
    let isFirst = true;
    for (const row of rowsOf(table)) {
      const rowPr = childOf(row, 'w:trPr');
      if (childOf(rowPr, 'w:del')) {
        seen.trackedChanges = true;
        continue;
      }
      const cells = cellsOf(row).filter((cell) => !childOf(childOf(cell, 'w:tcPr'), 'w:cellDel'));
      const read = cells.map((cell) => (isContinued(cell) ? [] : readStory(elementsOf(cell), context)));
      const filled = read.filter((content) => content.some((block) => block.text.trim() !== ''));
      if (cells.length === 1 || (filled.length === 1 && filled[0]!.length > 3)) {
        // A frame around flowing text, not a row of data.
        for (const content of read) blocks.push(...content);
        isFirst = true;
        continue;
      }
      const block: FlowBlock = { text: '' };
      const columns: string[] = Array.from({ length: spanOf(rowPr, 'w:gridBefore', 0) }, () => '');
      cells.forEach((cell, at) => {
        columns.push(flatten(read[at]!));
        for (let extra = spanOf(childOf(cell, 'w:tcPr'), 'w:gridSpan', 1); extra > 1; extra--) columns.push('');
      });
      for (const inner of read.flat()) mergeMarks(block, inner);
      block.text = joinCells(columns);
      if (!isFirst) block.tight = true;
      if (block.text !== '' || block.figure || block.notes || block.breaks) {
        blocks.push(block);
        isFirst = false;
      }
    }
  }

  return {
    add,
    finish: () => {
      if (carried) emit(carried, '', undefined, false);
      carried = undefined;
      return blocks;
    },
  };
}

/** Blocks of a closed story: a cell, a text box, a note. */
export function readStory(elements: XmlElement[], context: DocxContext): FlowBlock[] {
  const reader = createBodyReader(context);
  for (const element of elements) reader.add(element);
  return reader.finish();
}

const understood = new Set(['wps', 'wpg', 'wpc', 'w14', 'w15', 'w16', 'a14', 'wp14', 'cx', 'cx1', 'c14', 'am3d']);

/** The newer form where we know it, else the fallback: never both, or a text box would be read twice. */
export function chooseAlternate(element: XmlElement): XmlElement {
  const choices = childrenOf(element, 'mc:Choice');
  const known = choices.find((choice) => (choice.attrs['Requires'] ?? '').split(/\s+/).every((prefix) => understood.has(prefix)));
  return known ?? childOf(element, 'mc:Fallback') ?? choices[0] ?? element;
}

function isFigure(node: XmlElement): boolean {
  if (node.name === 'w:object') return true;
  const extent = findFirst(node, 'wp:extent');
  const area = extent ? Number(extent.attrs['cx'] ?? 0) * Number(extent.attrs['cy'] ?? 0) : figureArea;
  if (area < figureArea) return false;
  const isDrawn = findAll(node, 'wps:wsp').length > 1 || findAll(node, 'wps:cNvCnPr').length > 0;
  return isDrawn || findFirst(node, 'pic:pic') !== undefined || findFirst(node, 'a:blip') !== undefined || findFirst(node, 'v:imagedata') !== undefined || findFirst(node, 'v:group') !== undefined;
}

const isPageField = (code: string): boolean => /^\s*(PAGE|NUMPAGES|SECTIONPAGES|FILENAME|PRINTDATE)\b/i.test(code);

/** A formula inside a sentence must not glue to its neighbours. */
const padFormula = (before: string, formula: string): string => (formula === '' ? '' : `${/[\p{L}\p{N}]$/u.test(before) ? ' ' : ''}${formula}`);
