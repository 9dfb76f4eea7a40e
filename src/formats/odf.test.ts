import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { hasShared, sharedPath } from '../../test/support/shared.ts';
import { zipOf } from '../../test/support/zip-fixture.ts';
import { readOdp } from './odp.ts';
import { readOds } from './ods.ts';
import { readOdt } from './odt.ts';

const options = { name: 'a', maxPages: 5_000, maxUnpackedBytes: 1024 ** 3 };
const names =
  ['office', 'text', 'table', 'style', 'presentation'].map((part) => `xmlns:${part}="urn:oasis:names:tc:opendocument:xmlns:${part}:1.0"`).join(' ') +
  ' xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0"' +
  ' xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0" xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:dc="http://purl.org/dc/elements/1.1/"' +
  ' xmlns:field="urn:openoffice:names:experimental:ooo-ms-interop-xmlns:field:1.0"' +
  ' xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"';

const file = (kind: string, body: string, styles = '', parts: Record<string, string> = {}) =>
  zipOf({
    mimetype: `application/vnd.oasis.opendocument.${kind}`,
    'content.xml': `<office:document-content ${names}><office:automatic-styles>${styles}</office:automatic-styles><office:body><office:${kind}>${body}</office:${kind}></office:body></office:document-content>`,
    ...parts,
  });
const odtPages = (body: string, styles = '', parts: Record<string, string> = {}) => readOdt(file('text', body, styles, parts), options).pages;
const p = (text: string) => `<text:p>${text}</text:p>`;

describe('odt', () => {
  test('headings, blanks, notes, comments and deleted text', () => {
    const [page] = odtPages(
      `<text:tracked-changes><text:changed-region><text:deletion>${p('gone')}</text:deletion></text:changed-region></text:tracked-changes>` +
        `<text:h text:outline-level="1">Scope</text:h>${p('One<text:s text:c="2"/>two<text:tab/>three\n   four<text:note><text:note-citation>1</text:note-citation><text:note-body>' + p('Footed') + '</text:note-body></text:note>')}` +
        p('<office:annotation><dc:creator>Ava</dc:creator>' + p('Check') + '</office:annotation>Commented'),
    );
    expect(page!.text).toBe('Scope\n\nOne  two\tthree four[1]\n[1] Footed\n\nCommented');
    expect(page!.sections).toEqual([{ start: 0, title: 'Scope' }]);
    expect(page!.notes).toBe('Comment by Ava: Check');
  });

  test('lists carry their numbers, nested ones continue by level', () => {
    const style = '<text:list-style style:name="L"><text:list-level-style-number text:level="1" style:num-format="1" style:num-suffix="."/><text:list-level-style-number text:level="2" style:num-format="a" style:num-suffix=")"/></text:list-style>';
    const item = (inner: string) => `<text:list-item>${inner}</text:list-item>`;
    const body = `<text:list text:style-name="L">${item(p('first') + `<text:list>${item(p('inner'))}${item(p('more'))}</text:list>`)}${item(p('second'))}</text:list>`;
    expect(odtPages(body, style)[0]!.text).toBe('1. first\na) inner\nb) more\n2. second');
  });

  test('tables by row, covered cells keep the columns', () => {
    const cell = (text: string, more = '') => `<table:table-cell ${more}>${p(text)}</table:table-cell>`;
    const body = `<table:table><table:table-header-rows><table:table-row>${cell('Wide', 'table:number-columns-spanned="2"')}<table:covered-table-cell/>${cell('C')}</table:table-row></table:table-header-rows><table:table-row>${cell('1')}${cell('2')}${cell('3')}</table:table-row></table:table>`;
    expect(odtPages(body)[0]!.text).toBe('Wide |  | C\n1 | 2 | 3');
  });

  test('text boxes and formulas are read, pages end where the program ended them', () => {
    const math = '<math xmlns="http://www.w3.org/1998/Math/MathML"><semantics><mfrac><mn>1</mn><mi>x</mi></mfrac><annotation>1 over x</annotation></semantics></math>';
    const body = p(`Before<draw:frame><draw:text-box>${p('Boxed')}</draw:text-box></draw:frame>`) + p('<draw:frame><draw:object xlink:href="./Object 1"/></draw:frame>') + '<text:soft-page-break/>' + p('Second page');
    expect(odtPages(body, '', { 'Object 1/content.xml': math }).map((page) => page.text)).toEqual(['Before\n\nBoxed\n\n1/x', 'Second page']);
  });

  test('an encrypted file asks for a copy without a password', () => {
    const manifest = `<manifest:manifest ${names}><manifest:file-entry manifest:full-path="content.xml"><manifest:encryption-data/></manifest:file-entry></manifest:manifest>`;
    expect(() => odtPages('', '', { 'META-INF/manifest.xml': manifest })).toThrow('It needs a password to open — upload a copy without one');
  });
});

