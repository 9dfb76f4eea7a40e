import { isCompoundFile, listCompoundFile } from './cfb.ts';
import { UnreadableFile } from './types.ts';
import { isZip, openZip, type Zip } from './zip.ts';

/** What a file is, by its content. Names only break ties between kinds of text. */

export const needsPassword = () => new UnreadableFile('It needs a password to open — upload a copy without one');

const startsWith = (head: Uint8Array, text: string, at = 0): boolean => Array.from(text).every((char, index) => head[at + index] === char.charCodeAt(0));

/** Kinds that a few first bytes tell for sure; null for all others. */
export function sniffMagic(head: Uint8Array): string | null {
  // PDF allows up to 1,024 bytes of anything before its header.
  const start = Buffer.from(head.buffer, head.byteOffset, Math.min(head.length, 1_030)).indexOf('%PDF-');
  if (start >= 0) return 'pdf';
  if (startsWith(head, '\u0089PNG\r\n')) return 'png';
  if (head[0] === 0xff && head[1] === 0xd8 && head[2] === 0xff) return 'jpg';
  if (startsWith(head, 'II*\0') || startsWith(head, 'MM\0*') || startsWith(head, 'II+\0') || startsWith(head, 'MM\0+')) return 'tiff';
  if (startsWith(head, 'RIFF') && startsWith(head, 'WEBP', 8)) return 'webp';
  return null;
}

/** Whether the whole file is needed to tell its kind. */
export const isContainer = (head: Uint8Array): boolean => isZip(head) || isCompoundFile(head);

/** Kind of a zip or OLE2 file; null for one that is none of ours. Throws UnreadableFile for a file that needs a password. */
export function sniffContainer(bytes: Uint8Array, name: string): string | null {
  return isZip(bytes) ? sniffZip(bytes, name) : sniffCompoundFile(bytes);
}

const openDocumentTypes: Record<string, string> = {
  'application/epub+zip': 'epub',
  'application/vnd.oasis.opendocument.text': 'odt',
  'application/vnd.oasis.opendocument.text-template': 'odt',
  'application/vnd.oasis.opendocument.text-master': 'odt',
  'application/vnd.oasis.opendocument.presentation': 'odp',
  'application/vnd.oasis.opendocument.presentation-template': 'odp',
  'application/vnd.oasis.opendocument.spreadsheet': 'ods',
  'application/vnd.oasis.opendocument.spreadsheet-template': 'ods',
};

function sniffZip(bytes: Uint8Array, name: string): string | null {
  let zip: Zip;
  try {
    // A smaller limit than reading has: a mimetype is a few bytes.
    zip = openZip(bytes, { maxUnpackedBytes: 1_000_000, maxEntries: 1_000_000 });
  } catch (error) {
    if (!(error instanceof UnreadableFile)) throw error;
    return sniffDamagedZip(bytes, name);
  }
  const mimetype = zip.find('mimetype');
  if (mimetype && mimetype.packedBytes < 200 && !mimetype.encrypted) {
    const type = openDocumentTypes[Buffer.from(zip.bytes(mimetype)).toString('latin1').trim()];
    if (type) return type;
  }
  if (zip.find('[Content_Types].xml') || zip.find('_rels/.rels')) {
    const folders = new Set(zip.entries.map((entry) => entry.name.replaceAll('\\', '/').replace(/^\/+/, '').split('/')[0]!.toLowerCase()));
    for (const [folder, type] of [['word', 'docx'], ['ppt', 'pptx'], ['xl', 'xlsx']] as const) if (folders.has(folder)) return type;
  }
  if (zip.find('META-INF/container.xml')) return 'epub';
  if (zip.find('content.xml') && zip.find('META-INF/manifest.xml')) return /\.od[tps]$/i.exec(name)?.[0].slice(1).toLowerCase() ?? 'odt';
  return 'zip';
}

