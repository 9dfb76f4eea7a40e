import type { FlowBlock } from './flow.ts';
import { childOf, elementsOf, pathOf, type XmlElement } from './xml.ts';

/** Rows and cells of a Word table, through whatever wraps them, and how a cell becomes part of a line. */

export function mergeMarks(row: FlowBlock, inner: FlowBlock): void {
  if (inner.figure) row.figure = true;
  if (inner.heading !== undefined) row.heading ??= inner.heading;
  if (inner.breaks) row.breaks = [0];
  if (inner.notes) row.notes = row.notes ? `${row.notes}\n${inner.notes}` : inner.notes;
  if (inner.hidden) row.hidden = row.hidden ? `${row.hidden}\n${inner.hidden}` : inner.hidden;
}

/** A cell on one line; rows of a table inside it are parted by `;` and their cells by `,` so that ` | ` stays the outer table's. */
export const flatten = (content: FlowBlock[]): string =>
  content
    .map((block) => block.text.replaceAll(' | ', ', ').replace(/\s+/g, ' ').trim())
    .filter((text) => text !== '')
    .reduce((line, text, index) => (index === 0 ? text : `${line}${content[index]?.tight && line.includes(', ') ? '; ' : ' '}${text}`), '');

export const rowsOf = (table: XmlElement): XmlElement[] => elementsOf(table).flatMap((child) => (child.name === 'w:tr' ? [child] : isWrapper(child) ? rowsOf(unwrap(child)) : []));
export const cellsOf = (row: XmlElement): XmlElement[] => elementsOf(row).flatMap((child) => (child.name === 'w:tc' ? [child] : isWrapper(child) ? cellsOf(unwrap(child)) : []));
const isWrapper = ({ name }: XmlElement): boolean => name === 'w:sdt' || name === 'w:customXml' || name === 'w:ins' || name === 'w:smartTag' || name === 'w:moveTo';
const unwrap = (element: XmlElement): XmlElement => childOf(element, 'w:sdtContent') ?? element;

/** A cell that continues the merged cell above stays empty, so that the others keep their columns. */
export function isContinued(cell: XmlElement): boolean {
  const merge = pathOf(cell, 'w:tcPr', 'w:vMerge');
  return merge !== undefined && (merge.attrs['w:val'] ?? 'continue') === 'continue';
}

export const spanOf = (properties: XmlElement | undefined, name: string, otherwise: number): number =>
  Math.min(200, Math.max(otherwise, Number(childOf(properties, name)?.attrs['w:val'] ?? otherwise) || otherwise));
