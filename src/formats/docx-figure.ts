import { findAll, findFirst, type XmlElement } from './xml.ts';

/** About 1.5 square inches: smaller pictures are icons, and no reason to look at the page. */
const figureArea = 1.2e12;

/** Whether a drawing is one to look at: a picture, or shapes that make one. */
export function isFigure(node: XmlElement): boolean {
  if (node.name === 'w:object') return true;
  const extent = findFirst(node, 'wp:extent');
  const area = extent ? Number(extent.attrs['cx'] ?? 0) * Number(extent.attrs['cy'] ?? 0) : figureArea;
  if (area < figureArea) return false;
  const isDrawn = findAll(node, 'wps:wsp').length > 1 || findAll(node, 'wps:cNvCnPr').length > 0;
  return isDrawn || findFirst(node, 'pic:pic') !== undefined || findFirst(node, 'a:blip') !== undefined || findFirst(node, 'v:imagedata') !== undefined || findFirst(node, 'v:group') !== undefined;
}
