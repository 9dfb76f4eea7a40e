import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { hasShared, sharedPath } from '../../test/support/shared.ts';
import { namespaces, relationsXml, zipOf } from '../../test/support/zip-fixture.ts';
import { builtInFormat, formatCellNumber } from './number-format.ts';
import { readXlsx } from './xlsx.ts';

const options = { name: 'a.xlsx', maxPages: 5_000, maxUnpackedBytes: 1024 ** 3 };

interface SheetInput {
  name: string;
  rows: string;
  state?: string;
  relations?: [string, string, string][];
}

function workbook(sheets: SheetInput[], parts: Record<string, string> = {}, properties = ''): Uint8Array {
  const files: Record<string, string> = {
    '[Content_Types].xml': '<Types/>',
    '_rels/.rels': relationsXml([['a', 'officeDocument', 'xl/workbook.xml']]),
    'xl/workbook.xml': `<s:workbook ${namespaces}>${properties}<s:sheets>${sheets.map(({ name, state }, at) => `<s:sheet name="${name}" sheetId="${at + 1}" r:id="s${at}" ${state ? `state="${state}"` : ''}/>`).join('')}</s:sheets></s:workbook>`,
    'xl/_rels/workbook.xml.rels': relationsXml([...sheets.map((_, at): [string, string, string] => [`s${at}`, 'worksheet', `worksheets/sheet${at + 1}.xml`]), ['str', 'sharedStrings', 'sharedStrings.xml'], ['sty', 'styles', 'styles.xml']]),
    ...parts,
  };
  sheets.forEach(({ rows, relations }, at) => {
    files[`xl/worksheets/sheet${at + 1}.xml`] = `<s:worksheet ${namespaces}><s:sheetData>${rows}</s:sheetData></s:worksheet>`;
    if (relations) files[`xl/worksheets/_rels/sheet${at + 1}.xml.rels`] = relationsXml(relations);
  });
  return zipOf(files);
}

const row = (...cells: string[]) => `<s:row>${cells.join('')}</s:row>`;
const cell = (reference: string, value: string, more = '') => `<s:c r="${reference}" ${more}><s:v>${value}</s:v></s:c>`;

test('every sheet is a page, hidden ones too and said so; empty ones are empty', () => {
  const result = readXlsx(workbook([{ name: 'Sales', rows: row(cell('A1', '1')) }, { name: 'Notes', rows: row(cell('A1', '2')), state: 'hidden' }, { name: 'Blank', rows: '' }]), options);
  expect(result.pages.map((page) => [page.text, page.fate])).toEqual([['Sales\n\n1', 'text'], ['Notes\n\n2', 'text'], ['', 'empty']]);
  expect(result.pages[0]!.sections).toEqual([{ start: 0, title: 'Sales' }]);
  expect(result.pagesEstimated).toBe(false);
  expect(result.notices).toEqual(['It has hidden sheets, which are read too: Notes']);
});

test('zeros, FALSE, errors, shared and inline strings, cached formula values and formulas without one', () => {
  const sharedStrings = `<s:sst ${namespaces}><s:si><s:t>Name</s:t></s:si><s:si><s:r><s:t>Rich </s:t></s:r><s:r><s:t>text_x000D_</s:t></s:r><s:rPh><s:t>reading</s:t></s:rPh></s:si></s:sst>`;
  const rows = row(
    cell('A1', '0', 't="s"'), cell('B1', '1', 't="s"'), cell('C1', '0'), cell('D1', '0', 't="b"'), cell('E1', '1', 't="b"'), cell('F1', '#N/A', 't="e"'),
    '<s:c r="G1" t="inlineStr"><s:is><s:t>inline</s:t></s:is></s:c>', '<s:c r="H1"><s:f>A1*2</s:f><s:v>42</s:v></s:c>', '<s:c r="I1"><s:f>NOW()</s:f></s:c>', cell('J1', 'done', 't="str"'),
  );
  expect(readXlsx(workbook([{ name: '', rows }], { 'xl/sharedStrings.xml': sharedStrings }), options).pages[0]!.text).toBe('Name | Rich text | 0 | FALSE | TRUE | #N/A | inline | 42 | =NOW() | done');
});

test('cells stay under their column heads, columns without any content are left out', () => {
  const rows = row(cell('B1', '1'), cell('D1', '2'), cell('XFD1', '3')) + row(cell('D2', '5')) + row(cell('B3', '6'), cell('XFD3', '7'));
  expect(readXlsx(workbook([{ name: '', rows }]), options).pages[0]!.text.split('\n')).toEqual(['1 | 2 | 3', ' | 5', '6 |  | 7']);
});

test('dates and numbers look as the workbook shows them', () => {
  const styles = `<s:styleSheet ${namespaces}><s:numFmts><s:numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd;@"/></s:numFmts><s:cellXfs><s:xf numFmtId="0"/><s:xf numFmtId="164"/><s:xf numFmtId="10"/></s:cellXfs></s:styleSheet>`;
  const rows = row(cell('A1', '45200', 's="1"'), cell('B1', '0.125', 's="2"'), cell('C1', '0.30000000000000004'));
  expect(readXlsx(workbook([{ name: '', rows }], { 'xl/styles.xml': styles }), options).pages[0]!.text).toBe('2023-10-01 | 12.50% | 0.3');
  expect(readXlsx(workbook([{ name: '', rows }], { 'xl/styles.xml': styles }, '<s:workbookPr date1904="1"/>'), options).pages[0]!.text).toMatch(/^2027-10-02/);
});

