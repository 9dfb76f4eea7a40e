import type { ReadPage, ReadResult } from '../formats/types.ts';

/**
 * A deck's pages from its own shapes and from its PDF copy: text from the copy, so that text, picture and number agree; marks,
 * notes and headings from the slides, since a template's background says nothing (processing.md section 4). Where the copy has
 * another number of pages, the slides' own text stands and the document says that pictures may be off.
 */
export function mergeDeck(slides: ReadResult, copy: ReadResult): ReadResult {
  if (slides.pages.length !== copy.pages.length) {
    const notice = `The PDF copy has ${copy.pages.length} pages for ${slides.pages.length} slides: pictures may show another slide than the text`;
    return { ...slides, notices: [...(slides.notices ?? []), notice] };
  }
  const pages = slides.pages.map((slide, at): ReadPage => {
    const drawn = copy.pages[at] as ReadPage;
    const text = drawn.text.trim() === '' ? slide.text : drawn.text;
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
