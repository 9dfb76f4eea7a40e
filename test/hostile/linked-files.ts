/** Files of every kind that can name something elsewhere: templates, pictures, data, scripts. All of it at `base`, such as http://127.0.0.1:18999. */
import { zipSync } from 'fflate';
import { namespaces, relationsXml, wordFile, zipOf } from '../support/zip-fixture.ts';
import { onePage, page, rawPdf, stream } from './raw-pdf.ts';

const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const external = (rows: [id: string, kind: string, target: string][]): string =>
  `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${rows.map(([id, kind, target]) => `<Relationship Id="${id}" Type="${office}/${kind}" Target="${target}" TargetMode="External"/>`).join('')}</Relationships>`;

const blip = (id: string): string =>
  `<pic:pic xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:nvPicPr><pic:cNvPr id="1" name="p"/><pic:cNvPicPr/></pic:nvPicPr><pic:blipFill><a:blip r:link="${id}"/><a:stretch><a:fillRect/></a:stretch></pic:blipFill>` +
  '<pic:spPr><a:xfrm><a:off x="0" y="0"/><a:ext cx="900000" cy="900000"/></a:xfrm><a:prstGeom prst="rect"><a:avLst/></a:prstGeom></pic:spPr></pic:pic>';

function docx(base: string): Uint8Array {
  const drawing = `<w:r><w:drawing><wp:inline><wp:extent cx="900000" cy="900000"/><wp:docPr id="1" name="p"/><a:graphic><a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/picture">${blip('pic')}</a:graphicData></a:graphic></wp:inline></w:drawing></w:r>`;
  const field = `<w:fldSimple w:instr=" INCLUDEPICTURE &quot;${base}/docx-field.png&quot; \\d "><w:r><w:t>field</w:t></w:r></w:fldSimple>`;
  return wordFile(
    `<w:p><w:r><w:t>linked words</w:t></w:r>${drawing}${field}</w:p>`,
    {
      settings: `<w:settings ${namespaces}><w:attachedTemplate r:id="tpl"/></w:settings>`,
      'word/_rels/settings.xml.rels': external([['tpl', 'attachedTemplate', `${base}/docx-template.dotm`]]),
    },
    [['pic', 'image', `${base}/docx-picture.png" TargetMode="External`]],
  );
}

function pptx(base: string): Uint8Array {
  const picture = blip('pic').replaceAll('pic:', 'p:').replace(' xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture"', '');
  const types = '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/ppt/presentation.xml" ContentType="application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml"/><Override PartName="/ppt/slides/slide1.xml" ContentType="application/vnd.openxmlformats-officedocument.presentationml.slide+xml"/></Types>';
  return zipOf({
    '[Content_Types].xml': types,
    '_rels/.rels': relationsXml([['rId1', 'officeDocument', 'ppt/presentation.xml']]),
    'ppt/presentation.xml': `<p:presentation ${namespaces}><p:sldIdLst><p:sldId id="256" r:id="s0"/></p:sldIdLst><p:sldSz cx="9144000" cy="6858000"/></p:presentation>`,
    'ppt/_rels/presentation.xml.rels': relationsXml([['s0', 'slide', 'slides/slide1.xml']]),
    'ppt/slides/slide1.xml': `<p:sld ${namespaces}><p:cSld><p:spTree><p:nvGrpSpPr><p:cNvPr id="1" name=""/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr/><p:sp><p:nvSpPr><p:cNvPr id="2" name="t"/><p:cNvSpPr/><p:nvPr/></p:nvSpPr><p:spPr/><p:txBody><a:bodyPr/><a:p><a:r><a:t>linked slide</a:t></a:r></a:p></p:txBody></p:sp>${picture}</p:spTree></p:cSld></p:sld>`,
    'ppt/slides/_rels/slide1.xml.rels': external([['pic', 'image', `${base}/pptx-picture.png`], ['media', 'video', `${base}/pptx-media.mp4`]]),
  });
}

function xlsx(base: string): Uint8Array {
  const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
  return zipOf({
    '[Content_Types].xml':
      '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/><Override PartName="/xl/externalLinks/externalLink1.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.externalLink+xml"/></Types>',
    '_rels/.rels': relationsXml([['rId1', 'officeDocument', 'xl/workbook.xml']]),
    'xl/workbook.xml': `<workbook xmlns="${main}" xmlns:r="${office}"><sheets><sheet name="One" sheetId="1" r:id="rId1"/></sheets><externalReferences><externalReference r:id="rId2"/></externalReferences></workbook>`,
    'xl/_rels/workbook.xml.rels': relationsXml([['rId1', 'worksheet', 'worksheets/sheet1.xml'], ['rId2', 'externalLink', 'externalLinks/externalLink1.xml']]),
    'xl/worksheets/sheet1.xml': `<worksheet xmlns="${main}"><sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>linked cell</t></is></c><c r="B1"><f>_xlfn.WEBSERVICE("${base}/xlsx-webservice")</f></c><c r="C1"><f>[1]Other!A1</f><v>3</v></c></row></sheetData></worksheet>`,
    'xl/externalLinks/externalLink1.xml': `<externalLink xmlns="${main}" xmlns:r="${office}"><externalBook r:id="rId1"><sheetNames><sheetName val="Other"/></sheetNames></externalBook></externalLink>`,
    'xl/externalLinks/_rels/externalLink1.xml.rels': external([['rId1', 'externalLinkPath', `${base}/xlsx-external.xlsx`]]),
  });
}

