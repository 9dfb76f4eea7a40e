/**
 * Files that people do not make by accident (trust.md 5.1 and annex A3), made in code and never committed. Each says what becomes of
 * it: `ready` when there is something honest to read, otherwise the reason its owner gets.
 */
import { createHash, randomBytes } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import { zipSync } from 'fflate';
import { makePdf } from '../support/pdf-fixture.ts';
import { makeDocx, makePptx } from '../support/office-fixtures.ts';
import { contentTypesXml, deckFile, namespaces, relationsXml, wordFile, zipOf } from '../support/zip-fixture.ts';
import { ole } from './raw-ole.ts';
import { catalogue, objectStream, onePage, page, rawPdf, stream, twiceDeflated } from './raw-pdf.ts';
import { png, profileBomb, textBomb, tiff, webp } from './raw-pictures.ts';
import { packedRun, rawZip, type RawEntry } from './raw-zip.ts';

export interface HostileFile {
  name: string;
  what: string;
  make(): Uint8Array;
  /** `ready`, or what the reason of `not_indexed` is; several ends may be honest, by what is installed. */
  ends: RegExp;
  /** Holds LibreOffice until its time is up: only in the whole run (`npm run durability`, `npm run bench:hostile`). */
  slow?: true;
}

const wordTypes =
  '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>' +
  '<Default Extension="xml" ContentType="application/xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>';

/** A Word file whose main part is written as it stands, `packed` or not. */
const wordWith = (document: Omit<RawEntry, 'name'>, more: RawEntry[] = []): Buffer =>
  rawZip([
    { name: '[Content_Types].xml', content: wordTypes },
    { name: '_rels/.rels', content: relationsXml([['rId1', 'officeDocument', 'word/document.xml']]) },
    { name: 'word/document.xml', ...document },
    ...more,
  ]);

const wordXml = (body: string, doctype = ''): string => `<?xml version="1.0"?>${doctype}<w:document ${namespaces}><w:body>${body}</w:body></w:document>`;
const paragraph = (text: string): string => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`;

const laughs =
  '<!DOCTYPE w:document [<!ENTITY a0 "ha">' +
  Array.from({ length: 12 }, (_, n) => `<!ENTITY a${n + 1} "${`&a${n};`.repeat(10)}">`).join('') + ']>';

function sheetFile(sheet: string, parts: Record<string, string> = {}, workbook = ''): Uint8Array {
  const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
  const types = contentTypesXml.replace(/<Override.*\/>/, '<Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/>');
  return zipOf({
    '[Content_Types].xml': types,
    '_rels/.rels': relationsXml([['rId1', 'officeDocument', 'xl/workbook.xml']]),
    'xl/workbook.xml': `<workbook xmlns="${main}" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="One" sheetId="1" r:id="rId1"/></sheets>${workbook}</workbook>`,
    'xl/_rels/workbook.xml.rels': relationsXml([['rId1', 'worksheet', 'worksheets/sheet1.xml'], ['rId2', 'sharedStrings', 'sharedStrings.xml']]),
    'xl/worksheets/sheet1.xml': `<worksheet xmlns="${main}">${sheet}</worksheet>`,
    ...parts,
  });
}

function odfFile(type: 'text' | 'spreadsheet', body: string): Uint8Array {
  const spaces = ['office', 'text', 'table', 'draw'].map((name) => `xmlns:${name}="urn:oasis:names:tc:opendocument:xmlns:${name === 'draw' ? 'drawing' : name}:1.0"`).join(' ');
  return zipSync({
    mimetype: [Buffer.from(`application/vnd.oasis.opendocument.${type}`), { level: 0 }],
    'META-INF/manifest.xml': Buffer.from(`<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"><manifest:file-entry manifest:full-path="/" manifest:media-type="application/vnd.oasis.opendocument.${type}"/><manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/></manifest:manifest>`),
    'content.xml': Buffer.from(`<?xml version="1.0"?><office:document-content ${spaces} office:version="1.2"><office:body>${body}</office:body></office:document-content>`),
  });
}

