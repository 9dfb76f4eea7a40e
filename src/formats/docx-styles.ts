import { childOf, childrenOf, elementsOf, pathOf, readXmlTree, type XmlElement } from './xml.ts';
import type { Zip } from './zip.ts';

/** What the text of a paragraph depends on, from its style and the styles it is based on. */
export interface ParagraphStyle {
  /** 0 = top heading; undefined = no heading. */
  outline?: number;
  numId?: string;
  level?: number;
  hidden?: boolean;
  /** Font of its Latin letters; a theme font as `+minor` or `+major`. */
  font?: string;
  /** Font of its Chinese, Japanese and Korean letters; a theme font as `+minorAsian` or `+majorAsian`. */
  asianFont?: string;
}

export type StyleSheet = (styleId: string | undefined) => ParagraphStyle;

export function readStyles(zip: Zip, part: string | undefined): StyleSheet {
  const entry = part === undefined ? undefined : zip.find(part);
  const byId = new Map<string, XmlElement>();
  let defaultParagraph: string | undefined;
  const standard: ParagraphStyle = {};
  // A styles part of zero bytes is known from the wild: the document reads without it.
  if (entry && entry.packedBytes > 0) {
    const root = readXmlTree(zip, entry);
    addFonts(standard, pathOf(root, 'w:docDefaults', 'w:rPrDefault', 'w:rPr'));
    for (const style of childrenOf(root, 'w:style')) {
      const id = style.attrs['w:styleId'];
      if (id === undefined) continue;
      byId.set(id, style);
      if (style.attrs['w:type'] === 'paragraph' && style.attrs['w:default'] !== undefined && isOn(style.attrs['w:default'])) defaultParagraph = id;
    }
  }
  const known = new Map<string, ParagraphStyle>();
  const resolve = (id: string, depth: number): ParagraphStyle => {
    const before = known.get(id);
    if (before) return before;
    const style = byId.get(id);
    const based = childOf(style, 'w:basedOn')?.attrs['w:val'];
    const result: ParagraphStyle = based !== undefined && depth < 20 ? { ...resolve(based, depth + 1) } : { ...standard };
    const name = childOf(style, 'w:name')?.attrs['w:val'] ?? id;
    const heading = /^heading\s*([1-9])$/i.exec(name);
    if (heading) result.outline = Number(heading[1]) - 1;
    else if (/^title$/i.test(name)) result.outline = 0;
    Object.assign(result, readParagraphProperties(childOf(style, 'w:pPr')));
    const vanish = pathOf(style, 'w:rPr', 'w:vanish');
    if (vanish) result.hidden = isOn(vanish.attrs['w:val']);
    addFonts(result, childOf(style, 'w:rPr'));
    known.set(id, result);
    return result;
  };
  return (id) => {
    const used = id ?? defaultParagraph;
    return used !== undefined ? resolve(used, 0) : standard;
  };
}

/** Font that run properties ask for; undefined when they leave it to what is above. */
export function fontOf(rPr: XmlElement | undefined): string | undefined {
  const fonts = childOf(rPr, 'w:rFonts')?.attrs;
  if (!fonts) return undefined;
  const theme = fonts['w:asciiTheme'];
  return theme === undefined ? fonts['w:ascii'] : /^major/i.test(theme) ? '+major' : '+minor';
}

/** The same for Chinese, Japanese and Korean letters. */
export function asianFontOf(rPr: XmlElement | undefined): string | undefined {
  const fonts = childOf(rPr, 'w:rFonts')?.attrs;
  if (!fonts) return undefined;
  const theme = fonts['w:eastAsiaTheme'];
  return theme === undefined ? fonts['w:eastAsia'] : /^major/i.test(theme) ? '+majorAsian' : '+minorAsian';
}

function addFonts(style: ParagraphStyle, rPr: XmlElement | undefined): void {
  const [font, asianFont] = [fontOf(rPr), asianFontOf(rPr)];
  if (font !== undefined) style.font = font;
  if (asianFont !== undefined) style.asianFont = asianFont;
}

/** The same properties, said on a paragraph itself. */
export function readParagraphProperties(pPr: XmlElement | undefined): ParagraphStyle {
  const result: ParagraphStyle = {};
  const outline = childOf(pPr, 'w:outlineLvl')?.attrs['w:val'];
  if (outline !== undefined) result.outline = Number(outline) < 9 ? Number(outline) : undefined;
  const numPr = childOf(pPr, 'w:numPr');
  const numId = childOf(numPr, 'w:numId')?.attrs['w:val'];
  const level = childOf(numPr, 'w:ilvl')?.attrs['w:val'];
  if (numId !== undefined) result.numId = numId;
  if (level !== undefined) result.level = Number(level);
  return result;
}

/** An on/off property: present without a value is on. */
export const isOn = (value: string | undefined): boolean => value === undefined ? true : !/^(0|false|off|none)$/i.test(value);

interface Level {
  format: string;
  text: string;
  start: number;
  legal: boolean;
}

/** Counts list and heading numbers through the document: each call is the next paragraph of that list. */
export type Numbering = (numId: string, level: number) => string;

