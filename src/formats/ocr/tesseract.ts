import sharp from 'sharp';
import { createFileTime, type FileTime } from '../file-time.ts';
import { estimateSkew, turnLevel } from './skew.ts';
import { tiltLayer } from './tilt.ts';
import type { Limits, Sandbox } from '../../sandbox/types.ts';

/** One picture of a page → its words, by one tesseract process in the sandbox. */

export const TESSERACT = '/usr/bin/tesseract';

export interface Recognised {
  /** Lines end `\n`, paragraphs are parted by a blank line. */
  text: string;
  /** Mean confidence of the words, 0 to 100; 0 without words. */
  confidence: number;
  /** A one-page PDF with nothing but the invisible words, as large as the picture at its dpi. */
  layer: Uint8Array;
  /** Quarter turns clockwise that the picture was given before it was read; the layer is turned like it. */
  turns: 0 | 1 | 2 | 3;
}

export interface TesseractOptions {
  languages: string[];
  dpi: number;
  /** Is `osd` among the installed data? Then tesseract finds the orientation itself. */
  canOrient: boolean;
  limits: Partial<Limits>;
  signal?: AbortSignal | undefined;
  /** Wall time for all readings of one page together. */
  pageMs: number;
}

/** Below this the page is probably turned, or no text at all. */
const DOUBTFUL = 70;
/** Degrees from which a page is levelled; tesseract itself copes with less. */
const LEANING = 1.5;
/** A turned reading has to be better by so much. */
const BETTER = 15;
const tooSlow = 'reading its picture takes too long';
/** Words below this are scratches and shading, not text. */
const NOISE = 30;

/** Thrown for one page; the others go on. */
export class OcrFailed extends Error {}
class OcrTooSlow extends OcrFailed {}

/** Names of installed languages; empty where tesseract is missing. */
export async function listLanguages(sandbox: Sandbox): Promise<string[]> {
  const result = await sandbox.runTool({ command: TESSERACT, args: ['--list-langs'], limits: { wallMs: 20_000 } });
  if (result.code !== 0) return [];
  return Buffer.from(result.stdout)
    .toString('utf8')
    .split('\n')
    .slice(1)
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

/** Reads the picture as it is, and, when that looks wrong and time is left, turned as well. Throws OcrFailed. */
export async function recognise(sandbox: Sandbox, png: Uint8Array, options: TesseractOptions): Promise<Recognised> {
  const time = createFileTime(options.pageMs);
  // Tesseract reads a page that leans by 5 degrees with confidence and wrongly, so leaning is looked for first.
  const skew = await estimateSkew(png);
  const isLeaning = Math.abs(skew) >= LEANING;
  const level = isLeaning ? await turnLevel(png, skew) : png;
  const settle = (page: Recognised): Recognised => settled({ ...page, layer: tiltLayer(page.layer, isLeaning ? skew : 0) });
  // Looking for the orientation costs a third more, and most pages stand upright: only a doubtful one is asked for it.
  let best = await run(sandbox, level, 0, false, options, time);
  if (best.confidence >= DOUBTFUL || best.text.length < 3) return settle(best);
  if (options.canOrient) {
    const oriented = await runAgain(sandbox, level, 0, true, options, time);
    if (oriented && oriented.confidence > best.confidence) best = oriented;
  }
  for (const turns of [1, 3, 2] as const) {
    if (best.confidence >= DOUBTFUL) break;
    const turned = await sharp(level).rotate(turns * 90).png({ compressionLevel: 1 }).toBuffer();
    const other = await runAgain(sandbox, turned, turns, false, options, time);
    if (other && other.confidence > best.confidence + BETTER) best = other;
  }
  return settle(best);
}

/** What is mostly guessed is no text: a photograph must not become words. */
function settled(page: Recognised): Recognised {
  return page.confidence < NOISE ? { ...page, text: '' } : page;
}

/** Undefined when there is no time for it: what was read so far is then the best there is. */
const runAgain = (...args: Parameters<typeof run>): Promise<Recognised | undefined> =>
  run(...args).catch((error: unknown) => {
    if (error instanceof OcrTooSlow) return undefined;
    throw error;
  });

async function run(sandbox: Sandbox, png: Uint8Array, turns: Recognised['turns'], orient: boolean, options: TesseractOptions, time: FileTime): Promise<Recognised> {
  const wallMs = time.leftMs();
  if (wallMs === 0) throw new OcrTooSlow(tooSlow);
  const result = await time.run(wallMs, () => sandbox.runTool({
    command: TESSERACT,
    args: [
      '{in}/page.png', '{out}/page',
      '-l', options.languages.join('+'),
      // 1 finds the orientation and the blocks, 3 the blocks only.
      '--psm', orient ? '1' : '3',
      '--dpi', String(options.dpi),
      '-c', 'textonly_pdf=1',
      'txt', 'pdf', 'tsv',
    ],
    files: [{ name: 'page.png', bytes: png }],
    outputs: true,
    // More threads make one page slower and all pages together much slower (processing.md section 2).
    env: { OMP_THREAD_LIMIT: '1' },
    limits: { ...options.limits, wallMs },
    ...(options.signal ? { signal: options.signal } : {}),
  }));
  options.signal?.throwIfAborted();
  if (result.killedBy === 'time') throw new OcrTooSlow(tooSlow);
  if (result.killedBy !== undefined) throw new OcrFailed('reading its picture needs more than is allowed');
  const file = (name: string): Uint8Array | undefined => result.outputs.find((output) => output.name === name)?.bytes;
  const layer = file('page.pdf');
  const text = file('page.txt');
  const table = file('page.tsv');
  if (result.code !== 0 || layer === undefined || text === undefined || table === undefined) {
    throw new OcrFailed('its picture could not be read');
  }
  return { text: clean(Buffer.from(text).toString('utf8')), confidence: meanConfidence(Buffer.from(table).toString('utf8')), layer, turns };
}

function clean(text: string): string {
  return text
    .replaceAll('\f', '')
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();
}

/** Column 11 (`conf`) of the word rows (level 5), weighted by the length of the word. */
function meanConfidence(table: string): number {
  let sum = 0;
  let weight = 0;
  for (const row of table.split('\n')) {
    const columns = row.split('\t');
    if (columns[0] !== '5') continue;
    const length = columns[11]?.trim().length ?? 0;
    sum += Number(columns[10]) * length;
    weight += length;
  }
  return weight === 0 ? 0 : sum / weight;
}
