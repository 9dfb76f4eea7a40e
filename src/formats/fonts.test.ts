import { describe, expect, test } from 'vitest';
import { deckFile, namespaces, relationsXml, wordFile, zipOf } from '../../test/support/zip-fixture.ts';
import { readDocx } from './docx.ts';
import { missingFontNotice } from './fonts.ts';
import { readOdp } from './odp.ts';
import { readOds } from './ods.ts';
import { readOdt } from './odt.ts';
import { readPptx } from './pptx.ts';
import { readXlsx } from './xlsx.ts';

const available = ['carlito', 'liberation sans', 'dejavu sans'];
const options = (availableFonts: string[] | undefined = available) => ({ name: 'a', maxPages: 10, maxUnpackedBytes: 1e6, availableFonts });
const missing = (names: string) => [expect.stringMatching(new RegExp(`^Fonts? ${names} (is|are) missing`))];

test('fonts with a stand-in of the same widths and fonts of signs cost nothing', () => {
  expect(missingFontNotice(['Calibri', 'Arial', 'DejaVu Sans', 'Wingdings', '+mn-lt', ''], new Set(available))).toBeUndefined();
  expect(missingFontNotice(['Garamond', 'garamond'], new Set(available))).toBe('Font Garamond is missing on this server: lines and pages of its PDF copy may break elsewhere than in the original');
  expect(missingFontNotice(['A', 'B', 'C'], new Set(available))).toMatch(/^Fonts A, B and C are missing/);
});

test('a Word file says which of the fonts of its own text are missing', () => {
  const styles = `<w:styles ${namespaces}><w:docDefaults><w:rPrDefault><w:rPr><w:rFonts w:asciiTheme="minorHAnsi"/></w:rPr></w:rPrDefault></w:docDefaults><w:style w:type="paragraph" w:styleId="Unused"><w:rPr><w:rFonts w:ascii="Papyrus"/></w:rPr></w:style></w:styles>`;
  const theme = `<a:theme ${namespaces}><a:themeElements><a:fontScheme><a:majorFont><a:latin typeface="Impact"/></a:majorFont><a:minorFont><a:latin typeface="Optima"/></a:minorFont></a:fontScheme></a:themeElements></a:theme>`;
  const body = '<w:p><w:r><w:t>Themed </w:t></w:r><w:r><w:rPr><w:rFonts w:ascii="Garamond"/></w:rPr><w:t>own</w:t></w:r></w:p>';
  const read = (fonts: string[] | undefined) => readDocx(wordFile(body, { styles, theme }), { name: 'a', maxPages: 10, maxUnpackedBytes: 1e6, availableFonts: fonts }).notices;
  expect(read(available)).toEqual([expect.stringMatching(/^Fonts Garamond and Optima are missing/)]);
  expect(read([...available, 'garamond', 'optima'])).toBeUndefined();
  expect(read(undefined)).toBeUndefined();
});

test('fonts for Chinese, Japanese and Korean count where there is text in those scripts', () => {
  const styles = `<w:styles ${namespaces}><w:docDefaults><w:rPrDefault><w:rPr><w:rFonts w:ascii="Arial" w:eastAsia="SimSun"/></w:rPr></w:rPrDefault></w:docDefaults><w:style w:type="paragraph" w:styleId="Themed"><w:rPr><w:rFonts w:eastAsiaTheme="majorEastAsia"/></w:rPr></w:style></w:styles>`;
  const theme = `<a:theme ${namespaces}><a:themeElements><a:fontScheme><a:majorFont><a:latin typeface="Arial"/><a:ea typeface="Meiryo"/></a:majorFont><a:minorFont><a:latin typeface="Arial"/><a:ea typeface=""/></a:minorFont></a:fontScheme></a:themeElements></a:theme>`;
  const run = (text: string, font: string) => `<w:r><w:rPr><w:rFonts w:eastAsia="${font}"/></w:rPr><w:t>${text}</w:t></w:r>`;
  const read = (body: string) => readDocx(wordFile(body, { styles, theme }), options()).notices;
  expect(read(`<w:p>${run('Latin', 'MS Mincho')}</w:p>`)).toBeUndefined();
  expect(read(`<w:p>${run('日本語', 'MS Mincho')}</w:p>`)).toEqual(missing('MS Mincho and SimSun'));
  expect(read('<w:p><w:pPr><w:pStyle w:val="Themed"/></w:pPr><w:r><w:t>한국어</w:t></w:r></w:p>')).toEqual(missing('Meiryo'));

  const slide = (text: string, ea: string) => `<p:sp><p:txBody><a:p><a:r><a:rPr>${ea}</a:rPr><a:t>${text}</a:t></a:r></a:p></p:txBody></p:sp>`;
  const deck = (shape: string) => readPptx(deckFile([shape]), options()).notices;
  expect(deck(slide('Latin', '<a:ea typeface="MS Gothic"/>'))).toBeUndefined();
  expect(deck(slide('日本語', '<a:ea typeface="MS Gothic"/>'))).toEqual(missing('MS Gothic'));
});

