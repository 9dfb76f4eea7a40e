import { isOn } from './docx-styles.ts';
import { chooseAlternate } from './ooxml.ts';
import { childOf, childrenOf, elementsOf, pathOf, type XmlElement } from './xml.ts';

/** Complex fields of Word: a mark that begins one, its code, a mark that parts code and result, the result, a mark that ends it. */

export interface Fields {
  /** True inside of a code, and of a result that is left out. */
  readonly hideText: boolean;
  /** Takes a `w:fldChar`. */
  follow(mark: XmlElement): void;
  addCode(text: string): void;
  /** Page numbers end with their paragraph, whether they say so or not. */
  endParagraph(): void;
}

/** Fields of one story; they may span its paragraphs. */
export function createFields({ dropPageFields, isBroken }: { dropPageFields: boolean; isBroken: (mark: XmlElement) => boolean }): Fields {
  let open: { state: 'code' | 'result' | 'dropped'; code: string }[] = [];
  return {
    get hideText() {
      return open.some((field) => field.state !== 'result');
    },
    follow(mark) {
      const top = open.at(-1);
      switch (mark.attrs['w:fldCharType']) {
        case 'begin':
          if (!isBroken(mark)) open.push({ state: 'code', code: '' });
          return;
        case 'separate':
          if (top) top.state = dropPageFields && isPageField(top.code) ? 'dropped' : 'result';
          return;
        case 'end':
          open.pop();
          return;
        default:
          return;
      }
    },
    addCode(text) {
      const top = open.at(-1);
      if (top?.state === 'code') top.code += text;
    },
    endParagraph() {
      open = open.filter((field) => field.state !== 'dropped');
    },
  };
}

/** What the check box or drop-down list shows that a form field begins with. */
export function formFieldText(mark: XmlElement): string {
  const box = pathOf(mark, 'w:ffData', 'w:checkBox');
  if (box) {
    const state = childOf(box, 'w:checked') ?? childOf(box, 'w:default');
    return state && isOn(state.attrs['w:val']) ? '☒' : '☐';
  }
  const list = pathOf(mark, 'w:ffData', 'w:ddList');
  const chosen = Number((childOf(list, 'w:result') ?? childOf(list, 'w:default'))?.attrs['w:val'] ?? 0);
  return childrenOf(list, 'w:listEntry')[chosen]?.attrs['w:val'] ?? '';
}

export const isPageField = (code: string): boolean => /^\s*(PAGE|NUMPAGES|SECTIONPAGES|FILENAME|PRINTDATE)\b/i.test(code);

/** Paragraphs that a code may span. Programs write a code in one; a story is not held in memory for a field that never ends. */
const mostHeld = 50;

/**
 * Hands on the blocks of a story in order, but holds them back while the code of a field is open. Where nothing ends that code, the mark
 * that began it is broken: taken at its word it would hide all text behind it.
 */
export function createFieldGuard(handOn: (block: XmlElement) => void) {
  const broken = new WeakSet<XmlElement>();
  let open: { mark: XmlElement; inCode: boolean }[] = [];
  let held: XmlElement[] = [];
  const follow = (mark: XmlElement): void => {
    const kind = mark.attrs['w:fldCharType'];
    const top = open.at(-1);
    if (kind === 'begin') open.push({ mark, inCode: true });
    else if (kind === 'separate' && top) top.inCode = false;
    else if (kind === 'end') open.pop();
  };
  const release = (): void => {
    const blocks = held;
    held = [];
    for (const block of blocks) handOn(block);
  };
  const giveUp = (): void => {
    for (const { mark, inCode } of open) if (inCode) broken.add(mark);
    open = open.filter(({ inCode }) => !inCode);
    release();
  };
  return {
    isBroken: (mark: XmlElement): boolean => broken.has(mark),
    add(block: XmlElement): void {
      if (block.name === 'w:p') followMarks(block, follow);
      held.push(block);
      if (open.every(({ inCode }) => !inCode)) release();
      else if (held.length > mostHeld) giveUp();
    },
    /** The story ends here. */
    finish: giveUp,
  };
}

/** Deleted text is not read; what lies in a drawing or a table inside is a story of its own. */
const apart = new Set(['w:del', 'w:moveFrom', 'w:drawing', 'w:pict', 'w:object', 'w:p', 'w:tbl', 'w:rPr', 'w:pPr', 'w:sdtPr']);

function followMarks(element: XmlElement, follow: (mark: XmlElement) => void): void {
  for (const child of elementsOf(element)) {
    if (child.name === 'w:fldChar') follow(child);
    else if (child.name === 'mc:AlternateContent') followMarks(chooseAlternate(child), follow);
    else if (!apart.has(child.name)) followMarks(child, follow);
  }
}