const mail = (headers: string[], body: string): Buffer => Buffer.from(['From: a@example.com', 'To: b@example.com', 'Subject: parts', 'MIME-Version: 1.0', ...headers, '', body].join('\r\n'));

function nestedZips(depth: number): Buffer {
  let inner: Uint8Array = Buffer.from('the innermost text');
  for (let level = depth; level > 0; level--) inner = rawZip([{ name: level === depth ? 'inner.txt' : 'inner.zip', content: inner }]);
  return Buffer.from(inner);
}

/** Encrypted with a password that nobody knows: the values of the dictionary fit no key. */
function lockedPdf(): Buffer {
  const secret = (text: string): string => `<${createHash('sha256').update(text).digest('hex')}>`;
  return rawPdf(
    [catalogue, onePage, page('/Contents 4 0 R'), stream('', 'BT ET'), `<< /Filter /Standard /V 2 /R 3 /Length 128 /P -44 /O ${secret('o')} /U ${secret('u')} >>`],
    `/Root 1 0 R /Encrypt 5 0 R /ID [<00112233445566778899aabbccddeeff> <00112233445566778899aabbccddeeff>]`,
  );
}

const hugePicture = (): Buffer =>
  rawPdf([
    catalogue, onePage, page('/Contents 4 0 R /Resources << /XObject << /I 5 0 R >> >>'), stream('', 'q 600 0 0 800 0 0 cm /I Do Q'),
    stream('/Type /XObject /Subtype /Image /Width 60000 /Height 60000 /ColorSpace /DeviceRGB /BitsPerComponent 8 /Filter /FlateDecode', deflateSync(Buffer.alloc(100_000))),
  ]);

const deepOutline = (depth: number): Buffer =>
  rawPdf([
    '<< /Type /Catalog /Pages 2 0 R /Outlines 4 0 R >>', onePage, page('/Contents 5 0 R'), '<< /First 6 0 R /Last 6 0 R >>', stream('', 'BT ET'),
    ...Array.from({ length: depth }, (_, n) => `<< /Title (${n}) /Parent ${n === 0 ? 4 : n + 5} 0 R /First ${n === depth - 1 ? 6 : n + 7} 0 R /Next 6 0 R >>`),
  ]);