export function readNumbering(zip: Zip, part: string | undefined): Numbering {
  const entry = part === undefined ? undefined : zip.find(part);
  if (!entry || entry.packedBytes === 0) return () => '';
  const root = readXmlTree(zip, entry);
  const abstracts = new Map<string, Map<number, Level>>();
  const links = new Map<string, string>();
  const styleOwners = new Map<string, string>();
  for (const abstract of childrenOf(root, 'w:abstractNum')) {
    const id = abstract.attrs['w:abstractNumId'] ?? '';
    abstracts.set(id, new Map(childrenOf(abstract, 'w:lvl').map((lvl) => [Number(lvl.attrs['w:ilvl'] ?? 0), readLevel(lvl)])));
    const owner = childOf(abstract, 'w:styleLink')?.attrs['w:val'];
    if (owner) styleOwners.set(owner, id);
    const link = childOf(abstract, 'w:numStyleLink')?.attrs['w:val'];
    if (link) links.set(id, link);
  }
  const lists = new Map<string, { counters: string; levels: Map<number, Level>; restarts: Map<number, number> }>();
  for (const num of childrenOf(root, 'w:num')) {
    let abstract = childOf(num, 'w:abstractNumId')?.attrs['w:val'] ?? '';
    const link = links.get(abstract);
    if (link !== undefined) abstract = styleOwners.get(link) ?? abstract;
    const levels = new Map(abstracts.get(abstract) ?? []);
    const restarts = new Map<number, number>();
    for (const override of childrenOf(num, 'w:lvlOverride')) {
      const level = Number(override.attrs['w:ilvl'] ?? 0);
      const lvl = childOf(override, 'w:lvl');
      if (lvl) levels.set(level, readLevel(lvl));
      const start = childOf(override, 'w:startOverride')?.attrs['w:val'];
      if (start !== undefined) restarts.set(level, Number(start));
    }
    lists.set(num.attrs['w:numId'] ?? '', { counters: abstract, levels, restarts });
  }

  const counters = new Map<string, (number | undefined)[]>();
  const begun = new Set<string>();
  return (numId, level) => {
    const list = lists.get(numId);
    const own = list?.levels.get(level);
    if (!list || !own) return '';
    const counts = counters.get(list.counters) ?? [];
    counters.set(list.counters, counts);
    if (!begun.has(numId)) {
      begun.add(numId);
      for (const [at, start] of list.restarts) counts[at] = start - 1;
    }
    counts[level] = (counts[level] ?? own.start - 1) + 1;
    counts.length = level + 1;
    if (own.format === 'bullet') return '•';
    if (own.format === 'none') return '';
    return own.text.replace(/%([1-9])/g, (_, digit: string) => {
      const at = Number(digit) - 1;
      const shown = list.levels.get(at);
      return formatNumber(counts[at] ?? shown?.start ?? 1, own.legal ? 'decimal' : (shown?.format ?? 'decimal'));
    });
  };
}

function readLevel(lvl: XmlElement): Level {
  const valueOf = (name: string) => childOf(lvl, name)?.attrs['w:val'];
  // Newer files wrap the format in an AlternateContent; its first w:numFmt inside is the plain one.
  const format = valueOf('w:numFmt') ?? elementsOf(lvl).flatMap((child) => (child.name === 'mc:AlternateContent' ? childrenOf(childOf(child, 'mc:Fallback'), 'w:numFmt') : []))[0]?.attrs['w:val'];
  return { format: format ?? 'decimal', text: valueOf('w:lvlText') ?? '', start: Number(valueOf('w:start') ?? 0), legal: childOf(lvl, 'w:isLgl') !== undefined && isOn(valueOf('w:isLgl')) };
}

const romanDigits: [number, string][] = [[1000, 'm'], [900, 'cm'], [500, 'd'], [400, 'cd'], [100, 'c'], [90, 'xc'], [50, 'l'], [40, 'xl'], [10, 'x'], [9, 'ix'], [5, 'v'], [4, 'iv'], [1, 'i']];

/** Word's number formats that occur in practice; anything rarer shows as decimal. */
export function formatNumber(value: number, format: string): string {
  switch (format) {
    case 'lowerLetter':
    case 'upperLetter': {
      // 27 is "aa", 28 "bb": Word repeats the letter.
      const letter = value > 0 ? String.fromCharCode(97 + ((value - 1) % 26)).repeat(Math.min(20, Math.floor((value - 1) / 26) + 1)) : '';
      return format === 'upperLetter' ? letter.toUpperCase() : letter;
    }
    case 'lowerRoman':
    case 'upperRoman': {
      if (value <= 0 || value > 4999) return String(value);
      let rest = value;
      let text = '';
      for (const [size, digits] of romanDigits) {
        for (; rest >= size; rest -= size) text += digits;
      }
      return format === 'upperRoman' ? text.toUpperCase() : text;
    }
    case 'russianLower':
    case 'russianUpper': {
      const letters = 'абвгдежзиклмнопрстуфхцчшщэюя';
      const letter = value > 0 ? letters[(value - 1) % letters.length]! : '';
      return format === 'russianUpper' ? letter.toUpperCase() : letter;
    }
    case 'decimalZero':
      return String(value).padStart(2, '0');
    default:
      return String(value);
  }
}
