/** How each type of file comes to its pages: data, so that a new type is a line here and a file in formats/. */
export interface Way {
  /**
   * When the PDF copy is made: `none` (there is no sensible one), `itself` (the file is a PDF), `first` (before reading, the page
   * texts come from it), `after` (in the background, the pages are then aligned with it).
   */
  copy: 'none' | 'itself' | 'first' | 'after';
  /** With `after`: whether the file's estimated pages take the copy's page numbers once it is there. */
  align?: boolean;
}

const ways: Record<string, Way> = {
  pdf: { copy: 'itself' },
  pptx: { copy: 'first' },
  ppt: { copy: 'first' },
  odp: { copy: 'first' },
  docx: { copy: 'after', align: true },
  doc: { copy: 'after', align: true },
  odt: { copy: 'after', align: true },
  rtf: { copy: 'after', align: true },
  xlsx: { copy: 'after' },
  xls: { copy: 'after' },
  ods: { copy: 'after' },
  png: { copy: 'first' },
  jpg: { copy: 'first' },
  tiff: { copy: 'first' },
  webp: { copy: 'first' },
  eml: { copy: 'after' },
  msg: { copy: 'after' },
};

export const wayOf = (type: string): Way => ways[type] ?? { copy: 'none' };

/** May a person ask for a PDF copy of such a file ("Make a PDF copy")? */
export const mayHaveCopy = (type: string): boolean => ['first', 'after'].includes(wayOf(type).copy);

/** MIME types that originals are sent with; anything else is sent as bytes. */
const mimes: Record<string, string> = {
  pdf: 'application/pdf',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  txt: 'text/plain; charset=utf-8',
  md: 'text/markdown; charset=utf-8',
  csv: 'text/csv; charset=utf-8',
  png: 'image/png',
  jpg: 'image/jpeg',
  tiff: 'image/tiff',
  webp: 'image/webp',
};

export const mimeOf = (type: string): string => mimes[type] ?? 'application/octet-stream';
