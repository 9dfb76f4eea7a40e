import { joinCells, cleanText } from './flow.ts';
import { odfFontNotices } from './odf-fonts.ts';
import { openOdf, pointsOf, readOdfAnnotation, readOdfFrame, readOdfParagraph } from './odf.ts';
import { inReadingOrder, type Box } from './reading-order.ts';
import { sniffContainer } from './sniff.ts';
import { type Format, type ReadOptions, type ReadPage, type ReadResult, UnreadableFile } from './types.ts';
import { childOf, childrenOf, elementsOf, findAll, readXmlPart, readXmlTree, type XmlElement } from './xml.ts';
import { isZip, type Zip } from './zip.ts';

interface Shape extends Box {
  text: string;
  role: 'title' | 'body' | 'small';
}

interface Found {
  shapes: Shape[];
  figures: number;
  drawn: number;
  connectors: number;
}

const drawnShapes = new Set(['draw:custom-shape', 'draw:rect', 'draw:ellipse', 'draw:circle', 'draw:polygon', 'draw:polyline', 'draw:path', 'draw:regular-polygon', 'draw:caption']);

/** OpenDocument presentation: one slide = one page, in order, hidden slides too; marks from the shapes as for PowerPoint. */
export function readOdp(bytes: Uint8Array, options: ReadOptions): ReadResult {
  const { zip, content, title } = openOdf(bytes, options);
  const pages: ReadPage[] = [];
  /** Footers and dates are declared once and named by the slides that show them. */
  const declared = new Map<string, string>();
  const masterFooters = readMasterFooters(zip);
  readXmlPart(zip, content, {
    onOpen: (name) => name === 'draw:page' || /^presentation:(footer|header|date-time)-decl$/.test(name),
    onTree: (element) => {
      if (element.name !== 'draw:page') {
        declared.set(`${element.name}:${element.attrs['presentation:name'] ?? ''}`, cleanText(readOdfParagraph(element).text).trim());
        return;
      }
      if (pages.length >= options.maxPages) throw new UnreadableFile(`Too large to read: it has more than ${options.maxPages.toLocaleString('en-US')} slides`);
      const footer = masterFooters.get(element.attrs['draw:master-page-name'] ?? '') ?? '';
      pages.push(readSlide(zip, element, pages.length + 1, declared, footer));
      options.onProgress?.(pages.length, 0);
    },
  });
  if (pages.length === 0) throw new UnreadableFile('The presentation has no slides — there is nothing to read');
  const notices = odfFontNotices(zip, content, pages, options);
  return { type: 'odp', pages, pagesEstimated: false, title, ...(notices.length > 0 && { notices }) };
}

/** Footers written out on the master, by its name: they stand on every slide of it. */
function readMasterFooters(zip: Zip): Map<string, string> {
  const footers = new Map<string, string>();
  const entry = zip.find('styles.xml');
  if (!entry || entry.packedBytes === 0) return footers;
  for (const master of findAll(readXmlTree(zip, entry), 'style:master-page')) {
    const text = childrenOf(master, 'draw:frame')
      .filter((frame) => frame.attrs['presentation:class'] === 'footer')
      .map((frame) => cleanText(paragraphsOf(frame)).trim())
      .join('\n');
    if (text !== '') footers.set(master.attrs['style:name'] ?? '', text);
  }
  return footers;
}

