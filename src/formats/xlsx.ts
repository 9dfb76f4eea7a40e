import { readReferredText, paragraphText } from './drawing-text.ts';
import { cleanText } from './flow.ts';
import { missingFontNotice } from './fonts.ts';
import { builtInFormat, formatCellNumber } from './number-format.ts';
import { findMainPart, readRelations, readTitle, relatedPart, type Relation } from './ooxml.ts';
import { createSheetRows, createTextBudget } from './sheet-text.ts';
import { sniffContainer } from './sniff.ts';
import { type Format, type ReadOptions, type ReadPage, type ReadResult, UnreadableFile } from './types.ts';
import { childOf, childrenOf, elementsOf, findAll, isDamage, readXmlPart, readXmlTree, textOf, type XmlElement } from './xml.ts';
import { isZip, openZip, type Zip } from './zip.ts';

interface Workbook {
  zip: Zip;
  strings: string[];
  /** Number format and font per cell style. */
  formats: (string | undefined)[];
  fonts: string[];
  /** Cell styles that text is written in. */
  used: Set<number>;
  date1904: boolean;
  spend: (characters: number) => void;
}

/** Excel (xlsx, xlsm): one sheet = one page, hidden sheets too, each row a line with its cells parted by ` | `. */
export function readXlsx(bytes: Uint8Array, options: ReadOptions): ReadResult {
  const zip = openZip(bytes, { maxUnpackedBytes: options.maxUnpackedBytes });
  if (zip.find('xl/workbook.bin')) throw new UnreadableFile('Binary Excel workbooks (xlsb) are not read — save it as xlsx and upload that');
  const part = findMainPart(zip, 'xl/workbook.xml');
  const root = readXmlTree(zip, zip.find(part)!);
  const relations = readRelations(zip, part);
  const sheets = childrenOf(childOf(root, 's:sheets'), 's:sheet');
  if (sheets.length === 0) throw new UnreadableFile('The workbook has no sheets — there is nothing to read');
  if (sheets.length > options.maxPages) throw new UnreadableFile(`Too large to read: it has more than ${options.maxPages.toLocaleString('en-US')} sheets`);
  const spend = createTextBudget();
  const workbook: Workbook = {
    zip,
    strings: readSharedStrings(zip, relatedPart(zip, relations, 'sharedStrings') ?? 'xl/sharedStrings.xml', spend),
    ...readCellStyles(zip, relatedPart(zip, relations, 'styles')),
    used: new Set(),
    date1904: /^(1|true)$/.test(childOf(root, 's:workbookPr')?.attrs['date1904'] ?? ''),
    spend,
  };
  let failed = 0;
  const pages = sheets.map((sheet, index): ReadPage => {
    const page: ReadPage = { number: index + 1, text: '', fate: 'failed', toView: true };
    const name = cleanText(sheet.attrs['name'] ?? '').trim();
    try {
      readSheet(workbook, relations.get(sheet.attrs['r:id'] ?? ''), name, page);
    } catch (error) {
      if (!isDamage(error)) throw error;
      failed++;
    }
    options.onProgress?.(index + 1, sheets.length);
    return page;
  });
  if (failed === pages.length) throw new UnreadableFile('Damaged: no sheet could be read');
  const hidden = sheets.filter((sheet) => /hidden/i.test(sheet.attrs['state'] ?? '')).map((sheet) => sheet.attrs['name']);
  const fontNotice = options.availableFonts && missingFontNotice([...workbook.used].map((style) => workbook.fonts[style] ?? ''), new Set(options.availableFonts));
  const notices = [
    ...(failed > 0 ? [`${failed} of ${pages.length} sheets are damaged and could not be read`] : []),
    ...(hidden.length > 0 ? [`It has hidden sheets, which are read too: ${hidden.slice(0, 10).join(', ')}`] : []),
    ...(fontNotice === undefined ? [] : [fontNotice]),
  ];
  return { type: 'xlsx', pages, pagesEstimated: false, title: readTitle(zip), ...(notices.length > 0 && { notices }) };
}

function readSheet(workbook: Workbook, relation: Relation | undefined, name: string, page: ReadPage): void {
  const { zip } = workbook;
  const entry = relation && !relation.external ? zip.find(relation.target) : undefined;
  if (!relation || !entry) throw new UnreadableFile('Damaged: a sheet is missing');
  const rows = createSheetRows(workbook.spend);
  let nextColumn = 0;
  readXmlPart(zip, entry, {
    onOpen: (element) => element === 's:c',
    onTree: (cell) => {
      const column = columnOf(cell.attrs['r']) ?? nextColumn;
      nextColumn = column + 1;
      const text = cellText(cell, workbook);
      if (text !== '') workbook.used.add(Number(cell.attrs['s'] ?? 0));
      rows.add(column, text);
    },
    onClose: (element) => {
      if (element !== 's:row') return;
      rows.endRow();
      nextColumn = 0;
    },
  });
  rows.endRow();

  const aside = readAside(workbook, relation.target);
  const body = [cleanText(rows.toText()), ...aside.texts].filter((text) => text !== '').join('\n\n');
  page.toView = aside.hasFigure;
  page.fate = body !== '' ? 'text' : aside.hasFigure ? 'image_only' : 'empty';
  if (body !== '') {
    page.text = name === '' ? body : `${name}\n\n${body}`;
    if (name !== '') page.sections = [{ start: 0, title: name }];
  }
  if (aside.notes.length > 0) page.notes = aside.notes.join('\n');
}

