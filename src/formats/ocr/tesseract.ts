import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { createFileTime, type FileTime } from '../file-time.ts';
import { ChildDied, LimitHit, type Child, type Limits, type Sandbox } from '../../sandbox/types.ts';
import { writeLayerPage, type LayerPage } from './layer-page.ts';
import { turnLevel, turnQuarters, type GreyPicture } from './picture.ts';
import { estimateSkew } from './skew.ts';
import { confidenceOf, foundLines, textOf, type FoundLine } from './words.ts';

/** One picture of a page → its words, by tesseract in the sandbox: one process, kept for the pages of one owner. */

const TESSERACT = '/usr/bin/tesseract';
const PYTHON = '/usr/bin/python3';

export interface Recognised {
  /** Lines end `\n`, paragraphs are parted by a blank line. */
  text: string;
  /** The same words, invisible, where they are on the page. */
  layer: LayerPage;
}

/** One look at the picture. */
interface Reading {
  lines: FoundLine[];
  confidence: number;
  /** Quarter turns clockwise that the picture was given for it. */
  turns: 0 | 1 | 2 | 3;
  width: number;
  height: number;
}

export interface ReadingOptions {
  dpi: number;
  /** Is `osd` among the installed data? Then tesseract finds the orientation itself. */
  canOrient: boolean;
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

const answerFrame = z.object({ lines: foundLines });

/** Is what drives tesseract there? */
export const hasDriver = (): boolean => existsSync(PYTHON);

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

/** Resolves when it takes pictures. Throws LimitHit or ChildDied when it does not get there. */
export function startTesseract(sandbox: Sandbox, languages: readonly string[], limits: Partial<Limits>): Promise<Child> {
  const driver = join(import.meta.dirname, 'tesseract-driver.py');
  return sandbox.startChild({
    command: PYTHON,
    // -I: nothing from the environment or the current folder is imported; -S: nothing but Python itself is needed.
    args: ['-I', '-B', '-S', driver, languages.join('+')],
    binds: [driver],
    // More threads make one page slower and all pages together much slower (processing.md section 2).
    env: { OMP_THREAD_LIMIT: '1' },
    limits,
  });
}

/** Reads the picture as it is, and, when that looks wrong and time is left, turned as well. Throws OcrFailed. */
export async function recognise(tesseract: Child, picture: GreyPicture, options: ReadingOptions): Promise<Recognised> {
  const time = createFileTime(options.pageMs);
  // Tesseract reads a page that leans by 5 degrees with confidence and wrongly, so leaning is looked for first.
  const skew = await estimateSkew(picture);
  const degrees = Math.abs(skew) >= LEANING ? skew : 0;
  const level = degrees === 0 ? picture : await turnLevel(picture, degrees);
  const settle = (best: Reading): Recognised => settled(best, { dpi: options.dpi, degrees });
  // Looking for the orientation costs a third more, and most pages stand upright: only a doubtful one is asked for it.
  let best = await read(tesseract, level, 0, false, options, time);
  if (best.confidence >= DOUBTFUL || textOf(best.lines).length < 3) return settle(best);
  if (options.canOrient) {
    const oriented = await readAgain(tesseract, level, 0, true, options, time);
    if (oriented && oriented.confidence > best.confidence) best = oriented;
  }
  for (const turns of [1, 3, 2] as const) {
    if (best.confidence >= DOUBTFUL || !tesseract.alive) break;
    const other = await readAgain(tesseract, await turnQuarters(level, turns), turns, false, options, time);
    if (other && other.confidence > best.confidence + BETTER) best = other;
  }
  return settle(best);
}

/** What is mostly guessed is no text: a photograph must not become words. */
function settled({ lines, confidence, ...place }: Reading, more: { dpi: number; degrees: number }): Recognised {
  const kept = confidence < NOISE ? [] : lines;
  return { text: textOf(kept), layer: writeLayerPage(kept, { ...place, ...more }) };
}

/** Undefined when it fails or there is no time for it: what was read so far is then the best there is. */
const readAgain = (...args: Parameters<typeof read>): Promise<Reading | undefined> =>
  read(...args).catch((error: unknown) => {
    if (error instanceof OcrFailed) return undefined;
    throw error;
  });

async function read(tesseract: Child, { width, height, pixels }: GreyPicture, turns: Reading['turns'], orient: boolean, options: ReadingOptions, time: FileTime): Promise<Reading> {
  const { dpi, signal } = options;
  const wallMs = time.leftMs();
  if (wallMs === 0) throw new OcrFailed(tooSlow);
  try {
    const { header } = await time.run(wallMs, () => tesseract.request({ width, height, dpi, orient }, pixels, { wallMs, cpuMs: wallMs, ...(signal ? { signal } : {}) }));
    const answer = answerFrame.safeParse(header);
    if (!answer.success) throw new OcrFailed('its picture could not be read');
    const { lines } = answer.data;
    return { lines, confidence: confidenceOf(lines), turns, width, height };
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof LimitHit) throw new OcrFailed(error.killedBy === 'time' ? tooSlow : 'reading its picture needs more than is allowed');
    if (error instanceof ChildDied) throw new OcrFailed('its picture could not be read');
    throw error;
  }
}
