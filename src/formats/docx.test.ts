import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { hasShared, sharedPath } from '../../test/support/shared.ts';
import { namespaces, wordFile } from '../../test/support/zip-fixture.ts';
import { readDocx } from './docx.ts';

const options = { name: 'a.docx', maxPages: 5_000, maxUnpackedBytes: 1024 ** 3 };
const read = (body: string, parts: Record<string, string> = {}, relations: [string, string, string][] = []) => readDocx(wordFile(body, parts, relations), options);
const textOf = (body: string, parts: Record<string, string> = {}) => read(body, parts).pages.map((page) => page.text).join('\f');
const p = (inner: string, properties = '') => `<w:p>${properties && `<w:pPr>${properties}</w:pPr>`}${inner}</w:p>`;
const r = (text: string, properties = '') => `<w:r>${properties && `<w:rPr>${properties}</w:rPr>`}<w:t xml:space="preserve">${text}</w:t></w:r>`;
const cell = (text: string, properties = '') => `<w:tc><w:tcPr>${properties}</w:tcPr>${p(r(text))}</w:tc>`;

test('tracked changes read as accepted, and the document says so', () => {
  const result = read(p(`${r('We pay ')}<w:del>${r('ten')}</w:del><w:ins>${r('twelve')}</w:ins>${r(' euros.')}`));
  expect(result.pages[0]!.text).toBe('We pay twelve euros.');
  expect(result.notices).toEqual(['It has tracked changes: it is read as if all of them were accepted']);
});

test('a deleted paragraph mark joins the paragraphs, a deleted row is gone', () => {
  expect(textOf(p(r('One '), '<w:rPr><w:del/></w:rPr>') + p(r('line.')))).toBe('One line.');
  expect(textOf(`<w:tbl><w:tr><w:trPr><w:del/></w:trPr>${cell('a')}${cell('b')}</w:tr><w:tr>${cell('c')}${cell('d')}</w:tr></w:tbl>`)).toBe('c | d');
});

test('a text box is read once, not again through its fallback', () => {
  const box = `<w:txbxContent>${p(r('Boxed words'))}</w:txbxContent>`;
  const body = p(
    `${r('Around')}<w:r><mc:AlternateContent><mc:Choice Requires="wps"><w:drawing><wps:wsp><wps:txbx>${box}</wps:txbx></wps:wsp></w:drawing></mc:Choice>` +
      `<mc:Fallback><w:pict><v:shape><v:textbox>${box}</v:textbox></v:shape></w:pict></mc:Fallback></mc:AlternateContent></w:r>`,
  );
  expect(textOf(body)).toBe('Around\n\nBoxed words');
});

test('footnotes follow their paragraph, endnotes the text', () => {
  const notes = (kind: string) => `<w:${kind}s ${namespaces}><w:${kind} w:id="2">${p(r(`A ${kind}`))}</w:${kind}></w:${kind}s>`;
  const body = p(`${r('First')}<w:r><w:endnoteReference w:id="2"/></w:r>${r(' then')}<w:r><w:footnoteReference w:id="2"/></w:r>`) + p(r('Last.'));
  expect(textOf(body, { footnotes: notes('footnote'), endnotes: notes('endnote') })).toBe('First[1] then[2]\n[2] A footnote\n\nLast.\n[1] A endnote');
});

test('the entry chosen in a drop-down field is text', () => {
  const list = (chosen: string) =>
    p(`${r('Port: ')}<w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:ddList>${chosen}<w:listEntry w:val="Antwerp"/><w:listEntry w:val="Bremen"/></w:ddList></w:ffData></w:fldChar></w:r><w:r><w:instrText> FORMDROPDOWN </w:instrText></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>`);
  expect([textOf(list('<w:result w:val="1"/>')), textOf(list(''))]).toEqual(['Port: Bremen', 'Port: Antwerp']);
});

test('merged cells keep the columns of their neighbours', () => {
  const table =
    `<w:tbl><w:tr>${cell('Wide', '<w:gridSpan w:val="2"/>')}${cell('C')}</w:tr>` +
    `<w:tr>${cell('Tall', '<w:vMerge w:val="restart"/>')}${cell('B1')}${cell('C1')}</w:tr>` +
    `<w:tr>${cell('', '<w:vMerge/>')}${cell('B2')}${cell('C2')}</w:tr>` +
    `<w:tr><w:trPr><w:gridBefore w:val="1"/></w:trPr>${cell('B3')}${cell('C3')}</w:tr></w:tbl>`;
  expect(textOf(table).split('\n')).toEqual(['Wide |  | C', 'Tall | B1 | C1', ' | B2 | C2', ' | B3 | C3']);
});

test('a table inside a cell stays inside its column', () => {
  const inner = `<w:tbl><w:tr>${cell('x')}${cell('y')}</w:tr><w:tr>${cell('z')}${cell('w')}</w:tr></w:tbl>`;
  expect(textOf(`<w:tbl><w:tr><w:tc>${inner}${p('')}</w:tc>${cell('right')}</w:tr></w:tbl>`)).toBe('x, y; z, w | right');
});

