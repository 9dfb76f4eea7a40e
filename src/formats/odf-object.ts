import { joinCells } from './flow.ts';
import { childOf, childrenOf, elementsOf, findAll, findFirst, isDamage, readXmlTree, textOf, type XmlElement } from './xml.ts';
import type { Zip } from './zip.ts';

/** Objects inside an OpenDocument file: formulas (MathML) as one line, charts as their title and data. */
export function readOdfObject(zip: Zip, object: XmlElement): { text: string; isFormula: boolean } {
  // LibreOffice also puts an empty paragraph beside the reference to a part.
  const inline = elementsOf(object).find(({ name }) => name === 'math:math' || name === 'office:document');
  const root = inline ?? readObjectPart(zip, object.attrs['xlink:href'] ?? '');
  if (!root) return { text: '', isFormula: false };
  if (root.name === 'math:math') return { text: linearMath(root), isFormula: true };
  const chart = findFirst(root, 'office:chart');
  return { text: chart ? chartText(chart) : '', isFormula: false };
}

function readObjectPart(zip: Zip, href: string): XmlElement | undefined {
  const folder = href.replace(/^\.\//, '').replace(/\/$/, '');
  const entry = folder === '' ? undefined : zip.find(`${folder}/content.xml`);
  if (!entry || entry.packedBytes === 0) return undefined;
  try {
    return readXmlTree(zip, entry);
  } catch (error) {
    if (isDamage(error)) return undefined;
    throw error;
  }
}

function chartText(chart: XmlElement): string {
  const titles = [...findAll(chart, 'chart:title'), ...findAll(chart, 'chart:subtitle')].map(textOf).filter((text) => text.trim() !== '');
  const rows = findAll(chart, 'table:table-row').map((row) => joinCells(childrenOf(row, 'table:table-cell').map((cell) => textOf(cell).trim())));
  return [...titles, ...rows.filter((row) => row !== '')].join('\n');
}

/** MathML on one line: every sign in reading order, the layout as signs. */
export function linearMath(node: XmlElement): string {
  const parts = elementsOf(node);
  const part = (index: number): string => (parts[index] ? linearMath(parts[index]) : '');
  const group = (text: string): string => (/^([\p{L}\p{M}]+|[\p{N}.,]+|.)$/su.test(text) || text === '' ? text : `(${text})`);
  switch (node.name) {
    case 'math:mfrac':
      return `${group(part(0))}/${group(part(1))}`;
    case 'math:msup':
      return `${part(0)}^${group(part(1))}`;
    case 'math:msub':
      return `${part(0)}_${group(part(1))}`;
    case 'math:msubsup':
      return `${part(0)}_${group(part(1))}^${group(part(2))}`;
    case 'math:munder':
      return `${part(0)}_${group(part(1))}`;
    case 'math:mover':
      return `${part(0)}^${group(part(1))}`;
    case 'math:munderover':
      return `${part(0)}_${group(part(1))}^${group(part(2))}`;
    case 'math:msqrt':
      return `√(${parts.map(linearMath).join('')})`;
    case 'math:mroot':
      return `${group(part(1))}√(${part(0)})`;
    case 'math:mtable':
      return `[${parts.map((row) => elementsOf(row).map(linearMath).join(', ')).join('; ')}]`;
    case 'math:annotation':
    case 'math:annotation-xml':
      return '';
    case 'math:mi':
    case 'math:mn':
    case 'math:mo':
    case 'math:mtext':
    case 'math:ms':
      return textOf(node).trim() || (childOf(node, 'math:mglyph') ? '?' : '');
    default:
      return parts.map(linearMath).join('');
  }
}
