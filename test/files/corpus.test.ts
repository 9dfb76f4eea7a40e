import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { firstAdmin, processed, type Admin, type Json } from '../support/api-client.ts';
import { corpusFiles, measureCorpus, type CorpusFile, type Figures, type ReadFile } from '../support/corpus-yardstick.ts';
import { startSergo, type RunningSergo } from '../support/running-sergo.ts';
import { hasShared, sharedPath } from '../support/shared.ts';

/** The shared corpus through the whole way of a real server: upload, queue, sandbox, index, PDF copy, pages. */
const there = hasShared('corpus/manifest.tsv', 'the corpus through a real server');
const canCompare = ['pdftotext', 'soffice', 'python3'].every((tool) => spawnSync('which', [tool]).status === 0);
if (!canCompare) console.warn('SKIPPED: pages and words beside other programs. Install poppler-utils, LibreOffice and python3.');

/** From its turn to its end, PDF copy included (issue 3). */
const MOST_MS = 120_000;
/** The only files with words that the eye does not see. pdftotext has them among the others; here they are a page's `hidden`. */
const withHidden: Record<string, string> = {
  'pdf-invisible-text-layer.pdf': 'Invisible OCR text layer',
  'pdf-transparency-alpha.pdf': 'Powered by TCPDF (www.tcpdf.org)',
};

describe.skipIf(!there)('the corpus', () => {
  let sergo: RunningSergo;
  let admin: Admin;
  const files = new Map<string, ReadFile>();
  const tookMs = new Map<string, number>();
  let figures = new Map<string, Figures>();
  const wrongOf = (pattern: RegExp): string[] =>
    [...figures].flatMap(([name, { wrong }]) => wrong.filter((each) => pattern.test(each)).map((each) => `${name}: ${each}`));

  async function readOne(file: CorpusFile): Promise<void> {
    const { api } = admin;
    const began = performance.now();
    const { status, body } = await api.upload(admin.folderId, { [file.name]: readFileSync(file.path) });
    expect(status, file.name).toBe(202);
    const { id } = body.documents[0];
    let document = await processed(api, id, 2 * MOST_MS);
    while (document.pdfCopy === 'making') {
      await new Promise((resolve) => setTimeout(resolve, 100));
      document = (await api.get(`/documents/${id}`)).body;
    }
    tookMs.set(file.name, performance.now() - began);
    const pages: Json[] = [];
    for (let page = 1; page <= (document.pages ?? 0); page++) pages.push((await api.get(`/documents/${id}/pages/${page}`)).body);
    const copy = document.pdfCopy === 'ready' ? Buffer.from(await (await api.raw(`/documents/${id}/file?kind=pdf-copy`)).arrayBuffer()) : null;
    files.set(file.name, { ...file, document, pages, copy });
  }

  beforeAll(async () => {
    sergo = await startSergo();
    admin = await firstAdmin(sergo);
    // Two at a time, as many as are read at once: none waits for its turn.
    const left = await corpusFiles();
    const lane = async (): Promise<void> => {
      for (let file = left.shift(); file !== undefined; file = left.shift()) await readOne(file);
    };
    await Promise.all([lane(), lane()]);
    if (canCompare) figures = await measureCorpus([...files.values()]);
  }, 900_000);
  afterAll(() => sergo?.stop());

  test('every file ends within 120 s as ready, or with a reason that a person can act on, and keeps its original', async () => {
    expect(files.size).toBe(91);
    for (const [name, { document }] of files) {
      expect(['ready', 'not_indexed'], `${name}: ${document.reason}`).toContain(document.status);
      if (document.status === 'not_indexed') expect(document.reason, name).toMatch(/^[A-Z“].{10,}/);
    }
    expect([...tookMs].filter(([, ms]) => ms > MOST_MS)).toEqual([]);
    const { document: bomb } = files.get('docx-zip-bomb-made-here.docx')!;
    const original = await admin.api.raw(`/documents/${bomb.id}/file`);
    expect(Buffer.from(await original.arrayBuffer()).equals(readFileSync(sharedPath('corpus/docx-zip-bomb-made-here.docx')))).toBe(true);
  });

  test('words that the eye does not see are kept apart', () => {
    for (const [name, hidden] of Object.entries(withHidden)) expect(files.get(name)!.pages.map((page) => page.hidden ?? '').join(''), name).toBe(hidden);
  });

  test.skipIf(!canCompare)('there are as many pages, slides, sheets and chapters as other programs count', () => {
    expect(figures.size).toBe(91);
    expect([...figures.values()].filter(({ wanted }) => wanted !== null).length).toBeGreaterThanOrEqual(65);
    expect(wrongOf(/pages for/)).toEqual([]);
  });

  test.skipIf(!canCompare)("at least 97 % of an independent extractor's words are found on the right page, and nothing foreign is added", () => {
    expect([...figures.values()].filter(({ recall }) => recall !== null).length).toBeGreaterThanOrEqual(50);
    expect(wrongOf(/words/)).toEqual([]);
  });

  test("Word files' excerpts carry the pages that their PDF copy shows", async () => {
    const { document: word, pages } = files.get('docx-cyrillic-long.docx')!;
    if (word.pdfCopy !== 'ready') {
      console.warn('SKIPPED: pages of Word files. LibreOffice is missing; install libreoffice-writer-nogui and python3-uno.');
      return;
    }
    expect(word).toMatchObject({ pages: 15, pagesEstimated: false });
    let right = 0;
    let all = 0;
    for (const body of pages) {
      const cut = await admin.api.raw(`/documents/${word.id}/pages/${body.page}.pdf`);
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