test('headings carry their numbers and become sections', () => {
  const numbering =
    `<w:numbering ${namespaces}><w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="upperRoman"/><w:lvlText w:val="%1."/></w:lvl>` +
    `<w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1.%2"/></w:lvl></w:abstractNum><w:num w:numId="5"><w:abstractNumId w:val="1"/></w:num></w:numbering>`;
  const styles =
    `<w:styles ${namespaces}><w:style w:type="paragraph" w:styleId="H1"><w:name w:val="heading 1"/><w:pPr><w:numPr><w:numId w:val="5"/></w:numPr></w:pPr></w:style>` +
    `<w:style w:type="paragraph" w:styleId="H2"><w:name w:val="heading 2"/><w:basedOn w:val="H1"/><w:pPr><w:numPr><w:ilvl w:val="1"/></w:numPr></w:pPr></w:style></w:styles>`;
  const heading = (style: string, text: string) => p(r(text), `<w:pStyle w:val="${style}"/>`);
  const page = read(heading('H1', 'Scope') + p(r('Text.')) + heading('H1', 'Terms') + heading('H2', 'Words') + heading('H2', 'Signs'), { numbering, styles }).pages[0]!;
  expect(page.text.split('\n\n')).toEqual(['I. Scope', 'Text.', 'II. Terms', 'II.1 Words', 'II.2 Signs']);
  expect(page.sections?.map(({ title, start }) => page.text.startsWith(title, start))).toEqual([true, true, true, true]);
});

test('footnotes stand after their paragraph, comments and hidden text apart', () => {
  const footnotes = `<w:footnotes ${namespaces}><w:footnote w:type="separator" w:id="0">${p(r('---'))}</w:footnote><w:footnote w:id="2">${p(r('See annex.'))}</w:footnote></w:footnotes>`;
  const comments = `<w:comments ${namespaces}><w:comment w:id="7" w:author="Ava">${p(r('Check this'))}</w:comment></w:comments>`;
  const body = p(`${r('Claim')}<w:r><w:footnoteReference w:id="2"/></w:r>${r(' stands.')}${r('secret', '<w:vanish/>')}<w:r><w:commentReference w:id="7"/></w:r>`) + p(r('Next.'));
  const page = read(body, { footnotes, comments }).pages[0]!;
  expect(page.text).toBe('Claim[1] stands.\n[1] See annex.\n\nNext.');
  expect(page.notes).toBe('Comment by Ava: Check this');
  expect(page.hidden).toBe('secret');
});

test('fields show their result, never their code', () => {
  const field = (code: string, result: string) => `<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>${code}</w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r>${r(result)}<w:r><w:fldChar w:fldCharType="end"/></w:r>`;
  expect(textOf(p(`${r('See ')}${field('REF _x', 'chapter 4')}${r('.')}`))).toBe('See chapter 4.');
});

const mark = (kind: string) => `<w:r><w:fldChar w:fldCharType="${kind}"/></w:r>`;
const code = (text: string) => `<w:r><w:instrText>${text}</w:instrText></w:r>`;

test('a field that is begun and never ended does not swallow the text behind it', () => {
  expect(textOf(p(`${r('Before ')}${mark('begin')}${code('REF _x')}${r('behind')}`) + p(r('Next.')) + `<w:tbl><w:tr>${cell('a')}${cell('b')}</w:tr></w:tbl>` + p(r('Last.')))).toBe('Before behind\n\nNext.\n\na | b\n\nLast.');
  const many = Array.from({ length: 300 }, (_, at) => p(`${mark('begin')}${r(`Line ${at}.`)}`)).join('');
  expect(textOf(many).match(/Line \d+\./g)).toHaveLength(300);
  expect(textOf(p(`${mark('begin')}${r('one')}`) + p(`${mark('begin')}${code('REF _x')}${mark('separate')}${r('two')}${mark('end')}`))).toBe('one\n\ntwo');
});

test('a code that goes on in the next paragraph stays a code', () => {
  expect(textOf(p(`${r('A ')}${mark('begin')}${code('IF 1=1')}${r('"code')}`) + p(`${r('more code"')}${mark('separate')}${r('result')}${mark('end')}`) + p(r('Last.')))).toBe('A\n\nresult\n\nLast.');
});

test('files that Word takes in are said, and hidden words in a table row are kept apart', () => {
  expect(read(`${p(r('Words'))}<w:altChunk r:id="x"/>`).notices).toEqual(['It takes in another file that Word reads as it opens it, whose text is not read here — open it in Word, save it and upload that']);
  const unseen = (text: string) => `<w:tc><w:tcPr/>${p(r(text, '<w:vanish/>'))}</w:tc>`;
  expect(read(`<w:tbl><w:tr>${cell('a')}${unseen('one')}</w:tr><w:tr>${unseen('two')}${unseen('three')}</w:tr></w:tbl>`).pages[0]).toMatchObject({ text: 'a', hidden: 'one\ntwo\nthree' });
});