test('odt: lists go on from the list they name, endnotes follow the text', () => {
  const styles = '<text:list-style style:name="L1"><text:list-level-style-number text:level="1" style:num-format="1" style:num-suffix="."/></text:list-style>';
  const list = (id: string, text: string, more = '') => `<text:list xml:id="${id}" text:style-name="L1" ${more}><text:list-item>${p(text)}</text:list-item></text:list>`;
  const note = `<text:note text:note-class="endnote"><text:note-body>${p('At the end')}</text:note-body></text:note>`;
  const [page] = odtPages(list('a', 'one') + p(`Between${note}`) + list('b', 'two', 'text:continue-list="a"') + list('c', 'again') + list('d', 'more', 'text:continue-numbering="true"'), styles);
  expect(page!.text).toBe('1. one\n\nBetween[1]\n\n2. two\n\n1. again\n\n2. more\n[1] At the end');
});

test('odt: hidden words apart, what form fields show', () => {
  const styles = '<style:style style:name="T1" style:family="text"><style:text-properties text:display="none"/></style:style>';
  const param = (name: string, value: string) => `<field:param field:name="${name}" field:value="${value}"/>`;
  const field = (type: string, inner: string) => `<field:fieldmark field:type="vnd.oasis.opendocument.field.${type}">${inner}</field:fieldmark>`;
  const list = field('FORMDROPDOWN', param('Dropdown_ListEntry', 'Antwerp') + param('Dropdown_ListEntry', 'Bremen') + param('Dropdown_Selected', '1'));
  const [page] = odtPages(p('Seen<text:span text:style-name="T1"> unseen</text:span> words') + p(`Port: ${list}`) + p(`${field('FORMCHECKBOX', param('Checkbox_Checked', 'true'))} agreed`), styles);
  expect(page).toMatchObject({ text: 'Seen words\n\nPort: Bremen\n\n☒ agreed', hidden: 'unseen' });
});

test('ods: charts beside the paragraph that LibreOffice puts in their frame, hidden sheets named', () => {
  const chart = `<office:document-content ${names} xmlns:chart="urn:oasis:names:tc:opendocument:xmlns:chart:1.0"><office:body><office:chart><chart:chart><chart:title>${p('Herring by year')}</chart:title></chart:chart></office:chart></office:body></office:document-content>`;
  const frame = '<draw:frame svg:width="10cm" svg:height="8cm"><draw:object xlink:href="./Object 1"><text:p/></draw:object><draw:image/></draw:frame>';
  const styles = '<style:style style:name="ta2" style:family="table"><style:table-properties table:display="false"/></style:style>';
  const body =
    `<table:table table:name="Plan"><table:shapes>${frame}</table:shapes></table:table>` +
    `<table:table table:name="Secret" table:style-name="ta2"><table:table-row><table:table-cell>${p('kept')}</table:table-cell></table:table-row></table:table>`;
  const { pages, notices } = readOds(file('spreadsheet', body, styles, { 'Object 1/content.xml': chart }), options);
  expect(pages.map((page) => [page.text, page.toView])).toEqual([['Plan\n\nHerring by year', true], ['Secret\n\nkept', false]]);
  expect(notices).toEqual(['It has hidden sheets, which are read too: Secret']);
});

test('ods: sheets are pages, repeated cells and rows are bounded, shown text counts', () => {
  const cell = (text: string, more = '') => `<table:table-cell ${more}>${text === '' ? '' : p(text)}</table:table-cell>`;
  const body =
    `<table:table table:name="Plan"><table:table-row>${cell('Name')}${cell('0')}${cell('x', 'table:number-columns-repeated="3"')}</table:table-row>` +
    `<table:table-row table:number-rows-repeated="2">${cell('12.5 %', 'office:value="0.125"')}${cell('', 'table:number-columns-repeated="2"')}${cell('TRUE')}</table:table-row>` +
    `<table:table-row table:number-rows-repeated="1048000">${cell('', 'table:number-columns-repeated="16384"')}</table:table-row></table:table><table:table table:name="Empty"/>`;
  const { pages } = readOds(file('spreadsheet', body), options);
  expect(pages.map((page) => page.text)).toEqual(['Plan\n\nName | 0 | x | x | x\n12.5 % |  |  | TRUE\n12.5 % |  |  | TRUE', '']);
});

