import { spawnSync } from 'node:child_process';
import { zipSync } from 'fflate';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agentOver, type AgentCalls } from '../support/agent-calls.ts';
import { firstAdmin, processed, type Admin, type Json } from '../support/api-client.ts';
import { makeMsg } from '../support/msg-fixture.ts';
import { makePptx } from '../support/office-fixtures.ts';
import { makePdf } from '../support/pdf-fixture.ts';
import { startSergo, type RunningSergo } from '../support/running-sergo.ts';
import { zipOf } from '../support/zip-fixture.ts';

/** `view_page` by kind of file: what has pages is looked at at once, what flows once somebody has asked for its PDF copy. */
const canRun = ['soffice', 'pdftotext'].every((tool) => spawnSync('which', [tool]).status === 0);
if (!canRun) console.warn('SKIPPED: PDF copies by request. LibreOffice or poppler-utils is missing.');

const paragraphs = Array.from({ length: 60 }, (_, at) => `Paragraph ${at} tells of harbour ${at * 7} and of the boats that lay there for the winter, one beside the other.`);
const bookOf = (beginning: string): Uint8Array => zipOf({
  mimetype: 'application/epub+zip',
  'META-INF/container.xml': '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="b.opf"/></rootfiles></container>',
  'b.opf':
    '<package xmlns="http://www.idpf.org/2007/opf"><manifest><item id="c1" href="c1.xhtml" media-type="application/xhtml+xml"/></manifest><spine><itemref idref="c1"/></spine></package>',
  'c1.xhtml': `<html xmlns="http://www.w3.org/1999/xhtml"><body>${beginning}${paragraphs.map((text) => `<p>${text}</p>`).join('')}</body></html>`,
});
const asked: Record<string, string | Uint8Array> = {
  'page.html': `<html><head><link rel="stylesheet" href="http://192.0.2.1/a.css"></head><body><h1>Winter</h1><img src="http://192.0.2.1/a.png">${paragraphs.map((text) => `<p>${text}</p>`).join('')}</body></html>`,
  'notes.txt': paragraphs.join('\n\n'),
  'readme.md': `# Winter\n\n${paragraphs.join('\n\n')}`,
  'table.csv': `number,words\n${paragraphs.map((text, at) => `${at},"${text}"`).join('\n')}\n`,
  'book.epub': bookOf('<h1>Winter</h1>'),
};

