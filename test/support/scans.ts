import { execFileSync } from 'node:child_process';
import sharp from 'sharp';
import { line, scanPage, type PageSpec } from '../../src/formats/pdf/testing/pdf-writer.ts';

/** How a typed page was put on the scanner. */
export interface Scan {
  path: string;
  /** 1-based page of that PDF. */
  page: number;
  dpi: number;
  /** Degrees clockwise that the sheet lay turned: 90 and 180 for a wrong side up, 1 to 3 for a careless hand. */
  turned?: number;
  /** Degrees by which the PDF says its page is to be shown turned; the picture lies the other way round then. */
  rotate?: number;
  /** Typed over the picture afterwards, as numbers of exhibits and the heads of faxes are. */
  stamp?: string;
}

/** The page as a scanner makes it: poppler draws it, sharp turns it, JPEG keeps it. */
export async function scanOf({ path, page, dpi, turned = 0, rotate = 0, stamp }: Scan): Promise<PageSpec> {
  const png = execFileSync('pdftoppm', ['-q', '-r', String(dpi), '-gray', '-png', '-f', String(page), '-l', String(page), path], { maxBuffer: 1 << 28 });
  const { data, info } = await sharp(png)
    .rotate(turned - rotate, { background: 'white' })
    .toColourspace('b-w')
    .jpeg({ quality: 85 })
    .toBuffer({ resolveWithObject: true });
  const scan = scanPage(data, info.width, info.height, dpi, rotate);
  return stamp === undefined ? scan : { ...scan, content: `${String(scan.content)} ${line(stamp, 20, 10, 8)}` };
}

/** What is typed on one page, by poppler. */
export const typedText = (path: string, page: number): string =>
  execFileSync('pdftotext', ['-q', '-enc', 'UTF-8', '-f', String(page), '-l', String(page), path, '-'], { encoding: 'utf8', maxBuffer: 1 << 28 });

export interface PlacedWord {
  word: string;
  /** Middle of the word, in points from the top left of the page as it is shown. */
  x: number;
  y: number;
}

/** Where words stand on one page, by poppler. */
export function placedWords(path: string, page: number): PlacedWord[] {
  const html = execFileSync('pdftotext', ['-q', '-bbox', '-f', String(page), '-l', String(page), path, '-'], { encoding: 'utf8', maxBuffer: 1 << 28 });
  return [...html.matchAll(/<word xMin="([\d.-]+)" yMin="([\d.-]+)" xMax="([\d.-]+)" yMax="([\d.-]+)">([^<]*)<\/word>/g)].map(([, x1, y1, x2, y2, word]) => ({
    word: (word ?? '').toLowerCase().replace(/[^\p{L}\p{N}]/gu, ''),
    x: (Number(x1) + Number(x2)) / 2,
    y: (Number(y1) + Number(y2)) / 2,
  }));
}