function readSlide(zip: Zip, page: XmlElement, number: number, declared: Map<string, string>, masterFooter: string): ReadPage {
  const found: Found = { shapes: [], figures: 0, drawn: 0, connectors: 0 };
  for (const child of elementsOf(page)) if (child.name !== 'presentation:notes') addShape(zip, child, found);
  for (const kind of ['header', 'footer', 'date-time']) {
    const name = page.attrs[`presentation:use-${kind}-name`];
    const text = name === undefined ? '' : (declared.get(`presentation:${kind}-decl:${name}`) ?? '');
    if (text !== '') found.shapes.push({ x: 0, y: 10_000, width: 0, height: 0, text, role: 'small' });
  }
  if (masterFooter !== '') found.shapes.push({ x: 0, y: 10_000, width: 0, height: 0, text: masterFooter, role: 'small' });
  const title = found.shapes.find((shape) => shape.role === 'title');
  const ordered = [
    ...(title ? [title] : []),
    ...inReadingOrder(found.shapes.filter((shape) => shape !== title && shape.role !== 'small')),
    ...found.shapes.filter((shape) => shape.role === 'small'),
  ];
  const isDiagram = found.connectors >= 2 || found.drawn >= 3 || (found.connectors >= 1 && found.drawn >= 1);
  const toView = found.figures > 0 || isDiagram;
  const text = ordered.map((shape) => shape.text).join('\n\n');
  const spoken = childrenOf(page, 'presentation:notes').flatMap((holder) => findAll(holder, 'text:p').map((p) => readOdfParagraph(p).text.trim()).filter((line) => line !== '' && line !== '<number>'));
  const comments = findAll(page, 'office:annotation').map(readOdfAnnotation).filter((comment) => comment !== '');
  const notes = [...spoken, ...comments];
  return {
    number,
    text,
    fate: text !== '' ? 'text' : toView ? 'image_only' : 'empty',
    toView,
    ...(title && { sections: [{ start: 0, title: title.text.replace(/\s+/g, ' ') }] }),
    ...(notes.length > 0 && { notes: notes.join('\n') }),
  };
}

function addShape(zip: Zip, shape: XmlElement, found: Found): void {
  if (shape.name === 'draw:g' || shape.name === 'draw:a') {
    for (const child of elementsOf(shape)) addShape(zip, child, found);
    return;
  }
  if (!shape.name.startsWith('draw:')) return;
  const { attrs } = shape;
  const box: Box = { x: pointsOf(attrs['svg:x']), y: pointsOf(attrs['svg:y']), width: pointsOf(attrs['svg:width']), height: pointsOf(attrs['svg:height']) };
  if (shape.name === 'draw:connector' || shape.name === 'draw:line') found.connectors++;
  else if (drawnShapes.has(shape.name)) found.drawn++;
  let text = '';
  if (shape.name === 'draw:frame') {
    const table = childOf(shape, 'table:table');
    const read = readOdfFrame(zip, shape);
    // A placeholder's picture of nothing is no figure; neither is a bullet.
    if (read.isFigure && !table && attrs['presentation:placeholder'] !== 'true' && box.width * box.height > 2_000) found.figures++;
    text = table ? tableText(table) : read.text !== '' ? read.text : paragraphsOf(read.box ?? { name: '', attrs: {}, children: [] });
  } else {
    text = paragraphsOf(shape);
  }
  if (text.trim() === '' || attrs['presentation:placeholder'] === 'true') return;
  const kind = attrs['presentation:class'];
  found.shapes.push({ ...box, text: cleanText(text).trim(), role: kind === 'title' ? 'title' : kind === 'page-number' || kind === 'footer' || kind === 'date-time' || kind === 'header' ? 'small' : 'body' });
}

const paragraphsOf = (holder: XmlElement): string => [...findAll(holder, 'text:p'), ...findAll(holder, 'text:h')].map((p) => readOdfParagraph(p).text).filter((text) => text.trim() !== '').join('\n');

const tableText = (table: XmlElement): string =>
  findAll(table, 'table:table-row')
    .map((row) => joinCells(elementsOf(row).filter(({ name }) => name.endsWith('table-cell')).map((cell) => paragraphsOf(cell).replace(/\s+/g, ' '))))
    .filter((row) => row !== '')
    .join('\n');

export const odp: Format = {
  type: 'odp',
  sniff: (head) => isZip(head) && sniffContainer(head, 'x.odp') === 'odp',
  read: async (bytes, options) => readOdp(bytes, options),
};