function odt(base: string): Uint8Array {
  const spaces = [['office', 'office'], ['text', 'text'], ['draw', 'drawing']].map(([short, long]) => `xmlns:${short}="urn:oasis:names:tc:opendocument:xmlns:${long}:1.0"`).join(' ');
  const body = `<office:text><text:p>linked text <draw:frame draw:name="f" xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0" svg:width="3cm" svg:height="3cm" text:anchor-type="as-char"><draw:image xlink:href="${base}/odt-picture.png" xlink:type="simple" xlink:show="embed" xlink:actuate="onLoad"/></draw:frame></text:p><text:section text:name="s"><text:section-source xlink:href="${base}/odt-section.odt"/><text:p>section</text:p></text:section></office:text>`;
  return zipSync({
    mimetype: [Buffer.from('application/vnd.oasis.opendocument.text'), { level: 0 }],
    'META-INF/manifest.xml': Buffer.from('<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0" manifest:version="1.2"><manifest:file-entry manifest:full-path="/" manifest:media-type="application/vnd.oasis.opendocument.text"/><manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/></manifest:manifest>'),
    'content.xml': Buffer.from(`<?xml version="1.0"?><office:document-content ${spaces} xmlns:xlink="http://www.w3.org/1999/xlink" office:version="1.2"><office:body>${body}</office:body></office:document-content>`),
  });
}

const html = (base: string): string =>
  `<!DOCTYPE html><html><head><meta http-equiv="refresh" content="1;url=${base}/html-refresh"><link rel="stylesheet" href="${base}/html-style.css"><script src="${base}/html-script.js"></script></head>` +
  `<body><p>linked page</p><img src="${base}/html-picture.png"><iframe src="${base}/html-frame"></iframe><object data="${base}/html-object"></object></body></html>`;

const svg = (base: string): string =>
  `<?xml version="1.0"?><!DOCTYPE svg [<!ENTITY x SYSTEM "${base}/svg-entity">]><svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"><image xlink:href="${base}/svg-picture.png" width="9" height="9"/><text>&x;</text></svg>`;

const pdf = (base: string): Uint8Array =>
  rawPdf([
    `<< /Type /Catalog /Pages 2 0 R /OpenAction << /S /URI /URI (${base}/pdf-open) >> /Names << /JavaScript << /Names [(a) << /S /JavaScript /JS (app.launchURL\\("${base}/pdf-script"\\); this.submitForm\\("${base}/pdf-submit"\\);) >>] >> >> >>`,
    onePage,
    page('/Contents 4 0 R /Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> /XObject << /I 5 0 R >> >> /Annots [<< /Type /Annot /Subtype /Link /Rect [0 0 99 99] /A << /S /GoToR /F << /FS /URL /F (' + base + '/pdf-goto.pdf) >> /D [0 /Fit] >> >>]'),
    stream('', 'BT /F1 12 Tf 50 700 Td (linked pdf) Tj ET q 99 0 0 99 0 0 cm /I Do Q'),
    `<< /Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8 /F << /FS /URL /F (${base}/pdf-stream) >> /Length 0 >>\nstream\n\nendstream`,
  ]);

const rtf = (base: string): string =>
  `{\\rtf1\\ansi{\\*\\template ${base}/rtf-template.dotm}{\\field{\\*\\fldinst INCLUDEPICTURE "${base}/rtf-picture.png" \\\\d \\\\* MERGEFORMATINET}{\\fldrslt linked}} linked rtf\\par}`;

const eml = (base: string): string =>
  ['From: a@example.com', 'To: b@example.com', 'Subject: linked mail', 'MIME-Version: 1.0', 'Content-Type: text/html', '', html(base)].join('\r\n');

const epub = (base: string): Uint8Array =>
  zipSync({
    mimetype: [Buffer.from('application/epub+zip'), { level: 0 }],
    'META-INF/container.xml': Buffer.from('<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'),
    'book.opf': Buffer.from('<package xmlns="http://www.idpf.org/2007/opf" version="3.0"><manifest><item id="a" href="a.xhtml" media-type="application/xhtml+xml"/></manifest><spine><itemref idref="a"/></spine></package>'),
    'a.xhtml': Buffer.from(`<html xmlns="http://www.w3.org/1999/xhtml"><body><p>linked chapter</p><img src="${base}/epub-picture.png"/></body></html>`),
  });

export const linkedFiles = (base: string): Record<string, Uint8Array> => ({
  'linked.docx': docx(base),
  'linked.pptx': pptx(base),
  'linked.xlsx': xlsx(base),
  'linked.odt': odt(base),
  'linked.html': Buffer.from(html(base)),
  'linked.md': Buffer.from(`# Linked\n\n![picture](${base}/md-picture.png) <img src="${base}/md-html.png">\n`),
  'linked.rtf': Buffer.from(rtf(base)),
  'linked.pdf': pdf(base),
  'linked.eml': Buffer.from(eml(base)),
  'linked.epub': epub(base),
  'linked.zip': zipSync({ 'picture.svg': Buffer.from(svg(base)), 'page.html': Buffer.from(html(base)), 'inner.docx': docx(base) }),
  'xxe.docx': zipOf({
    '[Content_Types].xml': '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>',
    '_rels/.rels': relationsXml([['rId1', 'officeDocument', 'word/document.xml']]),
    'word/document.xml': `<?xml version="1.0"?><!DOCTYPE d [<!ENTITY % remote SYSTEM "${base}/docx-dtd"> %remote; <!ENTITY x SYSTEM "${base}/docx-entity">]><w:document ${namespaces}><w:body><w:p><w:r><w:t>&x;</w:t></w:r></w:p></w:body></w:document>`,
  }),
});
