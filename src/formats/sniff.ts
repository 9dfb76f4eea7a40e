import { isCompoundFile, listCompoundFile } from './cfb.ts';
import { type ReadResult, UnreadableFile } from './types.ts';
import { isZip, openZip, type Zip } from './zip.ts';

/** What a file is, by its content. Names only break ties between kinds of text. */

export const needsPassword = () => new UnreadableFile('It needs a password to open — upload a copy without one');

const startsWith = (head: Uint8Array, text: string, at = 0): boolean => Array.from(text).every((char, index) => head[at + index] === char.charCodeAt(0));

/** PDF allows up to 1,024 bytes of anything before its header. */
const pdfHeadBytes = 1_030;
/** Where a PDF says that it ends, with what programs put behind it. */
const pdfTailBytes = 4_096;

const latin = (bytes: Uint8Array): string => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');

/** Kinds that the very first bytes tell for sure; null for all others. */
export function sniffMagic(head: Uint8Array): string | null {
  if (/^(\xef\xbb\xbf)?[\s\0]*%PDF-/.test(latin(head.subarray(0, pdfHeadBytes)))) return 'pdf';
  if (startsWith(head, '\u0089PNG\r\n')) return 'png';
  if (head[0] === 0xff && head[1] === 0xd8 && head[2] === 0xff) return 'jpg';
  if (startsWith(head, 'II*\0') || startsWith(head, 'MM\0*') || startsWith(head, 'II+\0') || startsWith(head, 'MM\0+')) return 'tiff';
  if (startsWith(head, 'RIFF') && startsWith(head, 'WEBP', 8)) return 'webp';
  if (latin(head.subarray(0, 16)).trimStart().startsWith('{\\rtf')) return 'rtf';
  return null;
}

/** Whether a PDF may begin behind some other bytes: then the end of the file is needed to tell. */
export const mayHidePdf = (head: Uint8Array): boolean => latin(head.subarray(0, pdfHeadBytes)).includes('%PDF-');

/**
 * Whether it is a PDF behind bytes of something else (a printer's commands, what a web server said), given what it looks like without
 * that. Text about PDFs, and a mail or an archive that holds one, are none. `bytes` ends as the file ends.
 */
export function isShiftedPdf(head: Uint8Array, bytes: Uint8Array, lookedLike: string | null): boolean {
  const start = latin(head.subarray(0, pdfHeadBytes));
  if (lookedLike === null) return start.includes('%PDF-');
  // The name breaks ties between kinds of text: it is plain text for want of anything better.
  return lookedLike === 'txt' && /[^ -~\t]%PDF-\d/.test(start) && /startxref\s+\d+\s+%%EOF/.test(latin(bytes.subarray(-pdfTailBytes)));
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
  'application/vnd.oasis.opendocument.text-master-template': 'odt',
  'application/vnd.oasis.opendocument.text-web': 'odt',
  'application/vnd.oasis.opendocument.presentation': 'odp',
  'application/vnd.oasis.opendocument.presentation-template': 'odp',
  'application/vnd.oasis.opendocument.spreadsheet': 'ods',
  'application/vnd.oasis.opendocument.spreadsheet-template': 'ods',
};
const openXmlFolders = { word: 'docx', ppt: 'pptx', xl: 'xlsx' } as const;
const openXmlTypes = { wordprocessingml: 'docx', presentationml: 'pptx', spreadsheetml: 'xlsx' } as const;

/**
 * A package of one program's parts is no archive: one that is none of ours (a drawing, a Visio or iWork file) is null, so that nobody
 * gets its parts as documents.
 */
function sniffZip(bytes: Uint8Array, name: string): string | null {
  let zip: Zip;
  try {
    // A smaller limit than reading has: what is read here are lists of parts.
    zip = openZip(bytes, { maxUnpackedBytes: 4_000_000, maxEntries: 1_000_000 });
  } catch (error) {
    if (!(error instanceof UnreadableFile)) throw error;
    return sniffDamagedZip(bytes, name);
  }
  const mimetype = readSmall(zip, 'mimetype', 200).trim();
  const declared = openDocumentTypes[mimetype];
  if (declared) return declared;
  if (zip.find('[Content_Types].xml') || zip.find('_rels/.rels')) {
    const folders = new Set(zip.entries.map((entry) => entry.name.replaceAll('\\', '/').replace(/^\/+/, '').split('/')[0]!.toLowerCase()));
    for (const [folder, type] of Object.entries(openXmlFolders)) if (folders.has(folder)) return type;
    // The folders are a habit, not a rule.
    const main = /officedocument\.(wordprocessingml|presentationml|spreadsheetml)\.[a-z]+\.main\+xml/i.exec(readSmall(zip, '[Content_Types].xml'))?.[1]?.toLowerCase();
    return openXmlTypes[main as keyof typeof openXmlTypes] ?? null;
  }
  if (zip.find('META-INF/container.xml')) return 'epub';
  if (zip.find('content.xml') && zip.find('META-INF/manifest.xml')) return sniffManifest(readSmall(zip, 'META-INF/manifest.xml'), mimetype, name);
  // Such a package begins with its mimetype; in an archive a file of that name may lie anywhere.
  const declares = zip.entries[0]?.name === 'mimetype' && /^[\w.+-]+\/[\w.+-]+$/.test(mimetype);
  const isPackage = declares || zip.entries.some((entry) => /^(Index\/.*\.iwa|index\.apxl|buildVersionHistory\.plist)$/i.test(entry.name));
  return isPackage ? null : 'zip';
}

/** OpenDocument without a known mimetype: its manifest says what the whole is, else only its name can. */
function sniffManifest(manifest: string, mimetype: string, name: string): string | null {
  const root = [...manifest.matchAll(/<[\w:]*file-entry\b[^>]*>/g)].map(([entry]) => entry).find((entry) => /full-path\s*=\s*["']\/["']/.test(entry));
  const type = /media-type\s*=\s*["']([^"']+)["']/.exec(root ?? '')?.[1] ?? mimetype;
  const named = /\.(od[tps]|ot[tps])$/i.exec(name)?.[1]?.toLowerCase();
  return type === '' ? (named?.replace('ot', 'od') ?? null) : (openDocumentTypes[type] ?? null);
}

/** A part as text; empty where it is missing, locked, damaged or larger than such a part is. */
function readSmall(zip: Zip, name: string, most = 1_000_000): string {
  const entry = zip.find(name);
  if (!entry || entry.encrypted || entry.packedBytes > most) return '';
  try {
    return latin(zip.bytes(entry));
  } catch (error) {
    if (!(error instanceof UnreadableFile)) throw error;
    return '';
  }
}

/** A zip without its directory: the names at its beginning say what it was to be, for the message and the type. */
function sniffDamagedZip(bytes: Uint8Array, name: string): string {
  const head = latin(bytes.subarray(0, 65_536));
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

/** The result, with "Named .pdf but is a Word document (docx): read as that" before its notices where the file's name promised another kind. */
export function withNameNotice(result: ReadResult, name: string): ReadResult {
  const extension = /\.([A-Za-z0-9]{1,8})$/.exec(name)?.[1]?.toLowerCase();
  const expected = extension === undefined ? undefined : (promised[extension] ?? (descriptions[extension] ? extension : undefined));
  if (expected === undefined || expected === result.type) return result;
  const notice = `Named .${extension} but is ${descriptions[result.type] ?? result.type}: read as that`;
  return { ...result, notices: [notice, ...(result.notices ?? [])] };
}
