import { cleanText } from './flow.ts';
import { odfFontNotices } from './odf-fonts.ts';
import { openOdf, readOdfAnnotation, readOdfFrame, readOdfParagraph } from './odf.ts';
import { createSheetRows, createTextBudget, type SheetRows } from './sheet-text.ts';
import { sniffContainer } from './sniff.ts';
import { type Format, type ReadOptions, type ReadPage, type ReadResult, UnreadableFile } from './types.ts';
import { childOf, childrenOf, elementsOf, findAll, readXmlPart, type XmlElement } from './xml.ts';
import { isZip, type Zip } from './zip.ts';

/** Empty rows at the end of a sheet are written as one repeated a million times; filled ones are never repeated so often. */
const mostRepeated = 10_000;

/** OpenDocument spreadsheet: one sheet = one page, cells as they are shown. */
export function readOds(bytes: Uint8Array, options: ReadOptions): ReadResult {
  const { zip, content, title } = openOdf(bytes, options);
  const pages: ReadPage[] = [];
  const spend = createTextBudget();
  const unseen = new Set<string>();
  const hidden: string[] = [];
  let sheet: Sheet | undefined;
  readXmlPart(zip, content, {
    onOpen: (name, attrs) => {
      if (name === 'office:automatic-styles') return true;
      if (name === 'table:table') {
        if (pages.length >= options.maxPages) throw new UnreadableFile(`Too large to read: it has more than ${options.maxPages.toLocaleString('en-US')} sheets`);
        // What LibreOffice remembers of other files that formulas refer to lies in tables named 'file:///…/other.ods'#Sheet: no sheet of this one.
        if (attrs['table:style-name'] === 'ta_extref' || /^'.+'#/.test(attrs['table:name'] ?? '')) return false;
        const name = cleanText(attrs['table:name'] ?? '').trim();
        if (unseen.has(attrs['table:style-name'] ?? '')) hidden.push(name);
        sheet = { name, rows: createSheetRows(spend), notes: [], aside: [], figure: false };
        return false;
      }
      return sheet !== undefined && (name === 'table:table-row' || name === 'table:shapes');
    },
    onTree: (element) => {
      if (element.name === 'office:automatic-styles') {
        for (const style of childrenOf(element, 'style:style')) {
          if (childOf(style, 'style:table-properties')?.attrs['table:display'] === 'false') unseen.add(style.attrs['style:name'] ?? '');
        }
        return;
      }
      if (!sheet) return;
      if (element.name === 'table:shapes') return readShapes(zip, element, sheet);
      readRow(zip, element, sheet);
    },
    onClose: (name) => {
      if (name !== 'table:table' || !sheet) return;
      pages.push(toPage(sheet, pages.length + 1));
      options.onProgress?.(pages.length, 0);
      sheet = undefined;
    },
  });
  if (pages.length === 0) throw new UnreadableFile('The spreadsheet has no sheets — there is nothing to read');
  const notices = [...(hidden.length > 0 ? [`It has hidden sheets, which are read too: ${hidden.slice(0, 10).join(', ')}`] : []), ...odfFontNotices(zip, content, pages, options)];
  return { type: 'ods', pages, pagesEstimated: false, title, ...(notices.length > 0 && { notices }) };
}

type Sheet = { name: string; rows: SheetRows; notes: string[]; aside: string[]; figure: boolean };

function readRow(zip: Zip, row: XmlElement, sheet: Sheet): void {
  const cells: { column: number; text: string }[] = [];
  let column = 0;
  for (const cell of elementsOf(row)) {
    if (cell.name !== 'table:table-cell' && cell.name !== 'table:covered-table-cell') continue;
    const repeated = Math.max(1, Number(cell.attrs['table:number-columns-repeated'] ?? 1) || 1);
    const paragraphs = childrenOf(cell, 'text:p').map((p) => readOdfParagraph(p));
    for (const annotation of childrenOf(cell, 'office:annotation')) {
      const comment = readOdfAnnotation(annotation);
      if (comment !== '') sheet.notes.push(comment);
    }
    for (const child of elementsOf(cell)) if (child.name.startsWith('draw:')) readShape(zip, child, sheet);
    const text = paragraphs.map((paragraph) => paragraph.text).join(' ') || (cell.attrs['office:value'] ?? cell.attrs['office:string-value'] ?? cell.attrs['office:date-value'] ?? '');
    if (text.trim() !== '') for (let at = 0; at < Math.min(repeated, mostRepeated); at++) cells.push({ column: column + at, text });
    column += repeated;
  }
  const repeatedRows = cells.length === 0 ? 1 : Math.min(mostRepeated, Math.max(1, Number(row.attrs['table:number-rows-repeated'] ?? 1) || 1));
  for (let at = 0; at < repeatedRows; at++) {
    for (const cell of cells) sheet.rows.add(cell.column, cell.text);
    sheet.rows.endRow();
  }
}

function readShapes(zip: Zip, shapes: XmlElement, sheet: Sheet): void {
  for (const shape of elementsOf(shapes)) readShape(zip, shape, sheet);
}

function readShape(zip: Zip, shape: XmlElement, sheet: Sheet): void {
  if (shape.name === 'draw:frame') {
    const { text, isFigure } = readOdfFrame(zip, shape);
    if (text !== '') sheet.aside.push(cleanText(text));
    if (isFigure) sheet.figure = true;
  }
  const words = findAll(shape, 'text:p').map((p) => readOdfParagraph(p).text).filter((text) => text.trim() !== '').join('\n');
  if (words !== '') sheet.aside.push(words);
}

function toPage(sheet: Sheet, number: number): ReadPage {
  const body = [cleanText(sheet.rows.toText()), ...sheet.aside].filter((text) => text !== '').join('\n\n');
  return {
    number,
    text: body === '' ? '' : sheet.name === '' ? body : `${sheet.name}\n\n${body}`,
    fate: body !== '' ? 'text' : sheet.figure ? 'image_only' : 'empty',
    toView: sheet.figure,
    ...(body !== '' && sheet.name !== '' && { sections: [{ start: 0, title: sheet.name }] }),
    ...(sheet.notes.length > 0 && { notes: sheet.notes.join('\n') }),
  };
}

export const ods: Format = {
  type: 'ods',
  sniff: (head) => isZip(head) && sniffContainer(head, 'x.ods') === 'ods',
  read: async (bytes, options) => readOds(bytes, options),
};
