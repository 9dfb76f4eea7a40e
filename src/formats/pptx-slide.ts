import { formatNumber } from './docx-styles.ts';
import { paragraphText, readReferredText } from './drawing-text.ts';
import { joinCells, cleanText } from './flow.ts';
import { linearFormula } from './omml.ts';
import { chooseAlternate } from './ooxml.ts';
import { inReadingOrder, type Box } from './reading-order.ts';
import { childOf, childrenOf, elementsOf, findAll, findFirst, pathOf, textOf, type XmlElement } from './xml.ts';
import type { Zip } from './zip.ts';

export interface SlideContent {
  /** Text of the shapes in reading order, the title first. */
  text: string;
  title?: string;
  /** Text that stands beside the slide, where no viewer sees it. */
  hidden: string;
  /** A picture, chart, SmartArt, embedded object or a diagram drawn with shapes stands on the slide itself. */
  toView: boolean;
  hasPicture: boolean;
}

/** Where a placeholder without a place of its own stands: from the layout, else the master. */
export type PlaceholderPlace = (type: string, index: string) => Box | undefined;

interface Shape extends Box {
  text: string;
  role: 'title' | 'subtitle' | 'body' | 'small';
}

interface Found {
  shapes: Shape[];
  pictures: number;
  referred: number;
  /** Drawn shapes that are no text: arrows, boxes, lines, freeforms. */
  drawn: number;
  connectors: number;
  objects: number;
}

/** Maps a box of a group's inner coordinates to the slide. */
type Transform = (box: Box) => Box;

export function readSlide(zip: Zip, part: string, slide: XmlElement, size: { width: number; height: number }, placeOf: PlaceholderPlace): SlideContent {
  const found: Found = { shapes: [], pictures: 0, referred: 0, drawn: 0, connectors: 0, objects: 0 };
  const tree = pathOf(slide, 'p:cSld', 'p:spTree');
  if (tree) walkShapes(tree, (box) => box, found, { zip, part, size, placeOf });

  const onSlide = (shape: Shape) => shape.x < size.width && shape.y < size.height && shape.x + shape.width >= 0 && shape.y + shape.height >= 0;
  const visible = found.shapes.filter(onSlide);
  const title = visible.find((shape) => shape.role === 'title');
  const ordered = [
    ...(title ? [title] : []),
    ...inReadingOrder(visible.filter((shape) => shape !== title && shape.role !== 'small')),
    ...inReadingOrder(visible.filter((shape) => shape.role === 'small')),
  ];
  const hasPicture = found.pictures + found.objects > 0;
  const isDiagram = found.connectors >= 2 || found.drawn >= 3 || (found.connectors >= 1 && found.drawn >= 1);
  // A slide number or date alone does not make a picture readable.
  const onlySmall = ordered.every((shape) => shape.role === 'small' && !/\p{L}{3}/u.test(shape.text));
  return {
    text: onlySmall && (hasPicture || isDiagram) ? '' : ordered.map((shape) => shape.text).join('\n\n'),
    title: title && title.text.replace(/\s+/g, ' ').trim(),
    hidden: found.shapes.filter((shape) => !onSlide(shape)).map((shape) => shape.text).join('\n'),
    toView: hasPicture || found.referred > 0 || isDiagram,
    hasPicture: hasPicture || isDiagram || found.referred > 0,
  };
}

interface WalkContext {
  zip: Zip;
  part: string;
  size: { width: number; height: number };
  placeOf: PlaceholderPlace;
}

function walkShapes(group: XmlElement, toSlide: Transform, found: Found, context: WalkContext): void {
  for (const child of elementsOf(group)) {
    if (isHidden(child)) continue;
    switch (child.name) {
      case 'p:sp':
        addShape(child, toSlide, found, context);
        break;
      case 'p:grpSp':
        walkShapes(child, (box) => toSlide(groupTransform(child)(box)), found, context);
        break;
      case 'p:graphicFrame':
        addFrame(child, toSlide, found, context);
        break;
      case 'p:pic': {
        const box = toSlide(boxOf(pathOf(child, 'p:spPr', 'a:xfrm')) ?? placeholderBox(child, context) ?? { x: 0, y: 0, ...context.size });
        if (isLarge(box, context.size)) found.pictures++;
        break;
      }
      case 'p:cxnSp':
        found.connectors++;
        break;
      case 'p:contentPart':
        found.objects++;
        break;
      case 'mc:AlternateContent':
        walkShapes(chooseAlternate(child), toSlide, found, context);
        break;
      default:
        break;
    }
  }
}

