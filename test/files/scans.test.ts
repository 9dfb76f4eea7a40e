import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makePdf } from '../../src/formats/pdf/testing/pdf-writer.ts';
import { agentOver, type AgentCalls } from '../support/agent-calls.ts';
import { firstAdmin, processed, type Admin, type Json } from '../support/api-client.ts';
import { wordRecall, wordsOf } from '../support/independent-words.ts';
import { startSergo, type RunningSergo } from '../support/running-sergo.ts';
import { placedWords, scanOf, typedText, type PlacedWord, type Scan } from '../support/scans.ts';
import { hasShared, sharedPath } from '../support/shared.ts';

/**
 * Scans through the whole way: pages of the shared corpus drawn to pictures as a scanner does it, mixed with typed pages in one
 * file. Recall of a page: the share of the words (two letters or digits and more, repeats counted, hyphens at line ends joined) that
 * poppler finds on the typed page and Sergo on the scan of it.
 */
const there = hasShared('corpus/pdf-two-column.pdf', 'scans of the corpus through a real server');
const tools = ['pdftoppm', 'pdftotext', 'pdfinfo', 'qpdf', 'tesseract'].filter((tool) => spawnSync('which', [tool]).status !== 0);
if (tools.length > 0) console.warn(`SKIPPED: scans of the corpus through a real server. ${tools.join(', ')} missing; install poppler-utils, qpdf and tesseract-ocr.`);
const whole = process.env.SCANS === 'whole';

/** Pages of prose, one and two columns; labels inside drawings are figures, not words of a page. `SCANS=whole` takes all of them. */
const sources: [string, number[]][] = whole
  ? [['pdf-two-column.pdf', [1, 2]], ['pdf-tracemonkey-14p-two-column.pdf', [1, 5]], ['pdf-handbook-figures.pdf', [1]], ['pdf-wikipedia-browser-print.pdf', [1]]]
  : [['pdf-two-column.pdf', [1]]];
const stamp = 'CONFIDENTIAL ABC000123';
const ways: Omit<Scan, 'path' | 'page'>[] = whole
  ? [
      { dpi: 200 }, { dpi: 200, turned: 90 }, { dpi: 200, turned: 180 }, { dpi: 200, turned: 270 }, { dpi: 200, rotate: 90 }, { dpi: 200, turned: 1 },
      { dpi: 200, turned: -2 }, { dpi: 200, turned: 3 }, { dpi: 200, turned: 92 }, { dpi: 200, stamp }, { dpi: 150 }, { dpi: 150, turned: 180 }, { dpi: 150, turned: -1.5 },
    ]
  : [{ dpi: 200 }, { dpi: 200, turned: 90 }, { dpi: 200, turned: -2 }, { dpi: 200, turned: 183 }, { dpi: 150, rotate: 90 }, { dpi: 200, stamp }];
/** Typed pages between the scans: page `n` of this file, one after every third scan. */
const typed = { name: 'pdf-tracemonkey-14p-two-column.pdf', pages: 14 };

