import { isEastAsian, missingFontNotice } from './fonts.ts';
import { readThemeFonts, type ThemeFonts } from './theme-fonts.ts';
import { findMainPart, readRelations, readTitle, relatedPart, sensibleTitle, type Relation } from './ooxml.ts';
import { boxOf, readCommentTexts, readNotesText, readSlide, type PlaceholderPlace } from './pptx-slide.ts';
import type { Box } from './reading-order.ts';
import { type Format, type ReadOptions, type ReadPage, type ReadResult, UnreadableFile } from './types.ts';
import { childOf, childrenOf, elementsOf, findAll, isDamage, pathOf, readXmlTree, textOf, type XmlElement } from './xml.ts';
import { isZip, openZip, type Zip } from './zip.ts';
import { sniffContainer } from './sniff.ts';

const emusPerPoint = 12_700;

/** PowerPoint (pptx, pptm): one slide = one page, in the order of the presentation, hidden slides too. */
export function readPptx(bytes: Uint8Array, options: ReadOptions): ReadResult {
  const zip = openZip(bytes, { maxUnpackedBytes: options.maxUnpackedBytes });
  const part = findMainPart(zip, 'ppt/presentation.xml');
  const presentation = readXmlTree(zip, zip.find(part)!);
  const relations = readRelations(zip, part);
  const slides = slideParts(presentation, relations);
  if (slides.length === 0) throw new UnreadableFile('The presentation has no slides — there is nothing to read');
  if (slides.length > options.maxPages) throw new UnreadableFile(`Too large to read: it has more than ${options.maxPages.toLocaleString('en-US')} slides`);

  const size = childOf(presentation, 'p:sldSz')?.attrs;
  const slideSize = { width: Number(size?.['cx']) || 9_144_000, height: Number(size?.['cy']) || 6_858_000 };
  const places = new Map<string, PlaceholderPlace>();
  let failed = 0;
  const fonts = new Set<string>();
  const pages = slides.map((slide, index): ReadPage => {
    const page: ReadPage = {
      number: index + 1,
      text: '',
      fate: 'failed',
      toView: true,
      width: slideSize.width / emusPerPoint,
      height: slideSize.height / emusPerPoint,
    };
    try {
      readSlidePage(zip, slide, slideSize, places, page, fonts);
    } catch (error) {
      // One broken slide is said on its page and costs no other.
      if (!isDamage(error)) throw error;
      failed++;
    }
    options.onProgress?.(index + 1, slides.length);
    return page;
  });
  if (failed === pages.length) throw new UnreadableFile('Damaged: no slide could be read');
  const first = pages[0]?.sections?.[0]?.title;
  const theme = readThemeFonts(zip, relatedPart(zip, relations, 'theme'));
  const fontNotice = options.availableFonts && missingFontNotice([...fonts, theme.minor ?? '', theme.major ?? '', ...asianThemeFonts(fonts, theme)], new Set(options.availableFonts));
  const notices = [
    ...(failed > 0 ? [`${failed} of ${pages.length} slides are damaged and could not be read`] : []),
    ...(fontNotice === undefined ? [] : [fontNotice]),
  ];
  return {
    type: 'pptx',
    pages,
    pagesEstimated: false,
    title: readTitle(zip) ?? (first === undefined ? undefined : sensibleTitle(first)),
    ...(notices.length > 0 && { notices }),
  };
}

/** Those that its text asks for: runs that name no font of their own, and those that name the theme's. */
const asianThemeFonts = (fonts: ReadonlySet<string>, theme: ThemeFonts): string[] =>
  [fonts.has('+mn-ea') && theme.minorAsian, fonts.has('+mj-ea') && theme.majorAsian].filter((font) => typeof font === 'string');