function addShape(sp: XmlElement, toSlide: Transform, found: Found, context: WalkContext): void {
  const spPr = childOf(sp, 'p:spPr');
  const own = boxOf(childOf(spPr, 'a:xfrm')) ?? placeholderBox(sp, context);
  const box = toSlide(own ?? { x: 0, y: 0, ...context.size });
  const placeholder = placeholderOf(sp);
  if (findFirst(spPr ?? sp, 'a:blip') && childOf(spPr, 'a:blipFill') && isLarge(box, context.size)) found.pictures++;
  const body = childOf(sp, 'p:txBody');
  const text = body ? bodyText(body) : '';
  // A rectangle is what text stands in; an arrow, a star or a freeform is drawn, and so is any filled shape without text.
  const geometry = childOf(spPr, 'a:prstGeom')?.attrs['prst'];
  const isTextBox = pathOf(sp, 'p:nvSpPr', 'p:cNvSpPr')?.attrs['txBox'] === '1';
  if (!placeholder && !isTextBox && (childOf(spPr, 'a:custGeom') || geometry !== undefined)) found.drawn++;
  if (text.trim() === '') return;
  const type = placeholder?.type;
  const role = type === 'title' || type === 'ctrTitle' ? 'title' : type === 'subTitle' ? 'subtitle' : type === 'sldNum' || type === 'dt' || type === 'ftr' || type === 'hdr' ? 'small' : 'body';
  found.shapes.push({ ...box, text: cleanText(text).trim(), role });
}

function addFrame(frame: XmlElement, toSlide: Transform, found: Found, context: WalkContext): void {
  const box = toSlide(boxOf(childOf(frame, 'p:xfrm')) ?? placeholderBox(frame, context) ?? { x: 0, y: 0, ...context.size });
  const table = findFirst(frame, 'a:tbl');
  if (table) {
    const text = tableText(table);
    if (text !== '') found.shapes.push({ ...box, text: cleanText(text), role: 'body' });
    return;
  }
  const { text, isChart, isDiagram } = readReferredText(context.zip, context.part, frame);
  if (isChart || isDiagram) found.referred++;
  else found.objects++;
  if (text.trim() !== '') found.shapes.push({ ...box, text: cleanText(text), role: 'body' });
}

/** Row by row; a cell that spans several columns is followed by empty ones, so that all rows keep their columns. */
function tableText(table: XmlElement): string {
  const rows: string[] = [];
  for (const row of childrenOf(table, 'a:tr')) {
    const cells = childrenOf(row, 'a:tc').map((cell) =>
      cell.attrs['hMerge'] === '1' || cell.attrs['vMerge'] === '1' ? '' : bodyText(childOf(cell, 'a:txBody') ?? cell).replace(/\s+/g, ' ').trim(),
    );
    const line = joinCells(cells);
    if (line !== '') rows.push(line);
  }
  return rows.join('\n');
}

export function bodyText(body: XmlElement): string {
  const lines: string[] = [];
  const counts: number[] = [];
  for (const p of childrenOf(body, 'a:p')) {
    let line = '';
    const label = findFirst(p, 'a:t') ? autoNumber(childOf(p, 'a:pPr'), counts) : '';
    const visit = (element: XmlElement): void => {
      for (const child of elementsOf(element)) {
        if (child.name === 'a:t') line += textOf(child);
        else if (child.name === 'a:br') line += '\n';
        else if (child.name === 'a:tab') line += '\t';
        else if (child.name === 'm:oMath') line += linearFormula(child);
        else if (child.name === 'mc:AlternateContent') visit(chooseAlternate(child));
        else if (!child.name.endsWith('Pr')) visit(child);
      }
    };
    visit(p);
    lines.push(label + line.replaceAll('\v', '\n'));
  }
  return lines.join('\n').replace(/\n{3,}/g, '\n\n');
}