describe.skipIf(!there || tools.length > 0)('scans of the corpus', { timeout: 600_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'sergo-scans-'));
  const mixed = join(folder, 'mixed.pdf');
  /** By page of the mixed file: the scan, or null for a typed page. */
  const pages: (Scan | null)[] = [];
  const typedOf: [string, number][] = [];
  let sergo: RunningSergo;
  let admin: Admin;
  let agent: AgentCalls;
  let withOcr: Json;
  let without: Json;

  const numbersOf = (isScan: boolean): number[] => pages.flatMap((page, at) => ((page !== null) === isScan ? [at + 1] : []));
  /** Scans without any text of their own. */
  const bare = (): number[] => numbersOf(true).filter((number) => pages[number - 1]?.stamp === undefined);
  const pageText = async (document: Json, page: number): Promise<Json> => (await admin.api.get(`/documents/${document.id}/pages/${page}`)).body;

  beforeAll(async () => {
    const scans: Scan[] = sources.flatMap(([name, numbers]) => numbers.flatMap((page) => ways.map((way) => ({ path: sharedPath(`corpus/${name}`), page, ...way }))));
    const scanned = join(folder, 'scans.pdf');
    writeFileSync(scanned, makePdf({ pages: await Promise.all(scans.map(scanOf)) }));
    const picked: string[] = [];
    for (const [at, scan] of scans.entries()) {
      picked.push(scanned, String(at + 1));
      pages.push(scan);
      typedOf.push([scan.path, scan.page]);
      if (at % 3 !== 1) continue;
      const number = (Math.floor(at / 3) % typed.pages) + 1;
      picked.push(sharedPath(`corpus/${typed.name}`), String(number));
      pages.push(null);
      typedOf.push([sharedPath(`corpus/${typed.name}`), number]);
    }
    execFileSync('qpdf', ['--empty', '--pages', ...picked, '--', mixed]);

    sergo = await startSergo();
    admin = await firstAdmin(sergo);
    const upload = async (preset: string): Promise<Json> => {
      const folderId = (await admin.api.post('/folders', { name: preset, parentId: admin.folderId })).body.id;
      const form = new FormData();
      form.append('file', new Blob([readFileSync(mixed)]), `${preset}.pdf`);
      const answer = await admin.api.raw(`/folders/${folderId}/documents?preset=${preset}`, { method: 'POST', body: form });
      expect(answer.status).toBe(202);
      return { folderId, id: ((await answer.json()) as Json).documents[0].id };
    };
    const first = await upload('basic');
    without = await processed(admin.api, first.id);
    const second = await upload('basic-ocr');
    withOcr = await processed(admin.api, second.id, 1_800_000);
    agent = await agentOver(admin.api, second.folderId);
  }, 1_800_000);
  afterAll(async () => {
    await sergo?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test('without OCR exactly the scanned pages are image-only, those with a stamp are to be viewed', async () => {
    expect(without).toMatchObject({ status: 'ready', pages: pages.length, imageOnlyPages: bare() });
    const stamped = numbersOf(true).filter((number) => !bare().includes(number));
    expect(stamped.length).toBeGreaterThan(0);
    for (const page of stamped) expect(await pageText(without, page)).toMatchObject({ fate: 'text', mark: 'view', text: stamp });
    const plain = await agentOver(admin.api, (await admin.api.get(`/folders/${admin.folderId}`)).body.folders.find((each: Json) => each.name === 'basic').id, 'plain');
    const found = await plain.json('search', { query: 'trace compilation' });
    expect(found[0].image_only_pages).toEqual(bare());
  });

  test('with OCR every page is searchable and none is image-only', async () => {
    expect(withOcr).toMatchObject({ status: 'ready', pages: pages.length, imageOnlyPages: [] });
    for (const page of numbersOf(true)) expect((await pageText(withOcr, page)).fate, `page ${page}`).toBe('ocr');
    for (const page of numbersOf(false)) expect((await pageText(withOcr, page)).fate, `page ${page}`).toBe('text');
    for (const [at, [path, number]] of typedOf.entries()) {
      // Scans of one page have the same words: a search is never so deep as to show all of many, but each time one of them.
      const same = typedOf.flatMap((each, index) => (each[0] === path && each[1] === number ? [index + 1] : []));
      const words = wordsOf(typedText(path, number)).filter((word) => /^[a-z]{7,}$/.test(word)).slice(0, 6).join(' ');
      const hits = new Set<number>();
      for (let offset = 0; offset <= 80; offset += 20) {
        const answer = await agent.result('search', { query: words, limit: 20, offset });
        if (!answer.content[0].text.startsWith('[')) break;
        for (const document of JSON.parse(answer.content[0].text)) for (const hit of document.hits) hits.add(hit.page);
      }
      const wanted = same.length <= 8 ? [at + 1] : same;
      expect(wanted.some((page) => hits.has(page)), `page ${at + 1}: ${words}`).toBe(true);
    }
  });

  test('at 200 dpi at least 95 of 100 words of each page are read, and of typed pages all that poppler finds', async () => {
    const rows: string[] = [];
    const low: string[] = [];
    for (const [at, scan] of pages.entries()) {
      const [path, number] = typedOf[at]!;
      const { text } = await pageText(withOcr, at + 1);
      const recall = wordRecall(wordsOf(typedText(path, number)), text) ?? 1;
      const row = `page ${at + 1}: ${path.split('/').pop()} p${number} ${scan === null ? 'typed' : `${scan.dpi} dpi, turned ${scan.turned ?? 0}, rotate ${scan.rotate ?? 0}`}: ${recall.toFixed(3)}`;
      rows.push(row);
      if (recall < (scan === null ? 0.97 : scan.dpi >= 200 ? 0.95 : 0.9)) low.push(row);
      if (scan?.stamp !== undefined) expect(text).toContain(stamp);
      const read = await agent.json('read_document', { document_id: withOcr.id, page: at + 1 });
      expect(read.text).toBe(text);
    }
    if (whole) console.info(rows.join('\n'));
    expect(low).toEqual([]);
  });

  test('the ocr file is a searchable PDF of the same pages, each word over its picture', async () => {
    const file = join(folder, 'ocr.pdf');
    const answer = await admin.api.raw(`/documents/${withOcr.id}/file?kind=ocr`);
    expect(answer.status).toBe(200);
    writeFileSync(file, Buffer.from(await answer.arrayBuffer()));
    expect(execFileSync('pdfinfo', [file], { encoding: 'utf8' })).toMatch(new RegExp(`^Pages:\\s+${pages.length}$`, 'm'));
    const low: string[] = [];
    const astray: string[] = [];
    for (const [at, scan] of pages.entries()) {
      const [path, number] = typedOf[at]!;
      const recall = wordRecall(wordsOf(typedText(path, number)), typedText(file, at + 1)) ?? 1;
      // Poppler loses words of lines that lean; the text that Sergo stores is held to 0.95 above.
      const isLevel = (scan?.turned ?? 0) % 90 === 0;
      if (recall < (scan === null ? 0.97 : scan.dpi >= 200 && isLevel ? 0.95 : 0.9)) low.push(`page ${at + 1}: ${recall.toFixed(3)}`);
      if (scan === null) continue;
      // Words that stand once on the page, here and there: their places must agree, as the sheet lay.
      const off = distances(placedWords(path, number), placedWords(file, at + 1), sizeOf(path, number), sizeOf(file, at + 1), scan.turned ?? 0);
      if (off.length < 20 || median(off) > 6) astray.push(`page ${at + 1}: ${off.length} words, ${median(off).toFixed(1)} points off`);
    }
    expect({ low, astray }).toEqual({ low: [], astray: [] });
  });
});

