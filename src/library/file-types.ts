/** What a file is served as. Only a label: originals go out as attachments, whatever they say they are. */
const mimes: Record<string, string> = {
  pdf: 'application/pdf',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  docm: 'application/vnd.ms-word.document.macroEnabled.12',
  pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  pptm: 'application/vnd.ms-powerpoint.presentation.macroEnabled.12',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  xlsm: 'application/vnd.ms-excel.sheet.macroEnabled.12',
  doc: 'application/msword',
  ppt: 'application/vnd.ms-powerpoint',
  xls: 'application/vnd.ms-excel',
  odt: 'application/vnd.oasis.opendocument.text',
  ods: 'application/vnd.oasis.opendocument.spreadsheet',
  odp: 'application/vnd.oasis.opendocument.presentation',
  rtf: 'application/rtf',
  epub: 'application/epub+zip',
  eml: 'message/rfc822',
  msg: 'application/vnd.ms-outlook',
  zip: 'application/zip',
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  tif: 'image/tiff',
  tiff: 'image/tiff',
  webp: 'image/webp',
  txt: 'text/plain; charset=utf-8',
  md: 'text/markdown; charset=utf-8',
  csv: 'text/csv; charset=utf-8',
  tsv: 'text/tab-separated-values; charset=utf-8',
  html: 'text/html; charset=utf-8',
};

export const mimeOf = (type: string): string => mimes[type] ?? 'application/octet-stream';

/** The type that `mimeOf` labels so; `fallback` where there is none. */
export const typeOfMime = (mime: string, fallback: string): string => Object.keys(mimes).find((type) => mimes[type] === mime) ?? fallback;

/** Types that a PDF copy can be asked for. A picture's is made while it is read; an archive is only a list of its files. */
const copied = new Set(['txt', 'md', 'csv', 'tsv', 'epub', 'docx', 'docm', 'pptx', 'pptm', 'xlsx', 'xlsm', 'doc', 'ppt', 'xls', 'odt', 'ods', 'odp', 'rtf', 'html', 'eml', 'msg']);

export const canHavePdfCopy = (type: string): boolean => copied.has(type);

export const isPicture = (type: string): boolean => (mimes[type] ?? '').startsWith('image/');