/** Number of an automatically numbered paragraph ("2. "); a paragraph without one ends the lists of its level and deeper. */
function autoNumber(properties: XmlElement | undefined, counts: number[]): string {
  const level = Number(properties?.attrs['lvl'] ?? 0) || 0;
  const auto = childOf(properties, 'a:buAutoNum');
  counts.length = Math.min(counts.length, level + 1);
  if (!auto) {
    counts.length = Math.min(counts.length, level);
    return '';
  }
  counts[level] = (counts[level] ?? Number(auto.attrs['startAt'] ?? 1) - 1) + 1;
  const [, kind = 'arabic', end = 'Period'] = /^(arabic|alphaLc|alphaUc|romanLc|romanUc)(Period|ParenR|ParenBoth|Plain)?/.exec(auto.attrs['type'] ?? '') ?? [];
  const format = { arabic: 'decimal', alphaLc: 'lowerLetter', alphaUc: 'upperLetter', romanLc: 'lowerRoman', romanUc: 'upperRoman' }[kind] ?? 'decimal';
  const number = formatNumber(counts[level], format);
  return { Period: `${number}. `, ParenR: `${number}) `, ParenBoth: `(${number}) `, Plain: `${number} ` }[end] ?? `${number}. `;
}

const placeholderOf = (shape: XmlElement): { type: string; index: string } | undefined => {
  const holder = elementsOf(shape).find((child) => child.name.startsWith('p:nv'));
  const ph = pathOf(holder, 'p:nvPr', 'p:ph');
  return ph && { type: ph.attrs['type'] ?? 'obj', index: ph.attrs['idx'] ?? '0' };
};

function placeholderBox(shape: XmlElement, context: WalkContext): Box | undefined {
  const placeholder = placeholderOf(shape);
  return placeholder && context.placeOf(placeholder.type, placeholder.index);
}

const isHidden = (shape: XmlElement): boolean => {
  const properties = elementsOf(shape).find((child) => child.name.startsWith('p:nv'));
  return /^(1|true)$/.test(childOf(properties, 'p:cNvPr')?.attrs['hidden'] ?? '');
};

/** Icons and bullets drawn as pictures are no reason to look: half a percent of the slide is. */
const isLarge = (box: Box, size: { width: number; height: number }): boolean => box.width * box.height >= size.width * size.height * 0.005;

export function boxOf(xfrm: XmlElement | undefined): Box | undefined {
  const off = childOf(xfrm, 'a:off');
  const ext = childOf(xfrm, 'a:ext');
  if (!off || !ext) return undefined;
  const numberOf = (value: string | undefined) => Number(value ?? 0) || 0;
  return { x: numberOf(off.attrs['x']), y: numberOf(off.attrs['y']), width: numberOf(ext.attrs['cx']), height: numberOf(ext.attrs['cy']) };
}

function groupTransform(group: XmlElement): Transform {
  const xfrm = pathOf(group, 'p:grpSpPr', 'a:xfrm');
  const outer = boxOf(xfrm);
  const chOff = childOf(xfrm, 'a:chOff')?.attrs;
  const chExt = childOf(xfrm, 'a:chExt')?.attrs;
  if (!outer || !chOff || !chExt) return (box) => box;
  const innerX = Number(chOff['x'] ?? 0);
  const innerY = Number(chOff['y'] ?? 0);
  const scaleX = outer.width / (Number(chExt['cx']) || outer.width || 1);
  const scaleY = outer.height / (Number(chExt['cy']) || outer.height || 1);
  return (box) => ({
    x: outer.x + (box.x - innerX) * scaleX,
    y: outer.y + (box.y - innerY) * scaleY,
    width: box.width * scaleX,
    height: box.height * scaleY,
  });
}

/** Speaker notes: the body placeholder of the notes page, not its slide number or header. */
export function readNotesText(notes: XmlElement): string {
  const tree = pathOf(notes, 'p:cSld', 'p:spTree');
  if (!tree) return '';
  return findAll(tree, 'p:sp')
    .filter((sp) => !['sldNum', 'dt', 'hdr', 'ftr', 'sldImg'].includes(placeholderOf(sp)?.type ?? ''))
    .map((sp) => cleanText(bodyText(childOf(sp, 'p:txBody') ?? sp)).trim())
    .filter(Boolean)
    .join('\n');
}

/** Comments of both generations, one a line. */
export const readCommentTexts = (comments: XmlElement): string[] =>
  elementsOf(comments)
    .map((comment) => cleanText(childrenOf(comment, 'p:text').map(textOf).join('') || findAll(comment, 'a:p').map(paragraphText).join(' ')).trim())
    .filter(Boolean)
    .map((text) => `Comment: ${text}`);