const median = (values: number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Infinity;

/** Width and height in points as the page is shown. */
function sizeOf(path: string, page: number): [number, number] {
  const info = execFileSync('pdfinfo', ['-f', String(page), '-l', String(page), path], { encoding: 'utf8' });
  const [, width, height] = /^Page\s+\d+ size:\s+([\d.]+) x ([\d.]+)/m.exec(info) ?? [];
  const isAside = /^Page\s+\d+ rot:\s+(90|270)$/m.test(info);
  return isAside ? [Number(height), Number(width)] : [Number(width), Number(height)];
}

/** How far, in points, words of the typed page lie from the same words on the sheet that was turned about its middle. */
function distances(typedWords: PlacedWord[], found: PlacedWord[], from: [number, number], to: [number, number], degrees: number): number[] {
  const once = (words: PlacedWord[]) => {
    const counts = new Map<string, number>();
    for (const { word } of words) counts.set(word, (counts.get(word) ?? 0) + 1);
    return new Map(words.filter(({ word }) => word.length > 3 && counts.get(word) === 1).map((each) => [each.word, each]));
  };
  const [cos, sin] = [Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180)];
  const there = once(found);
  return [...once(typedWords)].flatMap(([word, { x, y }]) => {
    const other = there.get(word);
    if (other === undefined) return [];
    const [dx, dy] = [x - from[0] / 2, y - from[1] / 2];
    return [Math.hypot(other.x - (to[0] / 2 + dx * cos - dy * sin), other.y - (to[1] / 2 + dx * sin + dy * cos))];
  });
}