function readSlidePage(zip: Zip, part: string, size: { width: number; height: number }, places: Map<string, PlaceholderPlace>, page: ReadPage, fonts: Set<string>): void {
  const entry = zip.find(part);
  if (!entry) throw new UnreadableFile('Damaged: a slide is missing');
  const relations = readRelations(zip, part);
  const layout = relatedPart(zip, relations, 'slideLayout');
  let placeOf: PlaceholderPlace = () => undefined;
  if (layout !== undefined) {
    placeOf = places.get(layout) ?? readPlaces(zip, layout);
    places.set(layout, placeOf);
  }
  const slide = readXmlTree(zip, entry);
  for (const latin of findAll(slide, 'a:latin')) fonts.add(latin.attrs['typeface'] ?? '');
  for (const run of findAll(slide, 'a:r')) if (isEastAsian(textOf(childOf(run, 'a:t')))) fonts.add(pathOf(run, 'a:rPr', 'a:ea')?.attrs['typeface'] ?? '+mn-ea');
  const content = readSlide(zip, part, slide, size, placeOf);
  const notes: string[] = [];
  for (const { kind, target, external } of relations.values()) {
    const aside = external || (kind !== 'notesSlide' && kind !== 'comments') ? undefined : zip.find(target);
    if (!aside || aside.packedBytes === 0) continue;
    const tree = readXmlTree(zip, aside);
    if (kind === 'notesSlide') notes.unshift(readNotesText(tree));
    else notes.push(...readCommentTexts(tree));
  }
  page.text = content.text;
  page.toView = content.toView;
  page.fate = content.text !== '' ? 'text' : content.hasPicture ? 'image_only' : 'empty';
  if (content.title && content.text !== '') page.sections = [{ start: 0, title: content.title }];
  const aside = notes.filter(Boolean).join('\n');
  if (aside !== '') page.notes = aside;
  if (content.hidden.trim() !== '') page.hidden = content.hidden;
}

/** Slides in the order of the presentation; a file without that list has them in the order of their numbers. */
function slideParts(presentation: XmlElement, relations: Map<string, Relation>): string[] {
  const listed = childrenOf(childOf(presentation, 'p:sldIdLst'), 'p:sldId')
    .map((id) => relations.get(id.attrs['r:id'] ?? ''))
    .filter((relation) => relation !== undefined && !relation.external)
    .map((relation) => relation!.target);
  if (listed.length > 0 || childOf(presentation, 'p:sldIdLst')) return listed;
  return [...relations.values()].filter(({ kind }) => kind === 'slide').map(({ target }) => target).toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }));
}

function readPlaces(zip: Zip, layout: string): PlaceholderPlace {
  const own = placesOf(zip, layout);
  const master = relatedPart(zip, readRelations(zip, layout), 'slideMaster');
  const above = master === undefined ? [] : placesOf(zip, master);
  const kindOf = (type: string) => (type === 'ctrTitle' ? 'title' : type === 'subTitle' || type === 'obj' ? 'body' : type);
  return (type, index) =>
    own.find((place) => place.index === index && index !== '0')?.box ??
    own.find((place) => kindOf(place.type) === kindOf(type))?.box ??
    above.find((place) => kindOf(place.type) === kindOf(type))?.box;
}

function placesOf(zip: Zip, part: string): { type: string; index: string; box: Box }[] {
  const entry = zip.find(part);
  if (!entry || entry.packedBytes === 0) return [];
  let root: XmlElement;
  try {
    root = readXmlTree(zip, entry);
  } catch (error) {
    if (isDamage(error)) return [];
    throw error;
  }
  const tree = pathOf(root, 'p:cSld', 'p:spTree');
  return (tree ? findAll(tree, 'p:sp') : []).flatMap((sp) => {
    const ph = pathOf(elementsOf(sp).find((child) => child.name.startsWith('p:nv')), 'p:nvPr', 'p:ph');
    const box = boxOf(pathOf(sp, 'p:spPr', 'a:xfrm'));
    return ph && box ? [{ type: ph.attrs['type'] ?? 'obj', index: ph.attrs['idx'] ?? '0', box }] : [];
  });
}

export const pptx: Format = {
  type: 'pptx',
  sniff: (head) => isZip(head) && sniffContainer(head, 'x.pptx') === 'pptx',
  read: async (bytes, options) => readPptx(bytes, options),
};
