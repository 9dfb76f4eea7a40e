import type { ReadPage, ReadResult } from '../formats/types.ts';
import { wayOf } from './ways.ts';

/**
 * A deck's pages from its own shapes and from its PDF copy: text from the copy, so that text, picture and number agree; marks,
 * notes and headings from the slides, since a template's background says nothing (processing.md section 4). Where the copy has
 * another number of pages, the slides' own text stands and the document says that pictures may be off; lines in a script that it could
 * not draw, for want of a font, follow its text.
 */
export function mergeDeck(slides: ReadResult, copy: ReadResult): ReadResult {
  if (slides.pages.length !== copy.pages.length) {
    return { ...slides, notices: [...(slides.notices ?? []), pagesDiffer(slides.type, copy.pages.length, slides.pages.length)] };
  }
  const pages = slides.pages.map((slide, at): ReadPage => {
    const drawn = copy.pages[at] as ReadPage;
    const text = drawn.text.trim() === '' ? slide.text : [drawn.text, ...undrawnLines(slide.text, drawn.text)].join('\n');
    const fate = text.trim() === '' ? (slide.toView ? 'image_only' : slide.fate) : 'text';
    return {
      number: slide.number,
      text,
      fate,
      toView: slide.toView,
      ...(drawn.width === undefined ? {} : { width: drawn.width, height: drawn.height }),
      // A template's background is a large picture as well; of that the slide says nothing.
      ...(drawn.scan && slide.toView ? { scan: true } : {}),
      ...(slide.notes === undefined ? {} : { notes: slide.notes }),
      ...(slide.hidden === undefined ? {} : { hidden: slide.hidden }),
      ...(slide.sections?.[0] && text.startsWith(slide.sections[0].title) ? { sections: [slide.sections[0]] } : {}),
    };
  });
  return { ...slides, pages };
}

const COPY_HAS = 'The PDF copy has ';

/** Said where slides and sheets keep their own numbers, and the copy has not as many pages. */
export function pagesDiffer(type: string, copyPages: number, ownPages: number): string {
  const what = wayOf(type).pagesAre ?? 'page';
  return `${COPY_HAS}${copyPages} page${copyPages === 1 ? '' : 's'} for ${ownPages} ${what}${ownPages === 1 ? '' : 's'}: pictures may show another ${what} than the text`;
}

/** Is it what was said of a copy? It goes with that copy. */
export const isOfCopy = (notice: string): boolean => notice.startsWith(COPY_HAS);

/** Beyond the Latin ones, which every font has. */
const farLetters = /[^\p{Script=Latin}\P{L}]/gu;

/** Lines of the slide with a letter that the drawn text lacks altogether: what no font here can draw is a row of boxes, and no text any more. */
function undrawnLines(own: string, drawn: string): string[] {
  const fold = (text: string): string => text.normalize('NFKD').toLowerCase();
  const there = new Set(fold(drawn));
  return own.split('\n').filter((line) => fold(line).match(farLetters)?.some((letter) => !there.has(letter)));
}
