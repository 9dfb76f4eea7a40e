import { readRelations, relatedPart } from './ooxml.ts';
import { childOf, childrenOf, findAll, findFirst, isDamage, pathOf, readXmlTree, textOf, type XmlElement } from './xml.ts';
import type { Zip } from './zip.ts';

/** Charts and SmartArt keep their text in parts of their own, the same in Word, PowerPoint and Excel. */

/** Title, axis titles and the data as rows (`Category | Series 1 | Series 2`); empty for a part that is missing or broken. */
export function readChartText(zip: Zip, part: string): string {
  const root = readOptionalTree(zip, part);
  if (!root) return '';
  const lines: string[] = [];
  for (const title of findAll(root, 'c:title')) {
    const text = titleText(title);
    if (text) lines.push(text);
  }
  const series = findAll(root, 'c:ser');
  const table = new Map<string, string[]>();
  let categoryTitle = '';
  series.forEach((ser, column) => {
    const categories = pointsOf(childOf(ser, 'c:cat') ?? childOf(ser, 'c:xVal'));
    const values = pointsOf(childOf(ser, 'c:val') ?? childOf(ser, 'c:yVal'));
    for (const index of new Set([...categories.keys(), ...values.keys()])) {
      const key = `${index}\u0000${categories.get(index) ?? ''}`;
      const row = table.get(key) ?? [];
      row[column] = values.get(index) ?? '';
      table.set(key, row);
    }
    if (categories.size > 0) categoryTitle ||= ' ';
  });
  const names = series.map((ser) => [...pointsOf(childOf(ser, 'c:tx')).values()].join(' ') || textOf(pathOf(ser, 'c:tx', 'c:v')));
  if (names.some(Boolean)) lines.push([categoryTitle.trim(), ...names].join(' | ').replace(/^ \| /, ''));
  const rows = [...table].sort(([a], [b]) => Number.parseInt(a, 10) - Number.parseInt(b, 10));
  for (const [key, row] of rows) {
    lines.push([key.slice(key.indexOf('\u0000') + 1), ...Array.from({ length: series.length }, (_, at) => row[at] ?? '')].join(' | '));
  }
  // Chart kinds of 2016 (waterfall, treemap, …) have another shape: keep their strings in order.
  if (series.length === 0) lines.push(...[...findAll(root, 'cx:t'), ...findAll(root, 'cx:v'), ...findAll(root, 'cx:pt')].map(textOf).filter((text) => text.trim() !== ''));
  lines.push(...findAll(root, 'c:userShapes').flatMap((shapes) => userShapesText(zip, part, shapes)));
  return lines.join('\n');
}

function userShapesText(zip: Zip, part: string, shapes: XmlElement): string[] {
  const target = readRelations(zip, part).get(shapes.attrs['r:id'] ?? '')?.target;
  const root = target === undefined ? undefined : readOptionalTree(zip, target);
  return root ? findAll(root, 'a:p').map(paragraphText).filter(Boolean) : [];
}

const titleText = (title: XmlElement): string => findAll(title, 'a:p').map(paragraphText).join(' ').trim() || [...pointsOf(childOf(title, 'c:tx')).values()].join(' ');

export const paragraphText = (p: XmlElement): string => findAll(p, 'a:t').map(textOf).join('');

/** Cached points of a reference or literal, by their index. */
function pointsOf(holder: XmlElement | undefined): Map<number, string> {
  const points = new Map<number, string>();
  if (!holder) return points;
  // Categories on several levels: the innermost is first, outer ones apply from their index on.
  const levels = findAll(holder, 'c:lvl');
  const caches = levels.length > 0 ? levels : [holder];
  caches.forEach((cache, depth) => {
    const found = findAll(cache, 'c:pt').map((pt) => [Number(pt.attrs['idx'] ?? 0), textOf(childOf(pt, 'c:v'))] as const);
    for (const [index, value] of found) {
      if (depth === 0) points.set(index, tidyNumber(value));
      else points.set(index, points.has(index) ? `${value} ${points.get(index)}` : value);
    }
  });
  return points;
}

/** 0.30000000000000004 is what the file holds; 0.3 is what the chart shows and a person looks for. */
const tidyNumber = (value: string): string => (/^-?\d+\.\d{10,}(e-?\d+)?$/i.test(value) ? String(Number(Number(value).toPrecision(12))) : value);

/** Texts of a SmartArt diagram, one a line, in the order of its data model. */
export function readDiagramText(zip: Zip, dataPart: string): string {
  const root = readOptionalTree(zip, dataPart);
  if (!root) return '';
  const lines: string[] = [];
  for (const point of findAll(root, 'dgm:pt')) {
    // Presentation points repeat the nodes; transitions hold no text of a person but may hold labels.
    if (point.attrs['type'] === 'pres') continue;
    if (pathOf(point, 'dgm:prSet')?.attrs['phldr'] === '1' && findFirst(point, 'a:t') === undefined) continue;
    lines.push(...childrenOf(childOf(point, 'dgm:t'), 'a:p').map(paragraphText).filter((text) => text.trim() !== ''));
  }
  return lines.join('\n');
}

/** What a drawing refers to by `r:id`: chart or SmartArt text, or nothing. */
export function readReferredText(zip: Zip, part: string, drawing: XmlElement): { text: string; isChart: boolean; isDiagram: boolean } {
  const relations = readRelations(zip, part);
  const texts: string[] = [];
  const charts = [...findAll(drawing, 'c:chart'), ...findAll(drawing, 'cx:chart')];
  for (const chart of charts) {
    const target = relations.get(chart.attrs['r:id'] ?? '')?.target;
    if (target !== undefined) texts.push(readChartText(zip, target));
  }
  const diagrams = findAll(drawing, 'dgm:relIds');
  for (const ids of diagrams) {
    const target = relations.get(ids.attrs['r:dm'] ?? '')?.target ?? relatedPart(zip, relations, 'diagramData');
    if (target !== undefined) texts.push(readDiagramText(zip, target));
  }
  return { text: texts.filter(Boolean).join('\n'), isChart: charts.length > 0, isDiagram: diagrams.length > 0 };
}

function readOptionalTree(zip: Zip, part: string): XmlElement | undefined {
  const entry = zip.find(part);
  if (!entry) return undefined;
  try {
    return readXmlTree(zip, entry);
  } catch (error) {
    // A broken chart is no reason to lose the text around it; limits still end the reading.
    if (isDamage(error)) return undefined;
    throw error;
  }
}
