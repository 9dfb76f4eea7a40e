import { zipSync, strToU8 } from 'fflate';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { adminCredentials, api, type ApiClient, type Json } from '../support/api-client.ts';
import { makePdf } from '../support/pdf-fixture.ts';
import { startSergo, type RunningSergo } from '../support/running-sergo.ts';

let sergo: RunningSergo;
let admin: ApiClient;
let rootId: string;

beforeAll(async () => {
  sergo = await startSergo();
  const { body } = await api(sergo.url).post('/setup', { token: sergo.setupToken, ...adminCredentials });
  admin = api(sergo.url, body.token);
  rootId = body.folderId;
});
afterAll(() => sergo.stop());

const mail = [
  'From: Ava <ava@example.com>', 'To: Ben <ben@example.com>', 'Subject: Harbour figures', 'MIME-Version: 1.0',
  'Content-Type: multipart/mixed; boundary="b"', '', '--b', 'Content-Type: text/plain', '', 'The figures are attached.', '--b',
  'Content-Type: text/plain; name="figures.txt"', 'Content-Disposition: attachment; filename="figures.txt"', '', 'tonnage by quarter', '--b--', '',
].join('\r\n');

async function settle(folderId: string, count: number): Promise<Json[]> {
  for (let tries = 0; tries < 300; tries++) {
    const { body } = await admin.get(`/folders/${folderId}`);
    if (body.documents.length >= count && body.documents.every((document: Json) => document.status !== 'processing')) return body.documents;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`the documents of ${folderId} did not settle:\n${sergo.log()}`);
}

test('an archive becomes a folder of documents, a mail has its attachments beside it, and archives in them stay whole', async () => {
  const deepest = zipSync({ 'deep.txt': strToU8('never unpacked') });
  const inner = zipSync({ 'deepest.zip': deepest, 'note.txt': strToU8('one level down') });
  const archive = zipSync({ 'reports/a.pdf': makePdf(['A page about lighthouses']), 'mail.eml': strToU8(mail), 'inner.zip': inner, '../../escape.txt': strToU8('stays inside') });
  const upload = await admin.upload(rootId, { 'bundle.zip': archive });
  expect(upload.status).toBe(202);
  const [bundle] = await settle(rootId, 1);
  expect(bundle).toMatchObject({ type: 'zip', status: 'ready' });

  const folderNamed = async (parentId: string, name: string): Promise<string> => {
    const { body } = await admin.get(`/folders/${parentId}`);
    return body.folders.find((folder: Json) => folder.name === name).id;
  };
  const bundleFolder = await folderNamed(rootId, 'bundle');
  const documents = await settle(bundleFolder, 4);
  expect(documents.map((document) => document.name).sort()).toEqual(['escape.txt', 'figures.txt', 'inner.zip', 'mail.eml']);
  const [lighthouses] = await settle(await folderNamed(bundleFolder, 'reports'), 1);
  expect(lighthouses).toMatchObject({ name: 'a.pdf', status: 'ready', pages: 1 });

  const innerDocuments = await settle(await folderNamed(bundleFolder, 'inner'), 2);
  const deepestDocument = innerDocuments.find((document) => document.name === 'deepest.zip');
  expect(deepestDocument.notices.join(' ')).toMatch(/left inside/);
  const { body: found } = await admin.get('/search?q=tonnage');
  expect(found[0]).toMatchObject({ document: 'figures.txt' });
  const { body: explained } = await admin.get('/search?q=tonnage%20zebra&explain=1');
  expect(explained.candidates[0]).toMatchObject({ document: 'figures.txt', place: 0, dropped: null, why: { lexicalRank: 1, vectorRank: null } });
  expect(explained.candidates[0].why.words).toEqual([{ word: 'tonnage', added: expect.any(Number) }]);
  expect(explained.words.find((word: Json) => word.word === 'zebra')).toMatchObject({ found: 0 });

  // Read again, nothing is made twice.
  const again = await admin.post(`/documents/${bundle.id}/reprocess`, { preset: 'basic' });
  expect(again.status).toBe(202);
  await settle(rootId, 1);
  expect((await settle(bundleFolder, 4)).length).toBe(4);
}, 120_000);

test('a preset with OCR finds the words of a picture and keeps a searchable copy', async (context) => {
  const { body: health } = await admin.get('/health');
  if (health.checks?.tesseract?.ok === false) {
    console.warn('SKIPPED: recognising pictures. tesseract is missing; install tesseract-ocr.');
    context.skip();
  }
  const { default: sharp } = await import('sharp');
  const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="1700" height="400"><rect width="100%" height="100%" fill="white"/><text x="80" y="220" font-family="DejaVu Sans, Liberation Sans, sans-serif" font-size="90">Invoice for the lighthouse keeper</text></svg>';
  const png = await sharp(Buffer.from(svg)).png().toBuffer();
  const upload = await admin.upload(rootId, { 'scan.png': png });
  const id = upload.body.documents[0].id as string;
  const ended = async (): Promise<Json> => {
    for (;;) {
      const { body } = await admin.get(`/documents/${id}`);
      if (body.status !== 'processing') return body;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  };
  expect(await ended()).toMatchObject({ status: 'not_indexed', imageOnlyPages: [1], pdfCopy: 'ready' });
  await admin.post(`/documents/${id}/reprocess`, { preset: 'basic-ocr' });
  expect(await ended()).toMatchObject({ status: 'ready', imageOnlyPages: [], pagesToView: [1] });
  const { body: page } = await admin.get(`/documents/${id}/pages/1`);
  expect(page).toMatchObject({ fate: 'ocr' });
  expect(page.text).toMatch(/lighthouse keeper/i);
  const { body: found } = await admin.get('/search?q=lighthouse%20keeper');
  expect(found[0].document).toBe('scan.png');
}, 120_000);
