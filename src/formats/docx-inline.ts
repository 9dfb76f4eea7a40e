import type { DocxContext } from './docx-context.ts';
import { isFigure } from './docx-figure.ts';
import { formFieldText, isPageField, type Fields } from './docx-fields.ts';
import { asianFontOf, fontOf, isOn } from './docx-styles.ts';
import { symbol } from './docx-symbol.ts';
import { readReferredText } from './drawing-text.ts';
import { cleanText, type FlowBlock } from './flow.ts';
import { isEastAsian } from './fonts.ts';
import { linearFormula } from './omml.ts';
import { chooseAlternate } from './ooxml.ts';
import { childOf, childrenOf, elementsOf, textOf, type XmlElement } from './xml.ts';

/** What is in one paragraph. */
export interface Inline {
  text: string;
  hidden: string;
  breaks: number[];
  notes: string[];
  /** Text boxes, charts and footnotes that follow the paragraph. */
  after: FlowBlock[];
  figure: boolean;
}

export const newInline = (): Inline => ({ text: '', hidden: '', breaks: [], notes: [], after: [], figure: false });

/** Reads what stands in a paragraph into an Inline; `readStory` reads what lies inside it but has paragraphs of its own (text boxes). */
export function createInlineReader(context: DocxContext, fields: Fields, readStory: (elements: XmlElement[]) => FlowBlock[]) {
  const { seen } = context;

  function addInline(node: XmlElement, inline: Inline, hidden: boolean): void {
    switch (node.name) {
      case 'w:r': {
        const rPr = childOf(node, 'w:rPr');
        const vanish = childOf(rPr, 'w:vanish');
        const font = fontOf(rPr);
        if (font !== undefined && childOf(node, 'w:t')) seen.fonts.add(font);
        const asianFont = asianFontOf(rPr);
        if (asianFont !== undefined && childrenOf(node, 'w:t').some((t) => isEastAsian(textOf(t)))) seen.fonts.add(asianFont);
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
        inline.after.push(...readStory([node]));
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
      case 'w:instrText':
        return fields.addCode(textOf(node));
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
    if (text === '' || fields.hideText) return;
    // The page text must not lose a space because hidden words stood between.
    if (hidden) inline.hidden += text;
    else inline.text += text;
  }

  function addFieldMark(node: XmlElement, inline: Inline, hidden: boolean): void {
    if (node.attrs['w:fldCharType'] === 'begin') append(inline, formFieldText(node), hidden);
    fields.follow(node);
  }

  function addDrawing(node: XmlElement, inline: Inline): void {
    const referred = readReferredText(context.zip, context.part, node);
    if (referred.text !== '') inline.after.push({ text: cleanText(referred.text), figure: true });
    if (referred.isChart || referred.isDiagram || isFigure(node)) inline.figure = true;
    const visit = (element: XmlElement): void => {
      for (const child of elementsOf(element)) {
        if (child.name === 'w:txbxContent') inline.after.push(...readStory(elementsOf(child)));
        else if (child.name === 'mc:AlternateContent') visit(chooseAlternate(child));
        else if (child.name === 'v:textpath' && child.attrs['string']) inline.after.push({ text: cleanText(child.attrs['string']) });
        else visit(child);
      }
    };
    visit(node);
  }

  return addInline;
}

/** A formula inside a sentence must not glue to its neighbours. */
const padFormula = (before: string, formula: string): string => (formula === '' ? '' : `${/[\p{L}\p{N}]$/u.test(before) ? ' ' : ''}${formula}`);
