import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { firstAdmin, processed, type ApiClient, type Json } from '../support/api-client.ts';
import { independentWords, wordRecall } from '../support/independent-words.ts';
import { startSergo, type RunningSergo } from '../support/running-sergo.ts';
import { hasShared, sharedPath } from '../support/shared.ts';

/** The shared corpus through the whole way of a real server: upload, queue, sandbox, index, PDF copy, pages. */
const there = hasShared('corpus/manifest.tsv', 'the corpus through a real server');
const poppler = spawnSync('pdfinfo', ['-v']).error === undefined;
if (!poppler) console.warn('SKIPPED: page counts and words beside pdfinfo and pdftotext. Install poppler-utils.');
const names = there ? readFileSync(sharedPath('corpus/manifest.tsv'), 'utf8').trim().split('\n').slice(1).map((line) => line.split('\t')[0] as string) : [];

/** Where pdftotext puts blanks elsewhere than we do, letters are compared: it reads `à À â` as one word, `1` and `a text box` on one another as `a1text`. */
const byLetters = new Set(['pdf-french-diacritics.pdf', 'pptx-japanese.pptx']);
/** The only files with words that the eye does not see. pdftotext has them among the others; here they are a page's `hidden`. */
const withHidden: Record<string, string> = {
  'pdf-invisible-text-layer.pdf': 'Invisible OCR text layer',
  'pdf-transparency-alpha.pdf': 'Powered by TCPDF (www.tcpdf.org)',
};
/** Repaired by both, with another idea of how many pages there are: poppler gives up or counts what does not exist. */
const pagesNotComparable = new Set(['pdf-encrypted-aes256-test.pdf']);

describe.skipIf(!there)('the corpus', () => {
  let sergo: RunningSergo;
  let client: ApiClient;
  let documents: Map<string, Json>;

  beforeAll(async () => {
    sergo = await startSergo();
    const admin = await firstAdmin(sergo);
    client = admin.api;
    const ids: [string, string][] = [];
    for (const name of names) {
      const { status, body } = await client.upload(admin.folderId, { [name]: readFileSync(sharedPath(`corpus/${name}`)) });
      expect(status).toBe(202);
      ids.push([name, body.documents[0].id]);
    }
    documents = new Map();
    for (const [name, id] of ids) {
      let document = await processed(client, id, 600_000);
      while (document.pdfCopy === 'making') {
        await new Promise((resolve) => setTimeout(resolve, 200));
        document = (await client.get(`/documents/${id}`)).body;
      }
      documents.set(name, document);
    }
  }, 900_000);
  afterAll(() => sergo?.stop());

  test('every file ends as ready, or with a reason that a person can act on, and keeps its original', async () => {
    for (const [name, document] of documents) {
      expect(['ready', 'not_indexed'], `${name}: ${document.reason}`).toContain(document.status);
      if (document.status === 'not_indexed') expect(document.reason, name).toMatch(/^[A-Z“].{10,}/);
    }
    const bomb = documents.get('docx-zip-bomb-made-here.docx');
    const original = await client.raw(`/documents/${bomb.id}/file`);
    expect(Buffer.from(await original.arrayBuffer()).equals(readFileSync(sharedPath('corpus/docx-zip-bomb-made-here.docx')))).toBe(true);
  });

  test.skipIf(!poppler)("page counts equal pdfinfo's", () => {
    for (const [name, document] of documents) {
      if (document.type !== 'pdf' || document.pages === undefined || pagesNotComparable.has(name)) continue;
      const info = spawnSync('pdfinfo', [sharedPath(`corpus/${name}`)], { encoding: 'utf8' });
      const pages = /^Pages:\s+(\d+)/m.exec(info.stdout)?.[1];
      if (info.status === 0 && pages !== undefined) expect(document.pages, name).toBe(Number(pages));
    }
  });

  test.skipIf(!poppler)("at least 97 % of an independent extractor's words are found", async () => {
    const short: string[] = [];
    for (const [name, document] of documents) {
      if (document.status !== 'ready' || name.startsWith('html')) continue;
      let text = '';
      let hidden = '';
      for (let page = 1; page <= document.pages; page++) {
        const { body } = await client.get(`/documents/${document.id}/pages/${page}`);
        text += `${body.text}\n`;
        hidden += body.hidden ?? '';
      }
      if (name in withHidden) expect(hidden, name).toBe(withHidden[name]);
      const words = await independentWords(sharedPath(`corpus/${name}`));
      const recall = byLetters.has(name) ? wordRecall([...words.join('')].map((letter) => letter + letter), [...text.toLowerCase()].map((letter) => letter + letter).join(' ')) : wordRecall(words, `${text}\n${name in withHidden ? hidden : ''}`);
      if (recall !== null && recall < 0.97) short.push(`${name}: ${recall.toFixed(3)}`);
    }
    expect(short).toEqual([]);
  }, 600_000);

  test("Word files' excerpts carry the pages that their PDF copy shows", async () => {
    const word = documents.get('docx-cyrillic-long.docx');
    if (word.pdfCopy !== 'ready') {
      console.warn('SKIPPED: pages of Word files. LibreOffice is missing; install libreoffice-writer-nogui and python3-uno.');
      return;
    }
    expect(word).toMatchObject({ pages: 15, pagesEstimated: false });
    let right = 0;
    let all = 0;
    for (let page = 1; page <= word.pages; page++) {
      const { body } = await client.get(`/documents/${word.id}/pages/${page}`);
      const cut = await client.raw(`/documents/${word.id}/pages/${page}.pdf`);
      const drawn = spawnSync('pdftotext', ['-q', '-', '-'], { input: Buffer.from(await cut.arrayBuffer()) }).stdout.toString().replace(/[^\p{L}\p{N}]/gu, '');
      for (const line of (body.text as string).split('\n')) {
        const letters = line.replace(/[^\p{L}\p{N}]/gu, '').slice(0, 24);
        if (letters.length < 24) continue;
        all += 1;
        if (drawn.includes(letters)) right += 1;
      }
    }
    expect(all).toBeGreaterThan(50);
    expect(right / all).toBeGreaterThanOrEqual(0.95);
  }, 120_000);
});
