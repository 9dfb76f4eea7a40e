import type { DocxContext } from './docx-context.ts';
import { createFieldGuard, createFields } from './docx-fields.ts';
import { createInlineReader, newInline, type Inline } from './docx-inline.ts';
import { readParagraphProperties, isOn } from './docx-styles.ts';
import { cellsOf, flatten, isContinued, mergeMarks, rowsOf, spanOf } from './docx-table.ts';
import { joinCells, cleanText, type FlowBlock } from './flow.ts';
import { isEastAsian } from './fonts.ts';
import { linearFormula } from './omml.ts';
import { chooseAlternate } from './ooxml.ts';
import { childOf, elementsOf, type XmlElement } from './xml.ts';

/** One story of a Word file (body, header, footnote): its elements in, blocks of text out. */
export interface BodyReader {
  add(element: XmlElement): void;
  finish(): FlowBlock[];
}

export function createBodyReader(context: DocxContext): BodyReader {
  const blocks: FlowBlock[] = [];
  const { seen } = context;
  const guard = createFieldGuard(addBlock);
  const fields = createFields({ dropPageFields: context.dropPageFields === true, isBroken: guard.isBroken });
  const addInline = createInlineReader(context, fields, (elements) => readStory(elements, context));
  /** A paragraph whose mark was deleted: the next one continues it. */
  let carried: Inline | undefined;
  let wasList = false;

  /** Unpacks what wraps blocks. */
  const add = (element: XmlElement): void => {
    switch (element.name) {
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
      default:
        return guard.add(element);
    }
  };

  function addBlock(element: XmlElement): void {
    switch (element.name) {
      case 'w:p':
        return addParagraph(element);
      case 'w:tbl':
        wasList = false;
        return addTable(element);
      case 'm:oMathPara':
      case 'm:oMath':
        return void blocks.push({ text: linearFormula(element) });
      case 'w:sectPr':
        seen.sections.push(element);
        return;
      case 'w:altChunk':
        seen.chunks++;
        return;
      default:
        return;
    }
  }

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
    fields.endParagraph();
    if (style.font !== undefined && inline.text !== '') seen.fonts.add(style.font);
    if (style.asianFont !== undefined && isEastAsian(inline.text)) seen.fonts.add(style.asianFont);
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
      if (block.text !== '' || block.figure || block.notes || block.hidden || block.breaks) {
        blocks.push(block);
        isFirst = false;
      }
    }
  }

  return {
    add,
    finish: () => {
      guard.finish();
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