test('formulas are one readable line', () => {
  const t = (text: string) => `<m:r><m:t>${text}</m:t></m:r>`;
  const formula = `<m:oMath>${t('x=')}<m:f><m:num>${t('−b±')}<m:rad><m:deg/><m:e><m:sSup><m:e>${t('b')}</m:e><m:sup>${t('2')}</m:sup></m:sSup>${t('−4ac')}</m:e></m:rad></m:num><m:den>${t('2a')}</m:den></m:f></m:oMath>`;
  expect(textOf(p(`${r('Roots: ')}${formula}`))).toBe('Roots: x=(−b±√(b^2−4ac))/(2a)');
});

test('the strict dialect and any prefix read like the usual one', () => {
  const strict = '<x:document xmlns:x="http://purl.oclc.org/ooxml/wordprocessingml/main"><x:body><x:p><x:r><x:t>Strict words</x:t></x:r></x:p></x:body></x:document>';
  expect(textOf('', { 'word/document.xml': strict })).toBe('Strict words');
  expect(read('').pages).toMatchObject([{ text: '', fate: 'empty' }]);
});

test('pages are those that Word rendered, else about 3,000 characters', () => {
  const rendered = read(p(r('First page.')) + p(`<w:r><w:br w:type="page"/></w:r>`) + p(`<w:r><w:lastRenderedPageBreak/></w:r>${r('Second ')}<w:r><w:lastRenderedPageBreak/></w:r>${r('third.')}`));
  expect(rendered.pages.map((page) => page.text)).toEqual(['First page.', 'Second', 'third.']);
  expect(rendered.pagesEstimated).toBe(true);
  const long = read(Array.from({ length: 30 }, (_, at) => p(r(`${at} ${'word '.repeat(60)}`))).join(''));
  expect(long.pages.length).toBe(3);
});

test('headers and footers are read once and without stale page numbers', () => {
  const edge = (name: string, text: string) => `<w:${name} ${namespaces}>${p(`${r(text)}<w:fldSimple w:instr=" PAGE ">${r('17')}</w:fldSimple>`)}</w:${name}>`;
  const body = p(r('Body.')) + '<w:sectPr><w:headerReference w:type="default" r:id="h"/><w:footerReference w:type="default" r:id="f"/></w:sectPr>';
  const page = read(body, { 'word/h1.xml': edge('hdr', 'ACME letter '), 'word/f1.xml': edge('ftr', 'Page ') }, [['h', 'header', 'h1.xml'], ['f', 'footer', 'f1.xml']]).pages[0]!;
  expect(page.text).toBe('ACME letter\n\nBody.\n\nPage');
  const broken = read(p(`${mark('begin')}${r('Body.')}`) + '<w:sectPr><w:headerReference w:type="default" r:id="h"/></w:sectPr>', { 'word/h1.xml': edge('hdr', 'ACME letter ') }, [['h', 'header', 'h1.xml']]);
  expect(broken.pages[0]!.text).toBe('ACME letter\n\nBody.');
});

test('entities of its own and broken XML are refused with a sentence', () => {
  const bomb = (doctype: string) => () => read('', { 'word/document.xml': `<?xml version="1.0"?>${doctype}<w:document ${namespaces}><w:body>${p(r('&lol;'))}</w:body></w:document>` });
  expect(bomb('<!DOCTYPE x [<!ENTITY lol "lol">]>')).toThrow(/defines XML entities of its own/);
  expect(bomb('<!DOCTYPE x SYSTEM "file:///etc/passwd">')).toThrow(/defines XML entities of its own/);
  expect(() => read('', { 'word/document.xml': `<w:document ${namespaces}><w:body><w:p>` })).toThrow(/Damaged/);
  expect(() => read('', { 'word/document.xml': `<w:document ${namespaces}><w:body>${'<w:sdt>'.repeat(5_000)}` })).toThrow(/nested too deep/);
});

describe.skipIf(!hasShared('corpus', 'reading the Word files of the corpus'))('corpus', () => {
  const corpus = (name: string) => readDocx(readFileSync(sharedPath(`corpus/${name}`)), { ...options, name });

  test('headings, lists, tables and formulas of real files', () => {
    const sample = corpus('docx-word-sample.docx');
    expect(sample.pages.flatMap((page) => page.sections ?? []).map(({ title }) => title)).toEqual(['Swimming in the lake', 'Let’s swim!', 'Let’s eat']);
    expect(sample.pages[1]!.text).toContain('Leaves | Ash, Elm, Maple | 50\nBerries | Blueberry, Strawberry, Cranberry | 150');
    expect(corpus('docx-equations-omml.docx').pages[0]!.text).toContain('inline equation: A=πr^2');
    expect(corpus('docx-strict.docx').pages[0]!.text).toBe('Test');
    expect(corpus('docx-cyrillic-long.docx').pages.length).toBe(15);
  });

  test('files that cannot be read say why', () => {
    expect(() => corpus('docx-truncated.docx')).toThrow(/Damaged: the file is cut short/);
    expect(() => corpus('docx-xxe.docx')).toThrow(/defines XML entities of its own/);
    expect(() => corpus('docx-zip-bomb-made-here.docx')).toThrow(/Too large to read: a part of it unpacks to more than 200 times/);
    expect(corpus('docx-zero-length-part.docx').pages).toHaveLength(1);
  });
});
