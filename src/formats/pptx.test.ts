import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { hasShared, sharedPath } from '../../test/support/shared.ts';
import { deckFile, namespaces, relationsXml, zipOf, contentTypesXml } from '../../test/support/zip-fixture.ts';
import { readPptx } from './pptx.ts';

const options = { name: 'a.pptx', maxPages: 5_000, maxUnpackedBytes: 1024 ** 3 };
const inch = 914_400;
const xfrm = (x: number, y: number, width: number, height: number, name = 'a:xfrm') => `<${name}><a:off x="${x * inch}" y="${y * inch}"/><a:ext cx="${width * inch}" cy="${height * inch}"/></${name}>`;
const body = (...lines: string[]) => `<p:txBody>${lines.map((line) => `<a:p><a:r><a:t>${line}</a:t></a:r></a:p>`).join('')}</p:txBody>`;
const box = (text: string, x: number, y: number, width = 3, height = 1, ph = '') =>
  `<p:sp><p:nvSpPr><p:cNvPr id="1" name=""/><p:cNvSpPr txBox="1"/><p:nvPr>${ph}</p:nvPr></p:nvSpPr><p:spPr>${xfrm(x, y, width, height)}</p:spPr>${body(text)}</p:sp>`;
const drawn = (geometry: string) => `<p:sp><p:nvSpPr><p:cNvPr id="1" name=""/><p:cNvSpPr/><p:nvPr/></p:nvSpPr><p:spPr>${xfrm(1, 1, 1, 1)}<a:prstGeom prst="${geometry}"/></p:spPr></p:sp>`;
const picture = (width = 4, height = 3) => `<p:pic><p:nvPicPr><p:cNvPr id="1" name=""/><p:nvPr/></p:nvPicPr><p:spPr>${xfrm(1, 2, width, height)}</p:spPr></p:pic>`;
const pagesOf = (...slides: Parameters<typeof deckFile>[0]) => readPptx(deckFile(slides), options).pages;

test('slides come in the order of the presentation, not of their file names', () => {
  const slide = (text: string) => `<p:sld ${namespaces}><p:cSld><p:spTree>${box(text, 1, 1)}</p:spTree></p:cSld></p:sld>`;
  const bytes = zipOf({
    '[Content_Types].xml': contentTypesXml,
    'ppt/presentation.xml': `<p:presentation ${namespaces}><p:sldIdLst><p:sldId id="1" r:id="b"/><p:sldId id="2" r:id="a"/></p:sldIdLst></p:presentation>`,
    'ppt/_rels/presentation.xml.rels': relationsXml([['a', 'slide', 'slides/slide1.xml'], ['b', 'slide', '/ppt/slides/slide2.xml']]),
    'ppt/slides/slide1.xml': slide('second'),
    'ppt/slides/slide2.xml': slide('first'),
  });
  expect(readPptx(bytes, options).pages.map((page) => page.text)).toEqual(['first', 'second']);
});

test('the title is first, then rows, then columns', () => {
  const slide = box('right bottom', 5, 4) + box('left top', 1, 2) + box('right top', 5, 2) + box('left bottom', 1, 4) + box('Title', 1, 6, 8, 1, '<p:ph type="title"/>') + box('5', 8, 7, 1, 1, '<p:ph type="sldNum"/>');
  const page = pagesOf(slide)[0]!;
  expect(page.text.split('\n\n')).toEqual(['Title', 'left top', 'right top', 'left bottom', 'right bottom', '5']);
  expect(page.sections).toEqual([{ start: 0, title: 'Title' }]);
});

test('two columns of several boxes are read one after the other', () => {
  const slide = box('a1', 0, 1, 4, 2) + box('b1', 5, 1, 4, 3.5) + box('a2', 0, 3.2, 4, 3) + box('b2', 5, 4.8, 4, 1);
  expect(pagesOf(slide)[0]!.text.split('\n\n')).toEqual(['a1', 'a2', 'b1', 'b2']);
});

test('boxes in scaled groups stand where they are seen', () => {
  const group = `<p:grpSp><p:nvGrpSpPr/><p:grpSpPr><a:xfrm><a:off x="0" y="${5 * inch}"/><a:ext cx="${inch}" cy="${inch}"/><a:chOff x="0" y="0"/><a:chExt cx="${10 * inch}" cy="${10 * inch}"/></a:xfrm></p:grpSpPr>${box('in group', 0, 0)}</p:grpSp>`;
  expect(pagesOf(group + box('above', 1, 2))[0]!.text).toBe('above\n\nin group');
});

test('pictures, connectors and drawn diagrams make a page to view; text boxes, rectangles and icons do not', () => {
  const marks = pagesOf(box('text', 1, 1) + picture(), box('text', 1, 1) + picture(0.3, 0.3), box('text', 1, 1), box('t', 1, 1) + drawn('rect'), box('t', 1, 1) + drawn('rect').repeat(3), box('t', 1, 1) + '<p:cxnSp/><p:cxnSp/>').map((page) => page.toView);
  expect(marks).toEqual([true, false, false, false, true, true]);
});

test('a slide with only a picture is image-only, also with a slide number', () => {
  const [bare, numbered, empty] = pagesOf(picture(), picture() + box('12', 8, 7, 1, 1, '<p:ph type="sldNum"/>'), '');
  expect([bare, numbered, empty].map((page) => [page!.text, page!.fate, page!.toView])).toEqual([['', 'image_only', true], ['', 'image_only', true], ['', 'empty', false]]);
});

