import { childOf, elementsOf, findAll, type XmlElement } from './xml.ts';

/** What the styles of an OpenDocument text say about lists, headings, pages and hidden words. */

interface ListLevel {
  /** '' for bullets. */
  format: string;
  prefix: string;
  suffix: string;
  shown: number;
  start: number;
}

export interface Styles {
  lists: Map<string, Map<number, ListLevel>>;
  outline: Map<number, ListLevel>;
  /** Paragraph styles that begin a page, by name. */
  breaks: Set<string>;
  parents: Map<string, string>;
  hidden: Set<string>;
  /** Styles of single words that show nothing. */
  hiddenSpans: Set<string>;
}

/** Does the style, or one that it is based on, belong to the set? */
export function inherits(name: string, styles: Styles, set: Set<string>): boolean {
  for (let at: string | undefined = name, depth = 0; at !== undefined && depth < 20; at = styles.parents.get(at), depth++) if (set.has(at)) return true;
  return false;
}

const formats: Record<string, string> = { '1': 'decimal', a: 'lowerLetter', A: 'upperLetter', i: 'lowerRoman', I: 'upperRoman' };

function readLevels(style: XmlElement, numberName: string): Map<number, ListLevel> {
  const levels = new Map<number, ListLevel>();
  for (const level of elementsOf(style)) {
    const isNumber = level.name === numberName;
    const { attrs } = level;
    levels.set(Number(attrs['text:level'] ?? 0), {
      format: isNumber ? (formats[attrs['style:num-format'] ?? ''] ?? '') : '',
      prefix: attrs['style:num-prefix'] ?? '',
      suffix: attrs['style:num-suffix'] ?? '',
      shown: Number(attrs['text:display-levels'] ?? 1) || 1,
      start: Number(attrs['text:start-value'] ?? 1) || 1,
    });
  }
  return levels;
}

/** Takes up the styles below `root`. */
export function addStyles(root: XmlElement, styles: Styles): void {
  for (const list of findAll(root, 'text:list-style')) styles.lists.set(list.attrs['style:name'] ?? '', readLevels(list, 'text:list-level-style-number'));
  for (const outline of findAll(root, 'text:outline-style')) for (const [level, style] of readLevels(outline, 'text:outline-level-style')) styles.outline.set(level, style);
  for (const style of findAll(root, 'style:style')) {
    const name = style.attrs['style:name'] ?? '';
    if (style.attrs['style:parent-style-name']) styles.parents.set(name, style.attrs['style:parent-style-name']);
    if (childOf(style, 'style:paragraph-properties')?.attrs['fo:break-before'] === 'page') styles.breaks.add(name);
    if (childOf(style, 'style:text-properties')?.attrs['text:display'] !== 'none') continue;
    if (style.attrs['style:family'] === 'paragraph') styles.hidden.add(name);
    else if (style.attrs['style:family'] === 'text') styles.hiddenSpans.add(name);
  }
}
