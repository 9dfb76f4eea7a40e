import { createBodyReader, readStory } from './docx-body.ts';
import type { DocxContext } from './docx-context.ts';
import { readNumbering, readStyles } from './docx-styles.ts';
import { cleanText, paginate, type FlowBlock } from './flow.ts';
import { missingFontNotice } from './fonts.ts';
import { readThemeFonts } from './theme-fonts.ts';
import { chooseAlternate, findMainPart, readRelations, readTitle, relatedPart } from './ooxml.ts';
import type { Format, ReadOptions, ReadResult } from './types.ts';
import { childOf, childrenOf, elementsOf, isDamage, readXmlPart, readXmlTree, type XmlElement } from './xml.ts';
import { isZip, openZip, type Zip } from './zip.ts';
import { sniffContainer } from './sniff.ts';

/**
 * Word (docx, docm; transitional and strict). Text as it reads with tracked changes accepted; footnotes at their place,
 * comments apart, hidden text apart. Pages are estimated: Word's own last rendering where the file keeps it.
 */
export function readDocx(bytes: Uint8Array, options: ReadOptions): ReadResult {
  const zip = openZip(bytes, { maxUnpackedBytes: options.maxUnpackedBytes });
  const part = findMainPart(zip, 'word/document.xml');
  const relations = readRelations(zip, part);
  const seen: DocxContext['seen'] = { rendered: false, trackedChanges: false, chunks: 0, noteCount: 0, sections: [], fonts: new Set(), endnotes: [] };
  const base: DocxContext = {
    zip,
    part,
    styles: readStyles(zip, relatedPart(zip, relations, 'styles')),
    numbering: readNumbering(zip, relatedPart(zip, relations, 'numbering')),
    noteText: () => '',
    commentText: () => '',
    seen,
  };
  const aside: DocxContext = { ...base, seen: { ...seen, sections: [] } };
  const noteTexts = new Map([
    ...readNotes(aside, relatedPart(zip, relations, 'footnotes'), 'footnote'),
    ...readNotes(aside, relatedPart(zip, relations, 'endnotes'), 'endnote'),
  ]);
  const comments = readNotes(aside, relatedPart(zip, relations, 'comments'), 'comment');

  const body = createBodyReader({ ...base, noteText: (key) => noteTexts.get(key) ?? '', commentText: (id) => comments.get(`comment:${id}`) ?? '' });
  let inBody = false;
  const entry = zip.find(part)!;
  readXmlPart(zip, entry, {
    onOpen: (name) => {
      if (inBody) return true;
      if (name === 'w:body') inBody = true;
      return false;
    },
    onTree: body.add,
    onClose: (name) => {
      if (name === 'w:body') inBody = false;
    },
  });

  // Before the edges: the end of the story may tell of its last section.
  const story = body.finish();
  const edges = readHeadersAndFooters(aside, seen.sections, relations);
  // Endnotes are printed after the text, as Word does it.
  const blocks: FlowBlock[] = [...edges.headers.map((text) => ({ text })), ...story, ...seen.endnotes];
  const pages = paginate(blocks, { maxPages: options.maxPages, rendered: seen.rendered });
  const first = pages[0]!;
  if (edges.footers.length > 0 && first.fate !== 'image_only') {
    first.text = [first.text, ...edges.footers].filter(Boolean).join('\n\n');
    first.fate = 'text';
  }
  options.onProgress?.(pages.length, pages.length);
  const fontNotice = options.availableFonts && missingFontNotice(namedFonts(zip, relatedPart(zip, relations, 'theme'), seen.fonts), new Set(options.availableFonts));
  const notices = [
    ...(seen.trackedChanges ? ['It has tracked changes: it is read as if all of them were accepted'] : []),
    ...(seen.chunks > 0 ? [`It takes in ${seen.chunks === 1 ? 'another file' : `${seen.chunks} other files`} that Word reads as it opens it, whose text is not read here — open it in Word, save it and upload that`] : []),
    ...(fontNotice === undefined ? [] : [fontNotice]),
  ];
  return {
    type: 'docx',
    pages,
    pagesEstimated: true,
    title: readTitle(zip),
    ...(notices.length > 0 && { notices }),
  };
}

/** Fonts by name: `+minor` and the like are what the theme says. */
function namedFonts(zip: Zip, theme: string | undefined, fonts: Set<string>): string[] {
  const named = readThemeFonts(zip, theme);
  return [...fonts].map((font) => (font.startsWith('+') ? (named[font.slice(1) as keyof typeof named] ?? '') : font));
}

/** Texts of footnotes, endnotes or comments by `kind:id`. */
function readNotes(context: DocxContext, part: string | undefined, kind: 'footnote' | 'endnote' | 'comment'): Map<string, string> {
  const notes = new Map<string, string>();
  const entry = part === undefined ? undefined : context.zip.find(part);
  if (part === undefined || !entry || entry.packedBytes === 0) return notes;
  for (const note of childrenOf(readXmlTree(context.zip, entry), `w:${kind}`)) {
    // Separators are drawn lines, not notes.
    if (/separator|continuation/i.test(note.attrs['w:type'] ?? '')) continue;
    const text = readStory(elementsOf(note), { ...context, part }).map((block) => block.text.trim()).filter(Boolean).join(' ');
    if (text === '') continue;
    const author = kind === 'comment' ? note.attrs['w:author'] : undefined;
    notes.set(`${kind}:${note.attrs['w:id'] ?? ''}`, kind === 'comment' ? `Comment${author ? ` by ${cleanText(author)}` : ''}: ${text}` : text);
  }
  return notes;
}

/** Each text above or below the pages once; page numbers of the last print are left out. */
function readHeadersAndFooters(context: DocxContext, sections: XmlElement[], relations: ReturnType<typeof readRelations>): { headers: string[]; footers: string[] } {
  const texts = { headers: new Set<string>(), footers: new Set<string>() };
  for (const section of sections) {
    const hasTitlePage = childOf(section, 'w:titlePg') !== undefined;
    for (const reference of elementsOf(section)) {
      const where = reference.name === 'w:headerReference' ? texts.headers : reference.name === 'w:footerReference' ? texts.footers : undefined;
      const kind = reference.attrs['w:type'];
      if (!where || kind === 'even' || (kind === 'first' && !hasTitlePage)) continue;
      const part = relations.get(reference.attrs['r:id'] ?? '')?.target;
      const text = part === undefined ? '' : readEdge(context.zip, part, context);
      if (/\p{L}/u.test(text)) where.add(text);
    }
  }
  return { headers: [...texts.headers], footers: [...texts.footers] };
}

function readEdge(zip: Zip, part: string, context: DocxContext): string {
  const entry = zip.find(part);
  if (!entry || entry.packedBytes === 0) return '';
  try {
    const root = readXmlTree(zip, entry);
    return readStory(elementsOf(root.name === 'mc:AlternateContent' ? chooseAlternate(root) : root), { ...context, part, dropPageFields: true })
      .map((block) => block.text.trim())
      .filter(Boolean)
      .join('\n');
  } catch (error) {
    if (isDamage(error)) return '';
    throw error;
  }
}

export const docx: Format = {
  type: 'docx',
  sniff: (head) => isZip(head) && sniffContainer(head, 'x.docx') === 'docx',
  read: async (bytes, options) => readDocx(bytes, options),
};
