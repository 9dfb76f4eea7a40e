import { deflateSync } from 'node:zlib';
import type { Ends, FoundLine } from './words.ts';

/** The invisible words of one page, as the content of a page of a PDF. */
export interface LayerPage {
  /** In points, as the picture was read. */
  width: number;
  height: number;
  /** Degrees clockwise by which the page has to be turned to lie as the picture was before it was turned for reading. */
  rotate: 0 | 90 | 180 | 270;
  /** Deflated. Uses the font `/F`, whose codes are UTF-16 and whose characters are all half as wide as they are high. */
  content: Uint8Array;
}

export interface PicturePlace {
  width: number;
  height: number;
  dpi: number;
  /** Quarter turns clockwise that the picture was given. */
  turns: 0 | 1 | 2 | 3;
  /** Degrees clockwise by which it was levelled after that: its words go back to where the page leans. */
  degrees: number;
}

const CHARACTER_WIDTH = 0.5;
/** A line that rises by less than this is meant to be level (2 points). */
const LEVEL_POINTS = 2;
/** Some scripts are given no size. */
const DEFAULT_SIZE = 8;
const RIGHT_TO_LEFT = /^[^\p{L}]*[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}]/u;

export function writeLayerPage(lines: readonly FoundLine[], place: PicturePlace): LayerPage {
  const scale = 72 / place.dpi;
  const [width, height] = [place.width * scale, place.height * scale];
  const [cos, sin] = [Math.cos((place.degrees * Math.PI) / 180), Math.sin((place.degrees * Math.PI) / 180)];
  const content: string[] = ['BT 3 Tr'];
  for (const line of lines) {
    const [lineX, lineY, lineX2, lineY2] = line.baseline.map((pixels) => pixels * scale) as Ends;
    const isLevel = Math.abs(lineY2 - lineY) < LEVEL_POINTS;
    // From the top left to the bottom left: y goes the other way.
    const angle = isLevel ? (lineX2 < lineX ? Math.PI : 0) : Math.atan2(lineY - lineY2, lineX2 - lineX);
    for (const { text, baseline, points } of line.words) {
      const isBackward = RIGHT_TO_LEFT.test(text);
      const [x1, y1, x2, y2] = baseline.map((pixels) => pixels * scale) as Ends;
      const [x, y] = isBackward ? [x2, y2] : [x1, y1];
      const length = Math.hypot(x2 - x1, y2 - y1);
      if (length === 0) continue;
      // Words of a level line stand on one height, so that they are read as one line.
      const [fromMiddleX, fromMiddleY] = [x - width / 2, height / 2 - (isLevel ? (lineY + lineY2) / 2 : y)];
      // Their places lean with the page; they stay level themselves, since readers of PDFs lose those that lean.
      const at = [width / 2 + fromMiddleX * cos - fromMiddleY * sin, height / 2 + fromMiddleX * sin + fromMiddleY * cos];
      const [a, b] = [Math.cos(angle), Math.sin(angle)];
      const forward = isBackward ? [-a, -b] : [a, b];
      const size = points > 0 ? points : DEFAULT_SIZE;
      const stretch = (100 * length) / (size * CHARACTER_WIDTH * text.length);
      const matrix = [...forward, -b, a, ...at].map(short).join(' ');
      content.push(`${matrix} Tm /F ${short(size)} Tf ${short(stretch)} Tz <${utf16(text)}0020> Tj`);
    }
  }
  content.push('ET');
  const rotate = ((4 - place.turns) % 4) * 90;
  return { width: short(width), height: short(height), rotate: rotate as LayerPage['rotate'], content: deflateSync(Buffer.from(content.join('\n'), 'latin1')) };
}

/** PDF knows no exponents. */
const short = (value: number): number => Number(value.toFixed(3)) + 0;

const utf16 = (text: string): string => Buffer.from(text, 'utf16le').swap16().toString('hex');
