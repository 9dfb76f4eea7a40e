/** The shared corpus beside other programs: how many pages each file has, and which words stand on them. */
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Json } from './api-client.ts';
import { countFound, spelt, wordsOf } from './independent-words.ts';
import { independentTexts, pdfPages, type IndependentText } from './independent-pages.ts';
import { sharedPath } from './shared.ts';

/** Of the words that are compared. */
export const ENOUGH = 0.97;
/** A page of at least so many words must have so many of them: a whole page that is missing is little in a long file. */
const MANY_WORDS = 30;
/** Less than ENOUGH, because a page of formulas is read in another order by each program. */
const ENOUGH_OF_A_PAGE = 0.75;

export interface CorpusFile {
  name: string;
  path: string;
  /** What an independent tool counted, in the manifest's words. */
  expected: string;
}

/** What Sergo made of a file. */
export interface ReadFile extends CorpusFile {
  document: Json;
  pages: Json[];
  /** Bytes of the PDF copy, null where there is none. */
  copy: Uint8Array | null;
}

export interface Figures {
  /** Pages, slides or sheets by the other tool; null where it knows none. */
  wanted: number | null;
  /** Share of the other program's words that are on the right page, and of Sergo's that the other program has too. */
  recall: number | null;
  precision: number | null;
  /** Sentences: what is not as it should be. */
  wrong: string[];
}

interface Exception {
  why: string;
  /** Letters are compared instead of words. */
  letters?: true;
  /** Takes out of the other program's text, or of Sergo's before it is looked for there, what only that one has for this reason. */
  theirs?(text: string): string;
  ours?(text: string): string;
  /** The other program finds nothing, or something else: its text as it is known otherwise, page by page. */
  known?: string[];
  pages?: number;
  /** No program finds anything in it to compare with. */
  none?: true;
}

function without(...parts: (string | RegExp)[]): (text: string) => string {
  return (text) => parts.reduce<string>((left, part) => left.replace(part, ' '), text);
}

/** Where the other program is wrong, or does something else on purpose: few, and each for a reason. */
const exceptions: Record<string, Exception> = {
  'docx-drawingml.docx': {
    why: 'LibreOffice titles a chart without a title, and has no room for the third entry of its legend',
    theirs: without('Chart Title'),
    ours: without('Series 3'),
  },
  'docx-equations-omml.docx': { why: 'LibreOffice draws formulas as lines, not as text', ours: without(/^.*[_^=∫∬∭∮].*$/gm) },
  'pdf-encrypted-unknown-handler.pdf': { why: 'the only words are the caption of a push button, which is no text of the page', theirs: without('Security Handler') },
  'pdf-form-text-widget.pdf': {
    why: "the names of the fields stand before their values, and what is written one letter a box is read as one word",
    ours: without(/^(?:Single line, [^:\n]*|Multiline): /gm, 'abcdefghijklmnopqrstuvwxyz'),
  },
  'pdf-french-diacritics.pdf': { why: 'pdftotext reads `à À â` as one word', letters: true },
  'pdf-invisible-text-layer.pdf': { why: 'the eye does not see it: it is kept as hidden', theirs: without('Invisible OCR text layer') },
  'pdf-loop-poppler-91414.pdf': { why: 'poppler gives up: the word is in the bytes of the file', known: ['foobar'] },
  'pdf-transparency-alpha.pdf': { why: 'the eye does not see it: it is kept as hidden', theirs: without('Powered by TCPDF (www.tcpdf.org)') },
  'pptx-japanese.pptx': { why: 'pdftotext mixes lines that lie on one another: `1` and `a text box` are `a1text`', letters: true },
  'xls-sample.xls': { why: 'LibreOffice prints no page for the third sheet, which is empty', pages: 3 },
  'xlsx-corrupted.xlsx': { why: 'LibreOffice does not open it', none: true },
  'xlsx-date-formats.xlsx': { why: 'LibreOffice shows this format of dates as 09/20/2018, Excel as 9/20/2018', theirs: (text) => text.replaceAll(/\b0(\d\/)/g, '$1') },
  'xlsx-inflated-dimension.xlsx': { why: 'the titles and data of charts are read, and not in a table of the cells', ours: without(/\n\n'col-2'[^]*/) },
};

/** Their fonts name Asian encodings, which pdftotext knows from the package poppler-data. */
const inAsianEncodings = ['pdf-cjk-not-embedded-sjis.pdf', 'pdf-cjk-vertical.pdf', 'pdf-hidden-pages.pdf'];
const hasPopplerData = existsSync('/usr/share/poppler/cMap');
if (!hasPopplerData) {
  console.warn(`SKIPPED: words of ${inAsianEncodings.join(', ')}. Install poppler-data.`);
  for (const name of inAsianEncodings) exceptions[name] = { why: 'poppler-data is missing', none: true };
}

/** Refused for a reason, though another tool counts pages, slides or sheets in them. */
const refused: Record<string, RegExp> = {
  'pdf-encrypted-aes256-test.pdf': /needs a password/,
  'pptx-no-slides.pptx': /no slides/,
  'xlsx-zip-bomb-shared-strings.xlsx': /^Too large to read/,
};

const encodings: Record<string, string> = { 'txt-cp866-russian.txt': 'cp866', 'txt-multi-language.txt': 'latin1', 'msg-chinese.msg': 'big5' };
const inSheets = ['xlsx', 'xls', 'ods'];
const inMails = ['eml', 'msg'];