test('ods: what LibreOffice remembers of other files is no sheet, a linked sheet is one; comments keep their author', () => {
  const source = '<table:table-source xlink:href="file:///tmp/other.ods" table:table-name="Prices"/>';
  const row = (text: string, more = '') => `<table:table-row><table:table-cell>${more}${p(text)}</table:table-cell></table:table-row>`;
  const styles = '<style:style style:name="ta_extref" style:family="table"><style:table-properties table:display="false"/></style:style>';
  const body =
    `<table:table table:name="Plan">${row('own', '<office:annotation><dc:creator>Ava</dc:creator>' + p('Check') + '</office:annotation>')}</table:table>` +
    `<table:table table:name="Linked">${source}${row('shown')}</table:table>` +
    `<table:table table:name="'file:///tmp/other.ods'#Prices" table:style-name="ta_extref">${source}${row('remembered')}</table:table>`;
  const { pages, notices } = readOds(file('spreadsheet', body, styles), options);
  expect(pages.map((page) => page.text)).toEqual(['Plan\n\nown', 'Linked\n\nshown']);
  expect(pages[0]!.notes).toBe('Comment by Ava: Check');
  expect(notices).toBeUndefined();
});

test('odt: a table row of which all or a part is hidden', () => {
  const styles = '<style:style style:name="T1" style:family="text"><style:text-properties text:display="none"/></style:style>';
  const cell = (inner: string) => `<table:table-cell>${p(inner)}</table:table-cell>`;
  const unseen = (text: string) => `<text:span text:style-name="T1">${text}</text:span>`;
  const body = `<table:table><table:table-row>${cell(`a${unseen('one')}`)}${cell('b')}</table:table-row><table:table-row>${cell(unseen('two'))}${cell(unseen('three'))}</table:table-row></table:table>`;
  expect(odtPages(body, styles)[0]).toMatchObject({ text: 'a | b', hidden: 'one\ntwo\nthree' });
});

test('odp: slides in order with title first, notes apart, marks from the shapes', () => {
  const frame = (text: string, y: number, more = '') => `<draw:frame svg:x="1cm" svg:y="${y}cm" svg:width="10cm" svg:height="2cm" ${more}><draw:text-box>${p(text)}</draw:text-box></draw:frame>`;
  const notes = `<presentation:notes>${frame('Say hello', 1)}</presentation:notes><office:annotation svg:x="1cm"><dc:creator>Ava</dc:creator><dc:date>2026-01-01</dc:date>${p('Shorter')}${p('please')}</office:annotation>`;
  const body =
    `<presentation:footer-decl presentation:name="f1">Confidential</presentation:footer-decl>` +
    `<draw:page presentation:use-footer-name="f1">${frame('below', 8)}${frame('above', 4)}${frame('Title', 12, 'presentation:class="title"')}${notes}</draw:page>` +
    '<draw:page><draw:frame svg:x="1cm" svg:y="1cm" svg:width="10cm" svg:height="8cm"><draw:image/></draw:frame></draw:page>';
  const { pages } = readOdp(file('presentation', body), options);
  expect(pages.map((page) => [page.text, page.fate, page.toView])).toEqual([['Title\n\nabove\n\nbelow\n\nConfidential', 'text', false], ['', 'image_only', true]]);
  expect(pages[0]!.notes).toBe('Say hello\nComment by Ava: Shorter please');
});

describe.skipIf(!hasShared('corpus', 'reading the OpenDocument files of the corpus'))('corpus', () => {
  test('real files', () => {
    const read = readOdt(readFileSync(sharedPath('corpus/odt-text-03.odt')), options);
    expect(read.pages.flatMap((page) => page.sections ?? []).map(({ title }) => title)).toContain('Table with nested table');
    expect(readOdp(readFileSync(sharedPath('corpus/odp-footer.odp')), options).pages[0]!.text).toBe('Master footer is here');
    expect(() => readOdt(readFileSync(sharedPath('corpus/odt-encrypted.odt')), options)).toThrow('needs a password');
  });
});
