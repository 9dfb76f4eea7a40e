import { childOf, childrenOf, elementsOf, textOf, type XmlElement } from './xml.ts';

/**
 * A Word formula (OMML) as one readable line: `x=(-b±√(b^2-4ac))/(2a)`. Every character of the formula is kept, in
 * reading order; only the layout becomes signs.
 */
export function linearFormula(element: XmlElement): string {
  return elementsOf(element).map(linearNode).join('');
}

function linearNode(node: XmlElement): string {
  const part = (name: string): string => {
    const child = childOf(node, name);
    return child ? linearFormula(child) : '';
  };
  switch (node.name) {
    case 'm:r':
      return childrenOf(node, 'm:t').map(textOf).join('') + childrenOf(node, 'w:t').map(textOf).join('');
    case 'm:f':
      return `${group(part('m:num'))}/${group(part('m:den'))}`;
    case 'm:sSup':
      return `${part('m:e')}^${group(part('m:sup'))}`;
    case 'm:sSub':
      return `${part('m:e')}_${group(part('m:sub'))}`;
    case 'm:sSubSup':
      return `${part('m:e')}_${group(part('m:sub'))}^${group(part('m:sup'))}`;
    case 'm:sPre':
      return `_${group(part('m:sub'))}^${group(part('m:sup'))}${part('m:e')}`;
    case 'm:rad': {
      const degree = part('m:deg');
      return `${degree === '' ? '' : `${group(degree)}`}√${group(part('m:e'), true)}`;
    }
    case 'm:nary': {
      const sign = propertyOf(node, 'm:naryPr', 'm:chr') ?? '∫';
      const sub = part('m:sub');
      const sup = part('m:sup');
      return `${sign}${sub && `_${group(sub)}`}${sup && `^${group(sup)}`} ${part('m:e')}`;
    }
    case 'm:d': {
      const begin = propertyOf(node, 'm:dPr', 'm:begChr') ?? '(';
      const end = propertyOf(node, 'm:dPr', 'm:endChr') ?? ')';
      const separator = propertyOf(node, 'm:dPr', 'm:sepChr') ?? '|';
      return begin + childrenOf(node, 'm:e').map(linearFormula).join(separator) + end;
    }
    case 'm:func':
      return `${part('m:fName')} ${part('m:e')}`;
    case 'm:limLow':
      return `${part('m:e')}_${group(part('m:lim'))}`;
    case 'm:limUpp':
      return `${part('m:e')}^${group(part('m:lim'))}`;
    case 'm:m':
      return `[${childrenOf(node, 'm:mr').map((row) => childrenOf(row, 'm:e').map(linearFormula).join(', ')).join('; ')}]`;
    case 'm:eqArr':
      return childrenOf(node, 'm:e').map(linearFormula).join('; ');
    case 'm:acc':
      return part('m:e') + (propertyOf(node, 'm:accPr', 'm:chr') ?? '\u0302');
    case 'm:groupChr':
    case 'm:bar':
    case 'm:box':
    case 'm:borderBox':
    case 'm:phant':
      return part('m:e');
    case 'w:del':
    case 'w:moveFrom':
      return '';
    default:
      return node.name.endsWith('Pr') ? '' : linearFormula(node);
  }
}

const propertyOf = (node: XmlElement, properties: string, name: string): string | undefined => childOf(childOf(node, properties), name)?.attrs['m:val'];

/** Brackets around what is more than one sign or word, so that the line reads only one way. */
const group = (text: string, always = false): string => (!always && /^([\p{L}\p{M}]+|[\p{N}.,]+|.)$/su.test(text) ? text : text === '' ? '' : `(${text})`);
