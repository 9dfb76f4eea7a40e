import { isEastAsian, missingFontNotice } from './fonts.ts';
import { type ReadOptions, type ReadPage, UnreadableFile } from './types.ts';
import { childOf, childrenOf, findAll, readXmlPart, readXmlTree, type XmlElement } from './xml.ts';
import type { Zip, ZipEntry } from './zip.ts';

interface Fonts {
  western?: string;
  asian?: string;
}

interface Style extends Fonts {
  family: string;
  parent?: string;
}

/** Families of styles that words have; the last two only where they say it themselves, or the styles they are based on do. */
const ofWords = new Set(['paragraph', 'table-cell', 'text', 'presentation', 'graphic']);
const withDefault = new Set(['paragraph', 'table-cell']);

/** Packed. The text is gone through once more for its fonts: in one that is larger, that would take time from its reading. */
const largest = 8 * 1024 ** 2;

/** What `missingFontNotice` says of the fonts of an OpenDocument file that its own text uses, as a list of none or one. */
export function odfFontNotices(zip: Zip, content: ZipEntry, pages: readonly ReadPage[], { availableFonts }: Pick<ReadOptions, 'availableFonts'>): string[] {
  if (!availableFonts || content.packedBytes > largest) return [];
  try {
    const notice = missingFontNotice(usedFonts(zip, content, pages), new Set(availableFonts));
    return notice === undefined ? [] : [notice];
  } catch (error) {
    // Without its fonts a file is read all the same, be it that this second look is more than may be unpacked.
    if (error instanceof UnreadableFile) return [];
    throw error;
  }
}

function usedFonts(zip: Zip, content: ZipEntry, pages: readonly ReadPage[]): Set<string> {
  /** Declared by a name that need not be the family's; a font that is in the file itself cannot be missing. */
  const families = new Map<string, string>();
  const styles = new Map<string, Style[]>();
  const defaults = new Map<string, Fonts>();
  const used = new Set<string>();
  const addStyles = (root: XmlElement): void => {
    for (const face of findAll(root, 'style:font-face')) families.set(face.attrs['style:name'] ?? '', childOf(face, 'svg:font-face-src') ? '' : firstFamily(face.attrs['svg:font-family'] ?? ''));
    for (const style of [...findAll(root, 'style:style'), ...findAll(root, 'style:default-style')]) {
      const { 'style:name': name, 'style:family': family = '', 'style:parent-style-name': parent } = style.attrs;
      if (!ofWords.has(family)) continue;
      const fonts = fontsOf(style);
      if (name === undefined) defaults.set(family, fonts);
      else styles.set(name, [...(styles.get(name) ?? []), { family, ...fonts, ...(parent !== undefined && { parent }) }]);
    }
  };
  const common = zip.find('styles.xml');
  if (common && common.packedBytes > 0) addStyles(readXmlTree(zip, common));
  readXmlPart(zip, content, {
    onOpen: (name, attrs) => {
      if (name === 'office:font-face-decls' || name === 'office:automatic-styles') return true;
      for (const key in attrs) if (key.endsWith('style-name')) used.add(attrs[key]!);
      return false;
    },
    onTree: (element) => addStyles({ name: '', attrs: {}, children: [element] }),
  });

  const fontOf = (style: Style, script: keyof Fonts): string | undefined => {
    let at: Style | undefined = style;
    for (let depth = 0; at !== undefined && depth < 20; depth++) {
      if (at[script] !== undefined) return at[script];
      const { parent, family }: Style = at;
      at = parent === undefined ? undefined : styles.get(parent)?.find((each) => each.family === family);
    }
    return withDefault.has(style.family) ? defaults.get(style.family)?.[script] : undefined;
  };
  const scripts: (keyof Fonts)[] = pages.some((page) => isEastAsian(page.text)) ? ['western', 'asian'] : ['western'];
  const names = new Set<string>();
  for (const style of [...used].flatMap((name) => styles.get(name) ?? [])) {
    for (const script of scripts) {
      const font = fontOf(style, script);
      if (font !== undefined) names.add(families.get(font) ?? font);
    }
  }
  return names;
}

/** By the name of a declared font, or by its family where the file names none. */
function fontsOf(style: XmlElement): Fonts {
  const fonts: Fonts = {};
  for (const { attrs } of childrenOf(style, 'style:text-properties')) {
    const western = attrs['style:font-name'] ?? attrs['fo:font-family'];
    const asian = attrs['style:font-name-asian'] ?? attrs['style:font-family-asian'];
    if (western !== undefined) fonts.western = firstFamily(western);
    if (asian !== undefined) fonts.asian = firstFamily(asian);
  }
  return fonts;
}

/** `'Liberation Serif', serif` is asked for by its first name. */
const firstFamily = (list: string): string => (/^\s*(?:'([^']*)'|"([^"]*)"|([^,]*))/.exec(list)?.slice(1).find((name) => name !== undefined) ?? '').trim();
