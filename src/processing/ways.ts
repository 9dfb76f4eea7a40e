/** How each type of file comes to its pages: data, so that a new type is a line here and a file in formats/. */
export interface Way {
  /**
   * When the PDF copy is made: `none` (there is no sensible one), `itself` (the file is a PDF), `first` (before reading, the page
   * texts come from it), `after` (in the background, the pages are then aligned with it), `asked` (the same, when a person asks for it).
   */
  copy: 'none' | 'itself' | 'first' | 'after' | 'asked';
  /** With `after` and `asked`: whether the file's estimated pages take the copy's page numbers once it is there. */
  align?: boolean;
  /** Whether the copy is printed from the text that was read, so that it shows no figures where they stand. */
  fromText?: boolean;
  /** What its pages are called where they are not called pages. */
  pagesAre?: 'slide' | 'sheet';
  /** With `fromText`: nor anywhere else, so that OCR finds nothing in it. */
  noPictures?: boolean;
}

const ways: Record<string, Way> = {
  pdf: { copy: 'itself' },
  pptx: { copy: 'first', pagesAre: 'slide' },
  ppt: { copy: 'first', pagesAre: 'slide' },
  odp: { copy: 'first', pagesAre: 'slide' },
  docx: { copy: 'after', align: true },
  doc: { copy: 'after', align: true },
  odt: { copy: 'after', align: true },
  rtf: { copy: 'after', align: true },
  xlsx: { copy: 'after', pagesAre: 'sheet' },
  xls: { copy: 'after', pagesAre: 'sheet' },
  ods: { copy: 'after', pagesAre: 'sheet' },
  png: { copy: 'first' },
  jpg: { copy: 'first' },
  tiff: { copy: 'first' },
  webp: { copy: 'first' },
  eml: { copy: 'after', align: true, fromText: true },
  msg: { copy: 'after', align: true, fromText: true },
  html: { copy: 'asked', align: true },
  txt: { copy: 'asked', align: true, fromText: true, noPictures: true },
  md: { copy: 'asked', align: true, fromText: true, noPictures: true },
  csv: { copy: 'asked', align: true, fromText: true, noPictures: true },
  epub: { copy: 'asked', align: true, fromText: true, noPictures: true },
};

export const wayOf = (type: string): Way => ways[type] ?? { copy: 'none' };

/** Flowing text: no pages of its own, estimated ones or its copy's. Its excerpts name the heading above (seeds/000, `section`). */
export const isFlowing = (document: { type: string; pagesEstimated: boolean }): boolean => document.pagesEstimated || wayOf(document.type).align === true;

/** Pages that are pictures can be recognised: in the file itself or in its PDF copy. */
export const canRecognise = (type: string): boolean => wayOf(type).copy !== 'none' && wayOf(type).noPictures !== true;