export async function corpusFiles(): Promise<CorpusFile[]> {
  const lines = (await readFile(sharedPath('corpus/manifest.tsv'), 'utf8')).trim().split('\n').slice(1);
  return lines.map((line) => line.split('\t')).map(([name, , , , , expected]) => ({ name: name!, path: sharedPath(`corpus/${name}`), expected: expected ?? '' }));
}

/** Slides and sheets where the file has them, else the pages that pdfinfo or LibreOffice counted. */
export function countedPages({ name, expected }: CorpusFile): number | null {
  const known = exceptions[name]?.pages;
  if (known !== undefined) return known;
  const figure = (what: string): number => Number(new RegExp(`\\b${what}=(\\d+)`).exec(expected)?.[1] ?? 0);
  return figure('sheets') || figure('slides') || figure('pages') || null;
}

/** Compares all of them at once: LibreOffice is started for a few exports only. */
export async function measureCorpus(files: readonly ReadFile[]): Promise<Map<string, Figures>> {
  const readable = files.filter(({ pages }) => pages.length > 0);
  const texts = await independentTexts(
    readable.map(({ name, path, document }) => ({ path, type: document.type, ...(encodings[name] === undefined ? {} : { encoding: encodings[name] }) })),
  );
  const folder = await mkdtemp(join(tmpdir(), 'sergo-copies-'));
  try {
    const figures = new Map<string, Figures>();
    for (const file of files) {
      const drawn = join(folder, 'copy.pdf');
      if (file.copy) await writeFile(drawn, file.copy);
      figures.set(file.name, measure(file, texts.get(file.path), file.copy ? await pdfPages(drawn) : null));
    }
    return figures;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function measure(file: ReadFile, text: IndependentText | undefined, drawn: string[] | null): Figures {
  const { name, document, pages } = file;
  const exception = exceptions[name] ?? { why: '' };
  const figures: Figures = { wanted: countedPages(file), recall: null, precision: null, wrong: [] };
  const { wrong } = figures;
  if (pages.length === 0) {
    const isExplained = document.status === 'not_indexed' && (figures.wanted === null || refused[name]?.test(document.reason));
    if (!isExplained) wrong.push(`no pages for ${figures.wanted}: ${document.reason}`);
    return figures;
  }
  if (figures.wanted === null && text && 'pages' in text) figures.wanted = text.pages.length || null;
  if (figures.wanted !== null && !document.pagesEstimated && pages.length !== figures.wanted) wrong.push(`${pages.length} pages for ${figures.wanted}`);

  const shape = exception.letters ? spelt : inSheets.includes(document.type) ? withShortWords : plain;
  const ours = pages.map(({ text: own }) => shape(own));
  const unexplained = pages.map((page) => shape((exception.ours ?? plain)(withoutOwnWords(document.type, page))));
  const theirs = (all: readonly string[]): string[] => all.map((one) => shape((exception.theirs ?? plain)(one)));
  const paged = exception.known ?? (text && 'pages' in text ? text.pages : null);
  const whole = text && 'whole' in text ? text : null;
  // A mail's copy is printed from what was read, so that it proves nothing.
  const copy = drawn && !inMails.includes(document.type) && !paged ? drawn : null;
  const byPage = paged ?? copy;
  const compared = [
    ...(byPage ? [share(theirs(byPage), ours)] : []),
    ...(whole ? [share(theirs([whole.whole]), [ours.join('\n')])] : []),
  ];
  const shares = compared.flatMap(({ found, all }) => (all === 0 ? [] : [found / all]));
  figures.recall = shares.length === 0 ? null : Math.min(...shares);
  const own = byPage ? share(unexplained, theirs(byPage)) : share([unexplained.join('\n')], theirs([`${whole?.whole ?? ''}\n${whole?.around ?? ''}`]));
  if (!exception.none && own.all > 0) figures.precision = own.found / own.all;

  for (const page of compared.flatMap(({ poor }) => poor)) wrong.push(`on page ${page} words are missing`);
  for (const page of exception.none ? [] : own.poor) wrong.push(`on page ${page} words are foreign`);
  if (figures.recall === null && figures.precision !== null) wrong.push('nothing to compare its words with');
  if (figures.recall !== null && figures.recall < ENOUGH) wrong.push(`only ${figures.recall.toFixed(3)} of the words are found`);
  if (figures.precision !== null && figures.precision < ENOUGH) wrong.push(`only ${figures.precision.toFixed(3)} of its own words are in the file`);
  return figures;
}

const plain = (text: string): string => text;

/** Cells often hold one digit: it counts as a word there. */
const withShortWords = (text: string): string => text.replaceAll(/(?<![\p{L}\p{N}])[\p{L}\p{N}](?![\p{L}\p{N}])/gu, '$&$&');

/** Without what Sergo adds on purpose: a sheet's name above it, the labels of a mail's headers and its date as people write it. */
function withoutOwnWords(type: string, { text }: Json): string {
  if (inSheets.includes(type)) return (text as string).replace(/^.*\n\n/, '');
  if (inMails.includes(type)) return (text as string).replace(/^(?:Subject|From|To|Cc|Attachments): |^Date: .*$/gm, '');
  return text;
}

/** How many of the words of each page the page beside it has, and the numbers of long pages that lack many. */
function share(from: readonly string[], to: readonly string[]): { found: number; all: number; poor: number[] } {
  const result = { found: 0, all: 0, poor: [] as number[] };
  for (const [at, text] of from.entries()) {
    const words = wordsOf(text);
    const found = countFound(words, to[at] ?? '');
    result.found += found;
    result.all += words.length;
    if (words.length >= MANY_WORDS && found < ENOUGH_OF_A_PAGE * words.length) result.poor.push(at + 1);
  }
  return result;
}