export const hostileFiles: readonly HostileFile[] = [
  { name: 'empty.pdf', what: 'no bytes at all', make: () => new Uint8Array(), ends: /empty/i },
  { name: 'truncated.pdf', what: 'a PDF cut in the middle', make: () => makePdf(Array.from({ length: 20 }, (_, n) => `page ${n}`)).subarray(0, 400), ends: /damaged/i },
  { name: 'locked.pdf', what: 'a PDF that needs a password', make: lockedPdf, ends: /password/ },
  { name: 'program.pdf', what: 'a Windows program named .pdf', make: () => Buffer.concat([Buffer.from('MZ\x90\0\x03\0\0\0', 'latin1'), randomBytes(20_000)]), ends: /does not read this kind/ },
  { name: 'page.pdf', what: 'a web page with script named .pdf', make: () => Buffer.from('<!DOCTYPE html><html><body><script>alert(1)</script><p>visible words</p></body></html>'), ends: /^ready$/ },
  { name: 'two-in-one.pdf', what: 'a PDF that is a zip as well', make: () => Buffer.concat([makePdf(['the PDF speaks']), zipSync({ 'a.txt': Buffer.from('the zip speaks') })]), ends: /^ready$/ },
  { name: 'own-parent.pdf', what: 'pages that are their own parents', make: () => rawPdf([catalogue, '<< /Type /Pages /Count 3 /Kids [2 0 R 2 0 R 3 0 R] /Parent 2 0 R >>', page('')]), ends: /damaged|no text/i },
  { name: 'huge-page.pdf', what: 'a page of 14.4 million points', make: () => rawPdf([catalogue, onePage, page('/Contents 4 0 R', 2, '[0 0 14400000 14400000]'), stream('', '1 0 0 rg 0 0 9999 9999 re f')]), ends: /damaged|text|Too large/i },
  { name: 'broken-xref.pdf', what: 'a cross-reference table that points at itself', make: () => Buffer.from('%PDF-1.7\nxref\n0 1\n0000000000 65535 f \ntrailer\n<< /Size 1 /Root 1 0 R /Prev 9 >>\nstartxref\n9\n%%EOF'), ends: /damaged/i },
  { name: 'object-stream.pdf', what: 'an object stream of 40,000 objects, 160 MB in 160 KB', make: () => objectStream(40_000, 4_000), ends: /damaged|text|Too large/i },
  { name: 'twice-deflated.pdf', what: 'a page of 800 MiB of operators in a few KB', make: () => twiceDeflated(800), ends: /Too large|Too slow/ },
  { name: 'acts.pdf', what: 'JavaScript, a launch action and a link to another file', make: () =>
    rawPdf(['<< /Type /Catalog /Pages 2 0 R /OpenAction << /S /JavaScript /JS (while\\(1\\){}) >> /AA << /WC << /S /Launch /F (/bin/sh) >> >> >>', onePage, page('/Contents 4 0 R /Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> /AA << /O << /S /GoToR /F (http://127.0.0.1/x.pdf) >> >>'), stream('', 'BT /F1 12 Tf 50 700 Td (plain words) Tj ET')]), ends: /^ready$/ },
  { name: 'huge-picture.pdf', what: 'a picture of 60,000 by 60,000 pixels on a page', make: hugePicture, ends: /text|damaged|Too large/i },
  { name: 'deep-outline.pdf', what: 'an outline 20,000 levels deep that bites its tail', make: () => deepOutline(20_000), ends: /text|damaged/i },
  { name: 'doubling.pdf', what: 'forms that draw each other twice, 40 deep', make: () =>
    rawPdf([catalogue, onePage, page('/Contents 4 0 R /Resources << /XObject << /F 5 0 R >> >>'), stream('', '/F Do'), ...Array.from({ length: 40 }, (_, n) => stream(`/Type /XObject /Subtype /Form /BBox [0 0 600 800] /Resources << /XObject << /F ${n === 39 ? 4 : n + 6} 0 R >> >>`, '/F Do /F Do'))]), ends: /text|damaged|Too (slow|large)/i },
  { name: 'billion-pages.pdf', what: 'a page count of a billion', make: () => rawPdf([catalogue, '<< /Type /Pages /Count 1000000000 /Kids [3 0 R] >>', page('')]), ends: /Too large|damaged|text/i },

  { name: 'huge.png', what: '60,000 by 60,000 pixels in half a megabyte', make: () => png(60_000, 60_000, 60_000), ends: /100 million pixels/ },
  { name: 'lying.png', what: 'a picture of 9,000 by 9,000 pixels with ten rows in it', make: () => png(9_000, 9_000, 10), ends: /damaged|picture/i },
  { name: 'profile.png', what: 'a colour profile that unpacks to 400 MB', make: () => png(8, 8, 8, [profileBomb(400)]), ends: /picture|damaged|Too large/i },
  { name: 'text.png', what: 'a text chunk that unpacks to 400 MB', make: () => png(8, 8, 8, [textBomb(400)]), ends: /picture|damaged|Too large/i },
  { name: 'loop.tiff', what: 'pages that follow each other in a circle', make: () => tiff(3, true), ends: /picture|damaged|Too large/i },
  { name: 'pages.tiff', what: '60,000 pages of 8 by 8 pixels', make: () => tiff(60_000, false), ends: /picture|damaged|more than the 5000/i },
  { name: 'huge.webp', what: 'a WebP of 16,383 by 16,383 pixels with nothing in it', make: webp, ends: /damaged|100 million pixels/i },

  { name: 'nested.zip', what: 'a zip in a zip, eight deep', make: () => nestedZips(8), ends: /^ready$/ },
  { name: 'overlapping.zip', what: '9,000 entries that share the same 10 MB', make: () => rawZip([{ name: '0.bin', content: '', packed: packedRun(10), claimedBytes: 100 }], Array.from({ length: 9_000 }, (_, n) => `${n + 1}.bin`)), ends: /on top of each other/ },
  { name: 'many.zip', what: '30,000 entries', make: () => rawZip(Array.from({ length: 30_000 }, (_, n) => ({ name: `${n}`, content: '', stored: true }))), ends: /more than 10,000 files/ },
  { name: 'wide.zip', what: '400 small files', make: () => rawZip(Array.from({ length: 400 }, (_, n) => ({ name: `folder-${n % 7}/${n}.bin`, content: Buffer.from([0, 1, 2, n & 255, n >> 8, 255, 0]), stored: true }))), ends: /^ready$/ },
  { name: 'escaping.zip', what: 'names that leave the archive, and links', make: () =>
    rawZip([
      { name: '../../../../etc/cron.d/evil.txt', content: 'one' }, { name: '/etc/passwd.txt', content: 'two' }, { name: '..\\..\\windows\\evil.txt', content: 'three' }, { name: 'C:\\boot.txt', content: 'four' },
      { name: 'link', content: '/etc/shadow', unixMode: 0o120777 }, { name: `${'long'.repeat(500)}.txt`, content: 'five' }, { name: 'a\0b\n\u202egpj.txt', content: 'six' },
    ]), ends: /^ready$/ },
  { name: 'lying.zip', what: 'an entry that says 100 bytes and is 256 MB', make: () => rawZip([{ name: 'a.txt', content: '', packed: packedRun(256), claimedBytes: 100 }]), ends: /200 times|unpacks to more/ },
  { name: 'locked.zip', what: 'entries that need a password', make: () => rawZip([{ name: 'a.txt', content: randomBytes(99), stored: true, encrypted: true }]), ends: /password/ },
  { name: 'strange.zip', what: 'entries packed by a method nobody knows', make: () => rawZip([{ name: 'a.txt', content: randomBytes(99), method: 98 }]), ends: /Damaged: none of the files/ },

  { name: 'bomb.docx', what: 'a Word file of 1 MB that unpacks to 1 GiB', make: () => wordWith({ content: '', packed: packedRun(1_024) }), ends: /Too large to read/ },
  { name: 'lying.docx', what: 'a Word file that says 100 bytes and is 256 MB', make: () => wordWith({ content: '', packed: packedRun(256), claimedBytes: 100 }), ends: /Too large to read/ },
  { name: 'laughs.docx', what: 'a billion laughs', make: () => wordWith({ content: wordXml(paragraph('&a12;'), laughs) }), ends: /Damaged|entit|DOCTYPE|document type/i },
  { name: 'xxe.docx', what: 'an entity that is a file of the server', make: () => wordWith({ content: wordXml(paragraph('&x;'), '<!DOCTYPE w:document [<!ENTITY x SYSTEM "file:///etc/passwd">]>') }), ends: /Damaged|entit|DOCTYPE|document type/i },
  { name: 'linked.docx', what: 'a remote template and a linked picture', make: () => wordFile(paragraph('linked words'), { 'word/_rels/settings.xml.rels': `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/attachedTemplate" Target="http://127.0.0.1:9/t.dotm" TargetMode="External"/></Relationships>` }), ends: /^ready$/ },
  { name: 'deep.docx', what: 'tables in tables, 3,000 deep', make: () => wordFile(`${'<w:tbl><w:tr><w:tc>'.repeat(3_000)}${paragraph('core')}${'</w:tc></w:tr></w:tbl>'.repeat(3_000)}`), ends: /^ready$|Damaged|Too large/ },
  { name: 'table.docx', what: 'a table of 300,000 cells', make: () => wordFile(`<w:tbl>${`<w:tr>${`<w:tc>${paragraph('x')}</w:tc>`.repeat(100)}</w:tr>`.repeat(3_000)}</w:tbl>`), ends: /^ready$|Too large/, slow: true },
  { name: 'relations.pptx', what: 'relations that lead out of the file and in circles', make: () =>
    deckFile([{ shapes: '<p:sp><p:txBody><a:p><a:r><a:t>slide words</a:t></a:r></a:p></p:txBody></p:sp>', relations: [['r1', 'image', '../../../../../../etc/passwd'], ['r2', 'slide', 'slide1.xml'], ['r3', 'notesSlide', 'slide1.xml'], ['r4', 'diagramData', '../slides/slide1.xml']] }]), ends: /^ready$/ },
  { name: 'same-slide.pptx', what: '20,000 slides that are all the same part', make: () => {
    const ids = Array.from({ length: 20_000 }, (_, at) => `<p:sldId id="${256 + at}" r:id="s0"/>`).join('');
    return zipOf({
      '[Content_Types].xml': contentTypesXml, '_rels/.rels': relationsXml([['rId1', 'officeDocument', 'ppt/presentation.xml']]),
      'ppt/presentation.xml': `<p:presentation ${namespaces}><p:sldIdLst>${ids}</p:sldIdLst><p:sldSz cx="9144000" cy="6858000"/></p:presentation>`,
      'ppt/_rels/presentation.xml.rels': relationsXml([['s0', 'slide', 'slides/slide1.xml']]),
      'ppt/slides/slide1.xml': `<p:sld ${namespaces}><p:cSld><p:spTree><p:sp><p:txBody><a:p><a:r><a:t>again</a:t></a:r></a:p></p:txBody></p:sp></p:spTree></p:cSld></p:sld>`,
    });
  }, ends: /Too large|damaged/i },
  { name: 'truncated.pptx', what: 'a deck cut in the middle', make: () => makePptx(['one', 'two']).subarray(0, 3_000), ends: /Damaged/ },
  { name: 'huge.xlsx', what: 'a cell in the last corner and everything merged', make: () => sheetFile('<dimension ref="A1:XFD1048576"/><sheetData><row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>2</v></c></row></sheetData><mergeCells count="1"><mergeCell ref="A1:XFD1048576"/></mergeCells>'), ends: /^ready$|Too large/, slow: true },
  { name: 'strings.xlsx', what: '5,000 cells that all show one string of 1 MB', make: () =>
    sheetFile(`<sheetData>${Array.from({ length: 5_000 }, (_, n) => `<row r="${n + 1}"><c r="A${n + 1}" t="s"><v>0</v></c></row>`).join('')}</sheetData>`, { 'xl/sharedStrings.xml': `<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" count="5000" uniqueCount="1"><si><t>${'word '.repeat(200_000)}</t></si></sst>` }), ends: /Too large/ },
  { name: 'repeated.ods', what: 'two thousand million repeated rows and columns', make: () =>
    odfFile('spreadsheet', '<office:spreadsheet><table:table table:name="One"><table:table-row table:number-rows-repeated="2147483647"><table:table-cell table:number-columns-repeated="2147483647" office:value-type="string"><text:p>again</text:p></table:table-cell></table:table-row></table:table></office:spreadsheet>'), ends: /^ready$|Too large/ },
  { name: 'deep.odt', what: 'lists in lists, 20,000 deep', make: () => odfFile('text', `<office:text>${'<text:list><text:list-item>'.repeat(20_000)}<text:p>core</text:p>${'</text:list-item></text:list>'.repeat(20_000)}</office:text>`), ends: /^ready$|Damaged|Too large/ },
  { name: 'circle.epub', what: 'a book whose chapters are the book itself', make: () =>
    zipSync({
      mimetype: [Buffer.from('application/epub+zip'), { level: 0 }],
      'META-INF/container.xml': Buffer.from('<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'),
      'book.opf': Buffer.from(`<package xmlns="http://www.idpf.org/2007/opf" version="3.0"><manifest><item id="a" href="book.opf" media-type="application/xhtml+xml"/></manifest><spine>${'<itemref idref="a"/>'.repeat(20_000)}</spine></package>`),
    }), ends: /Too large|Damaged|no text|ready/i },

  { name: 'parts.eml', what: 'a mail of 6,000 parts', make: () => mail(['Content-Type: multipart/mixed; boundary=b'], `${Array.from({ length: 6_000 }, (_, n) => `--b\r\nContent-Type: text/plain\r\n\r\npart ${n}`).join('\r\n')}\r\n--b--`), ends: /^ready$|Damaged|Too large/ },
  { name: 'nested.eml', what: 'mails in mails, 3,000 deep', make: () => {
    const open = Array.from({ length: 3_000 }, (_, n) => `Content-Type: multipart/mixed; boundary=b${n}\r\n\r\n--b${n}`).join('\r\n');
    return Buffer.from(`From: a@example.com\r\nSubject: deep\r\nMIME-Version: 1.0\r\n${open}\r\nContent-Type: text/plain\r\n\r\ncore\r\n`);
  }, ends: /^ready$|Damaged|no text/ },
  { name: 'headers.eml', what: 'a mail with one header of 30 MB', make: () => mail([`X-Long: ${'word '.repeat(6_000_000)}`], 'body'), ends: /^ready$|Damaged|Too large/ },

  { name: 'line.txt', what: 'one line of 24 MB', make: () => Buffer.alloc(24 * 2 ** 20, 'abcdefghij klmnop '), ends: /^ready$|Too large/ },
  { name: 'brackets.md', what: 'two million opening brackets and quotes', make: () => Buffer.from(`# Title\n\n${'[('.repeat(500_000)}\n${'> '.repeat(500_000)}deep\n${'`'.repeat(200_000)}\n${'*_'.repeat(200_000)}`), ends: /^ready$|Too large/ },
  { name: 'columns.csv', what: 'a row of three million columns', make: () => Buffer.from(`${'a,'.repeat(3_000_000)}b\n"${'x'.repeat(5_000_000)}`), ends: /^ready$|Too large/, slow: true },
  { name: 'deep.html', what: 'elements in elements, 300,000 deep', make: () => Buffer.from(`<html><body>${'<div><b>'.repeat(150_000)}core`), ends: /^ready$|Too large|Damaged/ },
  { name: 'table.html', what: 'cells that span a thousand million columns', make: () => Buffer.from(`<html><body><table>${'<tr><td colspan=1000000000 rowspan=1000000000>x</td></tr>'.repeat(2_000)}</table></body></html>`), ends: /^ready$|Too large|Damaged/ },
  { name: 'deep.rtf', what: 'groups in groups, 200,000 deep', make: () => Buffer.from(`{\\rtf1\\ansi ${'{\\b '.repeat(200_000)}core${'}'.repeat(200_000)}}`), ends: /^ready$|LibreOffice|Damaged|Too large/, slow: true },
  { name: 'circle.doc', what: 'a chain of sectors that bites its tail', make: () =>
    ole({ streams: { WordDocument: Buffer.alloc(4_096, 1), '1Table': Buffer.alloc(4_096, 2) }, spoil: (table, first) => { for (const start of Object.values(first)) table[start + 7] = start; } }), ends: /Damaged|LibreOffice|damaged|password/ },
  { name: 'circle.xls', what: 'a directory that is its own child', make: () =>
    ole({ streams: { Workbook: Buffer.alloc(4_096, 9) }, spoilDirectory: (directory) => { directory.writeUInt32LE(1, 128 + 76); directory.writeUInt32LE(1, 128 + 72); directory.writeUInt32LE(1, 128 + 68); } }), ends: /Damaged|LibreOffice|damaged/ },
  { name: 'beyond.ppt', what: 'sectors far past the end of the file', make: () =>
    ole({ streams: { 'PowerPoint Document': Buffer.alloc(4_096, 3) }, spoil: (table, first) => { for (const start of Object.values(first)) table[start + 1] = 0x7fffffff; } }), ends: /Damaged|LibreOffice|damaged/ },
  { name: 'circle.msg', what: 'a message whose streams go in circles', make: () =>
    ole({ streams: { '__properties_version1.0': Buffer.alloc(4_096), '__substg1.0_1000001F': Buffer.alloc(4_096, 'a') }, spoil: (table, first) => { for (const start of Object.values(first)) table[start + 3] = start; } }), ends: /^ready$|Damaged|no text/i },
  { name: 'wrong.docx', what: 'a picture named .docx', make: () => png(64, 64, 64), ends: /picture|OCR/i },
  { name: 'wrong.xlsx', what: 'a Word file named .xlsx', make: () => makeDocx(['words of a Word file']), ends: /^ready$/ },
];