/** A zip without its directory: the names at its beginning say what it was to be, for the message and the type. */
function sniffDamagedZip(bytes: Uint8Array, name: string): string {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 65_536)).toString('latin1');
  if (head.includes('word/')) return 'docx';
  if (head.includes('ppt/')) return 'pptx';
  if (head.includes('xl/')) return 'xlsx';
  for (const [mimetype, type] of Object.entries(openDocumentTypes)) if (head.includes(`mimetype${mimetype}`)) return type;
  return /\.(docx|pptx|xlsx|odt|odp|ods|epub)$/i.exec(name)?.[1]?.toLowerCase() ?? 'zip';
}

function sniffCompoundFile(bytes: Uint8Array): string | null {
  const streams = new Map(listCompoundFile(bytes).map((entry) => [entry.name, entry]));
  if (streams.has('EncryptedPackage') || streams.has('EncryptionInfo') || streams.has('EncryptedSummary')) throw needsPassword();
  if (streams.has('__properties_version1.0')) return 'msg';
  const word = streams.get('WordDocument');
  if (word) {
    if (isEncryptedWord(bytes, word.start)) throw needsPassword();
    return 'doc';
  }
  if (streams.has('PowerPoint Document') || streams.has('PP40')) return 'ppt';
  const workbook = streams.get('Workbook') ?? streams.get('Book');
  if (workbook) {
    if (isEncryptedWorkbook(bytes, workbook.start)) throw needsPassword();
    return 'xls';
  }
  return null;
}

/** Bit fEncrypted of the file information block ([MS-DOC] 2.5.2). */
const isEncryptedWord = (bytes: Uint8Array, start: number): boolean => start >= 0 && start + 12 <= bytes.length && (bytes[start + 11]! & 1) === 1;

/** A FilePass record among the first ones ([MS-XLS] 2.4.117). */
function isEncryptedWorkbook(bytes: Uint8Array, start: number): boolean {
  if (start < 0) return false;
  for (let at = start, count = 0; count < 50 && at + 4 <= bytes.length; count++) {
    const record = bytes[at]! | (bytes[at + 1]! << 8);
    if (record === 0x2f) return true;
    at += 4 + (bytes[at + 2]! | (bytes[at + 3]! << 8));
  }
  return false;
}

const descriptions: Record<string, string> = {
  pdf: 'a PDF', docx: 'a Word document (docx)', pptx: 'a PowerPoint presentation (pptx)', xlsx: 'an Excel workbook (xlsx)',
  doc: 'an old Word document (doc)', ppt: 'an old PowerPoint presentation (ppt)', xls: 'an old Excel workbook (xls)',
  odt: 'an OpenDocument text (odt)', odp: 'an OpenDocument presentation (odp)', ods: 'an OpenDocument spreadsheet (ods)',
  rtf: 'a rich text file (rtf)', txt: 'plain text', md: 'Markdown', csv: 'a table of text (csv)', html: 'a web page (html)',
  epub: 'an e-book (epub)', eml: 'an e-mail (eml)', msg: 'an Outlook message (msg)', zip: 'an archive (zip)',
  png: 'a picture (png)', jpg: 'a picture (jpg)', tiff: 'a picture (tiff)', webp: 'a picture (webp)',
};

/** Extensions that promise one kind. Extensions not listed (`.log`, `.json`, none) promise nothing. */
const promised: Record<string, string> = {
  docm: 'docx', dotx: 'docx', dotm: 'docx', pptm: 'pptx', ppsx: 'pptx', ppsm: 'pptx', potx: 'pptx', xlsm: 'xlsx', xltx: 'xlsx', xltm: 'xlsx',
  dot: 'doc', pps: 'ppt', pot: 'ppt', xlt: 'xls', ott: 'odt', otp: 'odp', ots: 'ods', tsv: 'csv', tab: 'csv', markdown: 'md', htm: 'html',
  xhtml: 'html', jpeg: 'jpg', tif: 'tiff',
};

/** "Named .pdf but is a Word document (docx): read as that", or nothing where name and content agree. */
export function nameNotice(name: string, type: string): string | undefined {
  const extension = /\.([A-Za-z0-9]{1,8})$/.exec(name)?.[1]?.toLowerCase();
  if (extension === undefined) return undefined;
  const expected = promised[extension] ?? (descriptions[extension] ? extension : undefined);
  if (expected === undefined || expected === type) return undefined;
  return `Named .${extension} but is ${descriptions[type] ?? type}: read as that`;
}
