/** Word files' excerpts carry the pages that the PDF copy shows (seeds/000): every one of the shared corpus that has a copy, by searching for what a page of the copy says. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agentOver, type AgentCalls } from '../support/agent-calls.ts';
import { firstAdmin, processed, type Admin, type Json } from '../support/api-client.ts';
import { startSergo, type RunningSergo } from '../support/running-sergo.ts';
import { hasShared, sharedPath } from '../support/shared.ts';

const there = hasShared('corpus/manifest.tsv', 'pages of Word files');
const canRun = ['soffice', 'pdftotext'].every((tool) => spawnSync('which', [tool]).status === 0);
if (!canRun) console.warn('SKIPPED: pages of Word files. LibreOffice or poppler-utils is missing; install libreoffice-writer-nogui, python3-uno and poppler-utils.');
const names = there ? readFileSync(sharedPath('corpus/manifest.tsv'), 'utf8').trim().split('\n').map((line) => line.split('\t')[0]!).filter((name) => /^(?:docx|docm|doc|odt|rtf)-/.test(name)) : [];

const WORDS = 5;
const PER_PAGE = 8;
const letters = (text: string): string => text.replace(/[^\p{L}\p{N}]/gu, '').toLowerCase();
const times = (text: string, part: string): number => text.split(part).length - 1;

/** Some words one after another that are on one page of these and there once, spread over the page. */
function phrasesOf(pages: readonly string[], page: number): string[] {
  const all = letters(pages.join(' '));
  const phrases = pages[page - 1]!.split('\n').flatMap((line) => {
    const words = line.trim().split(/\s+/).filter((word) => letters(word) !== '');
    return words.length < WORDS ? [] : [words.slice(0, WORDS).join(' ')];
  });
  const single = phrases.filter((phrase) => letters(phrase).length > 15 && times(all, letters(phrase)) === 1);
  const step = Math.max(1, single.length / PER_PAGE);
  return Array.from({ length: Math.min(PER_PAGE, single.length) }, (_, at) => single[Math.floor(at * step)]!);
}

describe.skipIf(!there || !canRun)('Word files of the corpus', { timeout: 600_000 }, () => {
  let sergo: RunningSergo;
  let admin: Admin;
  const folder = mkdtempSync(join(tmpdir(), 'sergo-word-'));
  beforeAll(async () => {
    sergo = await startSergo();
    admin = await firstAdmin(sergo);
  });
  afterAll(async () => {
    await sergo?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Uploaded into a folder of its own, read, and with its copy where there can be one. */
  async function upload(name: string): Promise<{ document: Json; agent: AgentCalls }> {
    const place = (await admin.api.post('/folders', { name, parentId: admin.folderId })).body.id as string;
    const { body } = await admin.api.upload(place, { [name]: readFileSync(sharedPath(`corpus/${name}`)) });
    let document = await processed(admin.api, body.documents[0].id, 300_000);
    while (document.pdfCopy === 'making') {
      await new Promise((resolve) => setTimeout(resolve, 200));
      document = (await admin.api.get(`/documents/${document.id}`)).body;
    }
    return { document, agent: await agentOver(admin.api, place, `reader-${place.toLowerCase()}`) };
  }

  /** Page by page what poppler reads in the copy. */
  async function pagesOfCopy(document: Json): Promise<string[]> {
    const pages: string[] = [];
    for (let page = 1; page <= document.pages; page++) {
      const file = join(folder, 'page.pdf');
      writeFileSync(file, Buffer.from(await (await admin.api.raw(`/documents/${document.id}/pages/${page}.pdf`)).arrayBuffer()));
      pages.push(spawnSync('pdftotext', ['-q', file, '-'], { encoding: 'utf8' }).stdout);
    }
    return pages;
  }

  const textOf = async (document: Json): Promise<string> => {
    let text = '';
    for (let page = 1; page <= document.pages; page++) text += (await admin.api.get(`/documents/${document.id}/pages/${page}`)).body.text;
    return letters(text);
  };

  test('are found on the page that the copy shows', async () => {
    const wrong: string[] = [];
    const pagesAsked: Record<string, number> = {};
    let asked = 0;
    let unlike = 0;
    for (const name of names) {
      const { document, agent } = await upload(name);
      if (document.pdfCopy !== 'ready' || document.status !== 'ready') continue;
      const [pages, text] = [await pagesOfCopy(document), await textOf(document)];
      pagesAsked[name] = pages.length;
      for (const [at, phrase] of pages.flatMap((_, index) => phrasesOf(pages, index + 1).map((one) => [index + 1, one] as const))) {
        // Words that a formula stands between, which poppler leaves out.
        if (!text.includes(letters(phrase))) {
          unlike += 1;
          continue;
        }
        asked += 1;
        const found = await agent.json('search', { query: `"${phrase.replaceAll('"', '')}"`, limit: 20 }).catch(() => []);
        const hits = found.flatMap((one: Json) => one.hits).filter((hit: Json) => letters(hit.excerpt).includes(letters(phrase)));
        const on = hits.map((hit: Json) => hit.page);
        if (on.length === 0 || on.some((page: number) => page !== at)) wrong.push(`${name}: “${phrase}” is on page ${at}, found on ${on.join(', ') || 'none'}`);
      }
    }
    console.log(`Word pages: ${asked} phrases of ${Object.keys(pagesAsked).length} files searched, ${wrong.length} on another page than in the copy; ${unlike} that poppler reads otherwise left out`);
    expect(wrong).toEqual([]);
    expect(asked).toBeGreaterThan(100);
    expect(unlike).toBeLessThan(asked / 20);
    expect(Object.keys(pagesAsked).filter((name) => name.startsWith('docx-')).length).toBeGreaterThanOrEqual(9);
    expect(Object.values(pagesAsked).filter((count) => count > 1).length).toBeGreaterThanOrEqual(4);
  });
});
