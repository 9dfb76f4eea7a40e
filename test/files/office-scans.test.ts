import { spawnSync } from 'node:child_process';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { firstAdmin, processed, type Admin, type Json } from '../support/api-client.ts';
import { startSergo, type RunningSergo } from '../support/running-sergo.ts';
import { zipOf } from '../support/zip-fixture.ts';

/** Scans that somebody put into an office file: only its PDF copy can be drawn, so that is where they are recognised. */
const canRun = ['soffice', 'tesseract', 'qpdf'].every((tool) => spawnSync('which', [tool]).status === 0);
if (!canRun) console.warn('SKIPPED: scans inside office files. LibreOffice, tesseract-ocr or qpdf is missing.');

const words = ['Invoice for the lighthouse keeper', 'Twelve barrels of lamp oil', 'Payable before the end of winter'];
const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="1240" height="1600"><rect width="100%" height="100%" fill="white"/>${words
  .map((text, at) => `<text x="80" y="${300 + at * 180}" font-family="DejaVu Sans, Liberation Sans, sans-serif" font-size="56">${text}</text>`)
  .join('')}</svg>`;

const office = 'http://schemas.openxmlformats.org';
/** A Word file of one picture, 15.5 by 20 cm. */
const wordOf = (png: Uint8Array): Uint8Array =>
  zipOf({
    '[Content_Types].xml': `<Types xmlns="${office}/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="png" ContentType="image/png"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`,
    '_rels/.rels': `<Relationships xmlns="${office}/package/2006/relationships"><Relationship Id="r1" Type="${office}/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>`,
    'word/_rels/document.xml.rels': `<Relationships xmlns="${office}/package/2006/relationships"><Relationship Id="r1" Type="${office}/officeDocument/2006/relationships/image" Target="scan.png"/></Relationships>`,
    'word/document.xml': `<w:document xmlns:w="${office}/wordprocessingml/2006/main" xmlns:r="${office}/officeDocument/2006/relationships" xmlns:wp="${office}/drawingml/2006/wordprocessingDrawing" xmlns:a="${office}/drawingml/2006/main" xmlns:pic="${office}/drawingml/2006/picture"><w:body><w:p><w:r><w:drawing><wp:inline><wp:extent cx="5580000" cy="7200000"/><wp:docPr id="1" name="scan"/><a:graphic><a:graphicData uri="${office}/drawingml/2006/picture"><pic:pic><pic:nvPicPr><pic:cNvPr id="1" name="scan"/><pic:cNvPicPr/></pic:nvPicPr><pic:blipFill><a:blip r:embed="r1"/><a:stretch><a:fillRect/></a:stretch></pic:blipFill><pic:spPr><a:xfrm><a:off x="0" y="0"/><a:ext cx="5580000" cy="7200000"/></a:xfrm><a:prstGeom prst="rect"><a:avLst/></a:prstGeom></pic:spPr></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p></w:body></w:document>`,
    'word/scan.png': png,
  });

const open = 'urn:oasis:names:tc:opendocument:xmlns';
const odf = `xmlns:office="${open}:office:1.0" xmlns:table="${open}:table:1.0" xmlns:draw="${open}:drawing:1.0" xmlns:svg="${open}:svg-compatible:1.0" xmlns:text="${open}:text:1.0" xmlns:xlink="http://www.w3.org/1999/xlink"`;
/** A table whose second sheet is the picture; its first has a word. */
const tableOf = (png: Uint8Array): Uint8Array =>
  zipOf({
    mimetype: 'application/vnd.oasis.opendocument.spreadsheet',
    'META-INF/manifest.xml': `<manifest:manifest xmlns:manifest="${open}:manifest:1.0"><manifest:file-entry manifest:full-path="/" manifest:media-type="application/vnd.oasis.opendocument.spreadsheet"/><manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/><manifest:file-entry manifest:full-path="Pictures/scan.png" manifest:media-type="image/png"/></manifest:manifest>`,
    'content.xml': `<office:document-content ${odf} office:version="1.2"><office:body><office:spreadsheet><table:table table:name="Sums"><table:table-row><table:table-cell office:value-type="string"><text:p>Harbour dues</text:p></table:table-cell></table:table-row></table:table><table:table table:name="Scan"><table:shapes><draw:frame svg:width="15.5cm" svg:height="20cm" svg:x="0cm" svg:y="0cm"><draw:image xlink:href="Pictures/scan.png" xlink:type="simple"/></draw:frame></table:shapes><table:table-row><table:table-cell/></table:table-row></table:table></office:spreadsheet></office:body></office:document-content>`,
    'Pictures/scan.png': png,
  });

describe.skipIf(!canRun)('scans inside office files', { timeout: 300_000 }, () => {
  let sergo: RunningSergo;
  let admin: Admin;
  const files: Record<string, string | Uint8Array> = {};
  beforeAll(async () => {
    const png = await sharp(Buffer.from(svg)).greyscale().png().toBuffer();
    files['scan.docx'] = wordOf(png);
    files['scan.ods'] = tableOf(png);
    files['scan.rtf'] = `{\\rtf1\\ansi{\\pict\\pngblip\\picw1240\\pich1600\\picwgoal8600\\pichgoal11097 ${png.toString('hex')}}\\par}`;
    files['scan.html'] = `<html><body><img width="620" height="800" src="data:image/png;base64,${png.toString('base64')}"></body></html>`;
    sergo = await startSergo();
    admin = await firstAdmin(sergo);
  }, 120_000);
  afterAll(() => sergo?.stop());

  const read = async (name: string): Promise<Json> => {
    const form = new FormData();
    form.append('file', new Blob([Buffer.from(files[name]!)]), name);
    const answer = await admin.api.raw(`/folders/${admin.folderId}/documents?preset=basic-ocr`, { method: 'POST', body: form });
    return processed(admin.api, ((await answer.json()) as Json).documents[0].id);
  };

  for (const name of ['scan.docx', 'scan.rtf', 'scan.html']) {
    test(`${name}: its words are found once it is no longer processing`, async () => {
      const document = await read(name);
      expect(document).toMatchObject({ status: 'ready', pdfCopy: 'ready', pages: 1, imageOnlyPages: [], notices: [] });
      const { body: page } = await admin.api.get(`/documents/${document.id}/pages/1`);
      expect(page.fate).toBe('ocr');
      for (const line of words) expect(page.text).toContain(line);
      const { body: found } = await admin.api.get('/search?q=lighthouse%20keeper');
      expect(found.map((each: Json) => each.document)).toContain(name);
      expect((await admin.api.raw(`/documents/${document.id}/file?kind=ocr`)).status).toBe(200);
    });
  }

  test('a sheet that is a picture is recognised, the others stay as they are', async () => {
    const document = await read('scan.ods');
    expect(document).toMatchObject({ status: 'ready', pages: 2 });
    const ended = async (): Promise<Json> => {
      for (;;) {
        const { body } = await admin.api.get(`/documents/${document.id}`);
        if (body.pdfCopy !== 'making') return body;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    };
    expect(await ended()).toMatchObject({ status: 'ready', pdfCopy: 'ready', imageOnlyPages: [] });
    const pages = await Promise.all([1, 2].map(async (page) => (await admin.api.get(`/documents/${document.id}/pages/${page}`)).body));
    expect(pages[0]).toMatchObject({ fate: 'text', text: expect.stringContaining('Harbour dues') });
    expect(pages[1].fate).toBe('ocr');
    for (const line of words) expect(pages[1].text).toContain(line);
  });
});