test.each<[value: number, format: string, shown: string]>([
  [1234.5, '#,##0.00', '1,234.50'],
  [-1234.5, '#,##0.00;(#,##0.00)', '(1,234.50)'],
  [0, '0.00;-0.00;"none"', 'none'],
  [1.005, '0.00', '1.01'],
  [0.5, '#.##', '.5'],
  [1_500_000, '0.0,,"M"', '1.5M'],
  [12, '[$€-407] #,##0', '€ 12'],
  [5, '[<10]"few";"many"', 'few'],
  [12345.678, '0.00E+00', '1.23E+04'],
  [1, '@', '1'],
  [45200.75, 'd. mmmm yyyy h:mm', '1. October 2023 18:00'],
  [45200.75, 'h:mm AM/PM', '6:00 PM'],
  [1.5, '[h]:mm:ss', '36:00:00'],
  [0.000011574, 'mm:ss.000', '00:01.000'],
  [59, 'yyyy-mm-dd', '1900-02-28'],
  [61, 'yyyy-mm-dd', '1900-03-01'],
  [1e20, 'General', '1E+20'],
  [123456789012, 'General', '123456789012'],
])('%d as %j is %j', (value, format, shown) => {
  expect(formatCellNumber(value, format)).toBe(shown);
});

test.each([
  [0.75, '# ?/?', '3/4'], [2.5, '# ?/?', '2 1/2'], [3, '# ?/?', '3'], [0, '# ?/?', '0'], [-1.25, '# ?/?', '-1 1/4'], [0.999, '# ?/?', '1'], [1 / 3, '?/?', '1/3'], [1.5, '?/?', '3/2'],
  [0.3125, '# ??/??', '5/16'], [3.14159, '# ???/???', '3 16/113'], [0.375, '# ?/8', '3/8'], [12.5, '# ?/16" in"', '12 8/16 in'], [45_000, 'd/m/yyyy', '15/3/2023'], [7, '0"/2"', '7/2'],
])('the fraction %d in %s is %s', (value, format, shown) => {
  expect(formatCellNumber(value, format)).toBe(shown);
});

test('built-in formats are known', () => {
  expect(formatCellNumber(45200, builtInFormat(14))).toBe('10/1/2023');
});

test('charts, text boxes and pictures come after the rows, comments apart', () => {
  const chart = `<c:chartSpace ${namespaces}><c:chart><c:title><c:tx><c:rich><a:p><a:r><a:t>Trend</a:t></a:r></a:p></c:rich></c:tx></c:title></c:chart></c:chartSpace>`;
  const drawing = `<xdr:wsDr xmlns:xdr="http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing" ${namespaces}><xdr:sp><xdr:txBody><a:p><a:r><a:t>Boxed</a:t></a:r></a:p></xdr:txBody></xdr:sp><c:chart r:id="c"/></xdr:wsDr>`;
  const page = readXlsx(
    workbook([{ name: '', rows: row(cell('A1', '1')), relations: [['d', 'drawing', '../drawings/d1.xml'], ['n', 'comments', '../comments1.xml']] }], {
      'xl/drawings/d1.xml': drawing,
      'xl/drawings/_rels/d1.xml.rels': relationsXml([['c', 'chart', '../charts/c1.xml']]),
      'xl/charts/c1.xml': chart,
      'xl/comments1.xml': `<s:comments ${namespaces}><s:commentList><s:comment ref="A1"><s:text><s:t>Check</s:t></s:text></s:comment></s:commentList></s:comments>`,
    }),
    options,
  ).pages[0]!;
  expect(page.text).toBe('1\n\nBoxed\n\nTrend');
  expect(page.toView).toBe(true);
  expect(page.notes).toBe('Comment on A1: Check');
});

test('a shared string used a million times and stray cells end the reading or stay small', () => {
  const sharedStrings = `<s:sst ${namespaces}><s:si><s:t>${'x'.repeat(100_000)}</s:t></s:si></s:sst>`;
  const rows = row(cell('A1', '0', 't="s"')).repeat(1_000);
  expect(() => readXlsx(workbook([{ name: '', rows }], { 'xl/sharedStrings.xml': sharedStrings }), options)).toThrow(/Too large to read: its cells hold more than/);
  const diagonal = Array.from({ length: 2_000 }, (_, at) => row(cell(`${columnName(at)}${at + 1}`, '1'))).join('');
  expect(readXlsx(workbook([{ name: '', rows: diagonal }]), options).pages[0]!.text.length).toBeLessThan(100_000);
});

function columnName(index: number): string {
  let name = '';
  for (let left = index + 1; left > 0; left = Math.floor((left - 1) / 26)) name = String.fromCharCode(65 + ((left - 1) % 26)) + name;
  return name;
}

describe.skipIf(!hasShared('corpus', 'reading the workbooks of the corpus'))('corpus', () => {
  const corpus = (name: string) => readXlsx(readFileSync(sharedPath(`corpus/${name}`)), { ...options, name });
  test('real files', () => {
    expect(corpus('xlsx-date-formats.xlsx').pages[0]!.text).toContain('9/20/2018\n8/10/1996');
    expect(corpus('xlsx-formulas.xlsx').pages).toHaveLength(5);
    expect(corpus('xlsx-formulas.xlsx').pages[0]!.text).toContain('SUM | Multi Cell (Single Row) | 60 | 60');
    expect(corpus('xlsx-inflated-dimension.xlsx').pages[0]!.text).toBe('Sheet1\n\nfirst | second | third\n1 | 5 | 9\n2 | 4 | 6\n3 | 3 | 3\n4 | 2 | 0\n5 | 1 | -3\n6 | 0 | -6');
    expect(() => corpus('xlsx-zip-bomb-shared-strings.xlsx')).toThrow(/Too large to read/);
  });
});