describe.skipIf(!canRun)('looking at pages', { timeout: 300_000 }, () => {
  let sergo: RunningSergo;
  let admin: Admin;
  let agent: AgentCalls;
  const upload = async (files: Record<string, string | Uint8Array>): Promise<Json[]> => {
    const { body } = await admin.api.upload(admin.folderId, files);
    return Promise.all(body.documents.map((document: Json) => processed(admin.api, document.id)));
  };
  const copied = async (id: string): Promise<Json> => {
    for (;;) {
      const { body } = await admin.api.get(`/documents/${id}`);
      if (body.status !== 'processing' && body.pdfCopy !== 'making') return body;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  };

  beforeAll(async () => {
    sergo = await startSergo();
    admin = await firstAdmin(sergo);
    agent = await agentOver(admin.api, admin.folderId);
  });
  afterAll(() => sergo?.stop());

  test('text, tables, web pages and books have a page view once somebody asked for the copy, and then its pages', async () => {
    for (const { id, name, pdfCopy } of await upload(asked)) {
      expect(pdfCopy, name).toBe('none');
      const before = await agent.result('view_page', { document_id: id, page: 1 });
      expect(before, name).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('Make a PDF copy') }] });
      expect((await admin.api.post(`/documents/${id}/pdf-copy`, {})).status, name).toBe(202);
      const after = await copied(id);
      expect(after, `${name} ${after.notices}`).toMatchObject({ pdfCopy: 'ready', pagesEstimated: false });
      expect(after.pages, name).toBeGreaterThan(1);
      const view = await agent.result('view_page', { document_id: id, page: 2 });
      expect(view.content[0].text).toBe(`${name} — page 2 of ${after.pages}`);
      const { width, height } = await sharp(Buffer.from(view.content[1].data, 'base64')).metadata();
      expect(Math.max(width, height)).toBeLessThanOrEqual(1568);
      // What is read of a page is what its picture shows.
      const cut = await agent.result('view_page', { document_id: id, page: 2, format: 'pdf' });
      const drawn = spawnSync('pdftotext', ['-q', '-', '-'], { input: Buffer.from(cut.content[1].resource.blob, 'base64') }).stdout.toString();
      const numbers = (text: string): string[] => [...text.matchAll(/Paragraph\s+(\d+)/g)].map((match) => match[1]!);
      expect(numbers((await agent.json('read_document', { document_id: id, page: 2 })).text), name).toEqual(numbers(drawn));
    }
  });

  test('a chapter with a figure stays one to look at, though its copy is printed from its text', async () => {
    const [{ id, pagesToView }] = (await upload({ 'figures.epub': bookOf('<img src="ship.png"/>') })) as [Json];
    expect(pagesToView).toEqual([1]);
    await admin.api.post(`/documents/${id}/pdf-copy`, {});
    const after = await copied(id);
    expect(after.pagesToView).toEqual(Array.from({ length: after.pages }, (_, at) => at + 1));
  });

  test('a copy that was asked for is made again with the next reading', async () => {
    const [{ id }] = (await upload({ 'again.txt': asked['notes.txt']! })) as [Json];
    await admin.api.post(`/documents/${id}/pdf-copy`, {});
    await copied(id);
    await admin.api.post(`/documents/${id}/reprocess`, { preset: 'basic' });
    expect(await copied(id)).toMatchObject({ status: 'ready', pdfCopy: 'ready', pagesEstimated: false });
  });

  test('pictures and mails are looked at without asking', async () => {
    const png = await sharp({ create: { width: 400, height: 300, channels: 3, background: 'navy' } }).png().toBuffer();
    const tiff = await sharp(png).tiff().toBuffer();
    const webp = await sharp(png).webp().toBuffer();
    const jpg = await sharp(png).jpeg().toBuffer();
    const outlook = makeMsg({ subject: 'Tide', from: { name: 'Ava', address: 'ava@example.org' }, to: [{ name: 'Ben', address: 'ben@example.org' }], body: 'The tide is at noon: <https://tides.example.org>' });
    const mail = 'From: a@example.com\r\nSubject: Tide\r\nContent-Type: text/plain\r\n\r\nThe tide is at noon.\r\n';
    for (const { id, name } of await upload({ 'a.png': png, 'b.tiff': tiff, 'c.webp': webp, 'd.eml': mail, 'e.jpg': jpg, 'f.msg': outlook })) {
      expect(await copied(id), name).toMatchObject({ pages: 1, pdfCopy: 'ready' });
      const view = await agent.result('view_page', { document_id: id, page: 1 });
      expect(view, name).toMatchObject({ isError: false, content: [{ text: `${name} — page 1 of 1` }, { type: 'image', mimeType: 'image/png' }] });
      const drawn = sharp(Buffer.from(view.content[1].data, 'base64'));
      const { dominant, channels } = await drawn.stats();
      // A picture fills its page with its own colour; a mail is ink on white.
      if (/png|tiff|webp|jpg/.test(name)) expect(dominant.b - dominant.r, name).toBeGreaterThan(80);
      else expect([dominant.r > 240, channels[0]!.min < 100], name).toEqual([true, true]);
    }
  });

  test('the picture that a mail shows is on the page that is looked at, and a document of its own', async () => {
    const chart = await sharp({ create: { width: 600, height: 500, channels: 3, background: 'navy' } }).jpeg().toBuffer();
    const mail = [
      'From: a@example.com', 'Subject: Chart', 'MIME-Version: 1.0', 'Content-Type: multipart/related; boundary=r', '', '--r', 'Content-Type: text/html', '', '<img src="cid:1">',
      '--r', 'Content-Type: image/jpeg; name="chart.jpg"', 'Content-Transfer-Encoding: base64', 'Content-ID: <1>', '', chart.toString('base64'), '--r--', '',
    ].join('\r\n');
    const [{ id }] = (await upload({ 'chart.eml': mail })) as [Json];
    expect(await copied(id)).toMatchObject({ status: 'ready', pages: 1, pdfCopy: 'ready', pagesToView: [1] });
    const view = await agent.result('view_page', { document_id: id, page: 1 });
    const { channels } = await sharp(Buffer.from(view.content[1].data, 'base64')).stats();
    expect(channels[2]!.mean - channels[0]!.mean).toBeGreaterThan(20);
    const { documents } = (await admin.api.get(`/folders/${admin.folderId}`)).body;
    expect(documents.map((document: Json) => document.name)).toContain('chart.jpg');
  });

  test('files that came out of an archive are looked at like others', async () => {
    const png = await sharp({ create: { width: 200, height: 300, channels: 3, background: 'green' } }).png().toBuffer();
    const archive = zipSync({ 'inside/tide.pdf': makePdf(['First tide', 'Second tide']), 'inside/sea.png': png, 'deck.pptx': makePptx(['Harbour slide']) });
    const [{ id }] = (await upload({ 'all.zip': archive })) as [Json];
    expect(await copied(id)).toMatchObject({ status: 'ready', type: 'zip' });
    const inFolder = async (folderId: string): Promise<Json[]> => {
      const { documents, folders } = (await admin.api.get(`/folders/${folderId}`)).body;
      return [...documents, ...(await Promise.all(folders.map((folder: Json) => inFolder(folder.id)))).flat()];
    };
    const inner = (await inFolder(admin.folderId)).filter((document) => ['tide.pdf', 'sea.png', 'deck.pptx'].includes(document.name));
    expect(inner.map(({ name }) => name).toSorted()).toEqual(['deck.pptx', 'sea.png', 'tide.pdf']);
    for (const document of inner) {
      const { pages } = await copied(document.id);
      const view = await agent.result('view_page', { document_id: document.id, page: pages });
      expect(view, document.name).toMatchObject({ isError: false, content: [{ text: `${document.name} — page ${pages} of ${document.name === 'tide.pdf' ? 2 : 1}` }, { type: 'image' }] });
    }
  });
});