test("a workbook's cells say which fonts they need; styles that no cell has do not", () => {
  const fonts = ['Calibri', 'Garamond', 'Papyrus'].map((name) => `<s:font><s:name val="${name}"/></s:font>`).join('');
  const bytes = zipOf({
    '[Content_Types].xml': '<Types/>',
    '_rels/.rels': relationsXml([['a', 'officeDocument', 'xl/workbook.xml']]),
    'xl/workbook.xml': `<s:workbook ${namespaces}><s:sheets><s:sheet name="S" r:id="s"/></s:sheets></s:workbook>`,
    'xl/_rels/workbook.xml.rels': relationsXml([['s', 'worksheet', 'sheet.xml'], ['sty', 'styles', 'styles.xml']]),
    'xl/styles.xml': `<s:styleSheet ${namespaces}><s:fonts>${fonts}</s:fonts><s:cellXfs><s:xf fontId="0"/><s:xf fontId="1"/><s:xf fontId="2"/></s:cellXfs></s:styleSheet>`,
    'xl/sheet.xml': `<s:worksheet ${namespaces}><s:sheetData><s:row><s:c><s:v>1</s:v></s:c><s:c s="1"><s:v>2</s:v></s:c><s:c s="2"/></s:row></s:sheetData></s:worksheet>`,
  });
  expect(readXlsx(bytes, options()).notices).toEqual(missing('Garamond'));
  expect(readXlsx(bytes, options([...available, 'garamond'])).notices).toBeUndefined();
});

describe('OpenDocument', () => {
  const names =
    ['office', 'text', 'table', 'style'].map((part) => `xmlns:${part}="urn:oasis:names:tc:opendocument:xmlns:${part}:1.0"`).join(' ') +
    ' xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0" xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0"';
  const face = (name: string, family: string, inner = '') => `<style:font-face style:name="${name}" svg:font-family="${family}">${inner}</style:font-face>`;
  const style = (name: string, family: string, properties: string, parent = '') => `<style:style style:name="${name}" style:family="${family}" ${parent}><style:text-properties ${properties}/></style:style>`;
  const faces = [
    face('Body1', "'EB Garamond', serif"), face('F', 'Futura'), face('Asian', 'Noto Serif CJK SC'), face('Unused', 'Papyrus'), face('Own', 'Own Face', '<svg:font-face-src/>'),
  ].join('');
  const file = (kind: string, body: string, automatic: string, common = '') =>
    zipOf({
      mimetype: `application/vnd.oasis.opendocument.${kind}`,
      'styles.xml': `<office:document-styles ${names}><office:font-face-decls>${faces}</office:font-face-decls><office:styles>${common}</office:styles></office:document-styles>`,
      'content.xml': `<office:document-content ${names}><office:font-face-decls>${faces}</office:font-face-decls><office:automatic-styles>${automatic}</office:automatic-styles><office:body><office:${kind}>${body}</office:${kind}></office:body></office:document-content>`,
    });
  const common =
    '<style:default-style style:family="paragraph"><style:text-properties style:font-name="Body1" style:font-name-asian="Asian"/></style:default-style>' +
    style('Standard', 'paragraph', '') + style('Plain', 'paragraph', 'style:font-name="Unused"');

  test('a text says which fonts of its own words are missing, by the family and not by the name they are declared by', () => {
    const automatic = style('P1', 'paragraph', 'fo:font-weight="bold"', 'style:parent-style-name="Standard"') + style('T1', 'text', 'style:font-name="F"') + style('T2', 'text', 'style:font-name="Own"');
    const read = (words: string, fonts?: string[]) => readOdt(file('text', `<text:p text:style-name="P1">${words}<text:span text:style-name="T1">b</text:span><text:span text:style-name="T2">c</text:span></text:p>`, automatic, common), options(fonts)).notices;
    expect(read('a')).toEqual(missing('EB Garamond and Futura'));
    expect(read('日本')).toEqual(missing('EB Garamond, Noto Serif CJK SC and Futura'));
    expect(read('a', [...available, 'eb garamond', 'futura'])).toBeUndefined();
    expect(readOdt(file('text', '<text:p text:style-name="P1">a</text:p>', automatic, common), { name: 'a', maxPages: 10, maxUnpackedBytes: 1e6 }).notices).toBeUndefined();
  });

  test('looking for fonts never makes a text too large to read', () => {
    const body = '<text:p text:style-name="P1">words</text:p>'.repeat(10_000);
    const bytes = file('text', body, style('P1', 'paragraph', 'style:font-name="F"'), common);
    const { pages, notices } = readOdt(bytes, { ...options(), maxPages: 1_000, maxUnpackedBytes: 600_000 });
    expect(pages.map((page) => page.text).join('\n').split(/\s+/).length).toBe(10_000);
    expect(notices).toBeUndefined();
  });

  test('so do the cells of a spreadsheet and the shapes of a slide', () => {
    const cells = '<table:table table:name="S"><table:table-row><table:table-cell table:style-name="ce1"><text:p>1</text:p></table:table-cell></table:table-row></table:table>';
    expect(readOds(file('spreadsheet', cells, style('ce1', 'table-cell', "fo:font-family=\"'EB Garamond'\"")), options()).notices).toEqual(missing('EB Garamond'));
    const shapes = '<draw:page><draw:custom-shape draw:style-name="gr1"><text:p text:style-name="P1">Words</text:p></draw:custom-shape></draw:page>';
    const gr1 = style('gr1', 'graphic', '', 'style:parent-style-name="standard"') + style('P1', 'paragraph', '');
    expect(readOdp(file('presentation', shapes, gr1, style('standard', 'graphic', 'style:font-name="F"')), options()).notices).toEqual(missing('Futura'));
  });
});