test('tables read by row, merged cells keep columns; automatic numbers are kept', () => {
  const cell = (text: string, more = '') => `<a:tc ${more}><a:txBody><a:p><a:r><a:t>${text}</a:t></a:r></a:p></a:txBody></a:tc>`;
  const table = `<p:graphicFrame><p:nvGraphicFramePr><p:nvPr/></p:nvGraphicFramePr>${xfrm(1, 3, 5, 2, 'p:xfrm')}<a:graphic><a:graphicData><a:tbl><a:tr>${cell('Wide', 'gridSpan="2"')}${cell('', 'hMerge="1"')}${cell('C')}</a:tr><a:tr>${cell('1')}${cell('2')}${cell('3')}</a:tr></a:tbl></a:graphicData></a:graphic></p:graphicFrame>`;
  const page = pagesOf(table)[0]!;
  expect(page.text).toBe('Wide |  | C\n1 | 2 | 3');
  expect(page.toView).toBe(false);
  const steps = `<p:sp><p:nvSpPr><p:cNvSpPr txBox="1"/><p:nvPr/></p:nvSpPr><p:spPr>${xfrm(1, 1, 5, 2)}</p:spPr><p:txBody>${['Cut', 'Glue'].map((text) => `<a:p><a:pPr><a:buAutoNum type="alphaLcParenR"/></a:pPr><a:r><a:t>${text}</a:t></a:r></a:p>`).join('')}</p:txBody></p:sp>`;
  expect(pagesOf(steps)[0]!.text).toBe('a) Cut\nb) Glue');
});

test('charts and SmartArt bring their words, notes and comments stay apart', () => {
  const points = (name: string, values: string[]) => `<c:${name}><c:strCache>${values.map((value, at) => `<c:pt idx="${at}"><c:v>${value}</c:v></c:pt>`).join('')}</c:strCache></c:${name}>`;
  const chart = `<c:chartSpace ${namespaces}><c:chart><c:title><c:tx><c:rich><a:p><a:r><a:t>Output</a:t></a:r></a:p></c:rich></c:tx></c:title><c:plotArea><c:barChart><c:ser>${points('tx', ['Coal'])}${points('cat', ['2022', '2023'])}${points('val', ['1.5', '0.30000000000000004'])}</c:ser></c:barChart></c:plotArea></c:chart></c:chartSpace>`;
  const diagram = `<dgm:dataModel ${namespaces}><dgm:ptLst><dgm:pt><dgm:t><a:p><a:r><a:t>Plan</a:t></a:r></a:p></dgm:t></dgm:pt><dgm:pt type="pres"><dgm:t><a:p><a:r><a:t>Plan</a:t></a:r></a:p></dgm:t></dgm:pt></dgm:ptLst></dgm:dataModel>`;
  const notes = `<p:notes ${namespaces}><p:cSld><p:spTree>${box('Speak slowly', 1, 1, 3, 1, '<p:ph type="body"/>')}${box('3', 1, 1, 3, 1, '<p:ph type="sldNum"/>')}</p:spTree></p:cSld></p:notes>`;
  const frame = (inner: string, y: number) => `<p:graphicFrame><p:nvGraphicFramePr><p:nvPr/></p:nvGraphicFramePr>${xfrm(1, y, 5, 2, 'p:xfrm')}<a:graphic><a:graphicData>${inner}</a:graphicData></a:graphic></p:graphicFrame>`;
  const page = pagesOf({
    shapes: frame('<c:chart r:id="c"/>', 1) + frame('<dgm:relIds r:dm="d"/>', 4),
    relations: [['c', 'chart', '../charts/chart1.xml'], ['d', 'diagramData', '../diagrams/data1.xml'], ['n', 'notesSlide', '../notesSlides/notes1.xml']],
    parts: { 'ppt/charts/chart1.xml': chart, 'ppt/diagrams/data1.xml': diagram, 'ppt/notesSlides/notes1.xml': notes },
  })[0]!;
  expect(page.text).toBe('Output\nCoal\n2022 | 1.5\n2023 | 0.3\n\nPlan');
  expect(page.notes).toBe('Speak slowly');
  expect(page.toView).toBe(true);
});

test('one damaged slide costs no other; no slides and too many slides are refused', () => {
  const result = readPptx(deckFile([box('whole', 1, 1), '<p:sp><broken']), options);
  expect(result.pages.map((page) => page.fate)).toEqual(['text', 'failed']);
  expect(result.notices).toEqual(['1 of 2 slides are damaged and could not be read']);
  expect(() => readPptx(deckFile([]), options)).toThrow('The presentation has no slides');
  expect(() => readPptx(deckFile(['', '', '']), { ...options, maxPages: 2 })).toThrow('Too large to read: it has more than 2 slides');
});

describe.skipIf(!hasShared('corpus', 'reading the decks of the corpus'))('corpus', () => {
  const corpus = (name: string) => readPptx(readFileSync(sharedPath(`corpus/${name}`)), { ...options, name });

  test('page counts and words of real decks', () => {
    expect(corpus('pptx-deck-aptia.pptx').pages.length).toBe(9);
    expect(corpus('pptx-deck-aptia.pptx').pages[4]!.text).toContain('Passenger Vehicle Transportation Award 2010 | 2C');
    expect(corpus('pptx-japanese.pptx').pages[0]!.text).toContain('ゾルゲと尾崎、淡々と最期');
    expect(corpus('pptx-shapes.pptx').pages.map((page) => page.fate)).toEqual(['text', 'text', 'image_only', 'text', 'text', 'image_only']);
    expect(() => corpus('pptx-no-slides.pptx')).toThrow('no slides');
  });
});