/** Charts, text boxes and pictures of a sheet, and its comments. */
function readAside({ zip, spend }: Workbook, part: string): { texts: string[]; notes: string[]; hasFigure: boolean } {
  const texts: string[] = [];
  const notes: string[] = [];
  let hasFigure = false;
  for (const { kind, target, external } of readRelations(zip, part).values()) {
    const entry = external ? undefined : zip.find(target);
    if (!entry || entry.packedBytes === 0) continue;
    if (kind === 'drawing') {
      const drawing = readXmlTree(zip, entry);
      const referred = readReferredText(zip, target, drawing);
      const boxes = findAll(drawing, 'a:p').map(paragraphText).filter((text) => text.trim() !== '');
      if (referred.isChart || referred.isDiagram || findAll(drawing, 'xdr:pic').length > 0) hasFigure = true;
      texts.push(...[boxes.join('\n'), referred.text].map(cleanText).filter((text) => text !== ''));
    } else if (kind === 'comments') {
      for (const comment of findAll(readXmlTree(zip, entry), 's:comment')) notes.push(`Comment on ${comment.attrs['ref'] ?? 'a cell'}: ${cleanText(findAll(comment, 's:t').map(textOf).join('')).replace(/\s+/g, ' ').trim()}`);
    } else if (kind === 'threadedComment') {
      for (const comment of findAll(readXmlTree(zip, entry), 'tc:threadedComment')) notes.push(`Comment on ${comment.attrs['ref'] ?? 'a cell'}: ${cleanText(textOf(childOf(comment, 'tc:text'))).trim()}`);
    }
  }
  for (const text of [...texts, ...notes]) spend(text.length);
  return { texts, notes, hasFigure };
}

function cellText(cell: XmlElement, { strings, formats, date1904 }: Workbook): string {
  const value = childOf(cell, 's:v');
  const type = cell.attrs['t'] ?? 'n';
  if (type === 'inlineStr') return richText(childOf(cell, 's:is'));
  if (!value) {
    // Never calculated by the program that wrote it: the formula says more than nothing.
    const formula = textOf(childOf(cell, 's:f'));
    return formula === '' ? '' : `=${formula}`;
  }
  const raw = textOf(value);
  switch (type) {
    case 's':
      return strings[Number(raw)] ?? '';
    case 'b':
      return raw.trim() === '1' || /^true$/i.test(raw.trim()) ? 'TRUE' : 'FALSE';
    case 'str':
    case 'e':
    case 'd':
      return unescapeText(raw);
    default: {
      const number = Number(raw);
      if (raw.trim() === '') return '';
      return Number.isNaN(number) ? raw : formatCellNumber(number, formats[Number(cell.attrs['s'] ?? 0)], date1904);
    }
  }
}

function readSharedStrings(zip: Zip, part: string, spend: (characters: number) => void): string[] {
  const strings: string[] = [];
  const entry = zip.find(part);
  if (!entry || entry.packedBytes === 0) return strings;
  readXmlPart(zip, entry, {
    onOpen: (name) => name === 's:si',
    onTree: (si) => {
      const text = richText(si);
      spend(text.length);
      strings.push(text);
    },
  });
  return strings;
}

/** Text of a string item: runs joined, phonetic guides left out. */
function richText(item: XmlElement | undefined): string {
  if (!item) return '';
  let text = '';
  for (const child of elementsOf(item)) {
    if (child.name === 's:t') text += textOf(child);
    else if (child.name === 's:r') text += textOf(childOf(child, 's:t'));
  }
  return unescapeText(text);
}

/** `_x000D_` is how such files write a character that XML cannot hold. */
const unescapeText = (text: string): string => (text.includes('_x') ? text.replace(/_x([0-9a-fA-F]{4})_/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))) : text);

function readCellStyles(zip: Zip, part: string | undefined): Pick<Workbook, 'formats' | 'fonts'> {
  const entry = part === undefined ? undefined : zip.find(part);
  if (!entry || entry.packedBytes === 0) return { formats: [], fonts: [] };
  let root: XmlElement;
  try {
    root = readXmlTree(zip, entry);
  } catch (error) {
    // Numbers without their look are better than no numbers.
    if (isDamage(error)) return { formats: [], fonts: [] };
    throw error;
  }
  const own = new Map(childrenOf(childOf(root, 's:numFmts'), 's:numFmt').map((format) => [Number(format.attrs['numFmtId']), format.attrs['formatCode'] ?? '']));
  const names = childrenOf(childOf(root, 's:fonts'), 's:font').map((font) => childOf(font, 's:name')?.attrs['val'] ?? '');
  const styles = childrenOf(childOf(root, 's:cellXfs'), 's:xf');
  return {
    formats: styles.map((xf) => {
      const id = Number(xf.attrs['numFmtId'] ?? 0);
      return own.get(id) ?? builtInFormat(id);
    }),
    fonts: styles.map((xf) => names[Number(xf.attrs['fontId'] ?? 0)] ?? ''),
  };
}

/** Column of a reference such as `AB12`, 0-based. */
function columnOf(reference: string | undefined): number | undefined {
  const letters = reference === undefined ? undefined : /^\$?([A-Za-z]{1,3})/.exec(reference)?.[1]?.toUpperCase();
  if (letters === undefined) return undefined;
  let column = 0;
  for (let at = 0; at < letters.length; at++) column = column * 26 + letters.charCodeAt(at) - 64;
  return column - 1;
}

export const xlsx: Format = {
  type: 'xlsx',
  sniff: (head) => isZip(head) && sniffContainer(head, 'x.xlsx') === 'xlsx',
  read: async (bytes, options) => readXlsx(bytes, options),
};
