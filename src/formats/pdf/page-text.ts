import { orderByColumns, type Piece } from './columns.ts';
import { HYPHEN_MARK, markHyphens } from './hyphens.ts';
import type { Pdfium } from './pdfium.ts';
import type { Paper } from './paper.ts';
import { newVisualOrder } from './visual-order.ts';
import { isWhite, type Box, type Signals } from './signals.ts';

/** The text layer of one page, what the eye sees apart from what it does not. */

export interface PageText {
  /** Reading order, lines end `\n`; end-of-line hyphens are still marks (hyphens.ts). */
  text: string;
  /** White on white, no size, outside the page, or invisible without a picture over the page. */
  hidden: string;
  /** Characters of `text` that PDFium could not map to Unicode. */
  unmapped: number;
  /** `text` has invisible words over a picture: somebody recognised it before. */
  isLayer: boolean;
}

const INVISIBLE = 3;
const INVISIBLE_CLIP = 7;
/** Invisible text over a picture of at least this share of the page is the page's own text (an OCR layer). */
export const SCAN_SHARE = 0.5;
/** Nobody reads letters lower than this (points). */
const SMALLEST = 0.9;
const WIDE_GAP = 1;
/** Below it a code without a mapping is one byte of a simple font, and nearly always the Latin letter itself. */
const GLYPHS_FROM = 0x100;
/** Of the character's height: any more than this between a base and its script is a space. */
const SCRIPT_GAP = 0.02;

interface Line {
  pieces: Piece[];
}

/** What is only found out when a page needs it. */
export interface Looks {
  signals(): Signals;
  /** The drawn page: is there ink behind a character? */
  paper(): Paper;
}

/** `area` is the visible box of the page, `turns` its /Rotate in quarter turns clockwise. */
export function readPageText(pdfium: Pdfium, textPage: number, area: Box, turns: number, looks: Looks): PageText {
  const { call, scratch } = pdfium;
  const count = call.FPDFText_CountChars(textPage);
  const at = scratch >> 3;
  const lines: Line[] = [];
  let hidden = '';
  let unmapped = 0;
  let isLayer = false;
  let pieces: Piece[] = [];
  let piece: Piece | undefined;
  let pendingSpace = false;
  // PDFium starts a line for every raised or lowered character; whether it is one shows with the next character.
  let pendingBreak = false;
  let lastIndex = 0;
  const rightToLeft = newVisualOrder();
  let lastTop = 0;
  let lastBottom = 0;
  let isMostlyUnmapped: boolean | undefined;
  const states = new Map<number, ObjectState>();
  let lastObject = 0;
  let state: ObjectState = 'seen';

  const endLine = (): void => {
    if (pieces.length > 0) lines.push({ pieces });
    else if (lines.at(-1)?.pieces.length !== 0) lines.push({ pieces: [] });
    pieces = [];
    piece = undefined;
    pendingSpace = false;
    if (hidden !== '' && !hidden.endsWith('\n')) hidden += '\n';
  };

  for (let i = 0; i < count; i += 1) {
    const code = call.FPDFText_GetUnicode(textPage, i);
    if (code === 13 || code === 0) {
      if (code === 0) unmapped += 1;
      continue;
    }
    if (code === 10) {
      if (pendingBreak || piece === undefined) endLine();
      pendingBreak = piece !== undefined;
      continue;
    }
    if (code === 32 || code === 0xa0) {
      if (!pendingBreak) pendingSpace = piece !== undefined;
      if (hidden !== '' && !/\s$/.test(hidden)) hidden += ' ';
      continue;
    }
    if (code >= GLYPHS_FROM && call.FPDFText_HasUnicodeMapError(textPage, i) === 1 && !(isMostlyUnmapped ??= unmappedShare(pdfium, textPage, count) > 0.5)) {
      unmapped += 1;
      continue;
    }
    const object = call.FPDFText_GetTextObject(textPage, i);
    if (object !== lastObject) {
      lastObject = object;
      state = states.get(object) ?? stateOf(pdfium, object);
      states.set(object, state);
    }
    call.FPDFText_GetCharBox(textPage, i, scratch, scratch + 8, scratch + 16, scratch + 24);
    const doubles = pdfium.doubles();
    const left = doubles[at]!;
    const right = doubles[at + 1]!;
    const bottom = doubles[at + 2]!;
    const top = doubles[at + 3]!;
    const char = code === 2 || code === 0xfffe ? HYPHEN_MARK : code > 0xffff ? String.fromCodePoint(code) : String.fromCharCode(code);
    const x = (left + right) / 2;
    const y = (bottom + top) / 2;
    const isOutside = x < area.x0 || x > area.x1 || y < area.y0 || y > area.y1;
    if (isOutside || (state !== 'seen' && isHidden(state, { x0: left, y0: bottom, x1: right, y1: top }, area, looks))) {
      if (pendingBreak) {
        pendingBreak = false;
        endLine();
      }
      hidden += char;
      continue;
    }
    if (state === 'invisible') isLayer = true;
    if (code < 32 && code !== 2) unmapped += 1;
    // Seen coordinates: turned with the page, x to the right and y upwards.
    let x0 = left;
    let x1 = right;
    let y0 = bottom;
    let y1 = top;
    if (turns === 1) [x0, x1, y0, y1] = [bottom, top, -right, -left];
    else if (turns === 2) [x0, x1, y0, y1] = [-right, -left, -top, -bottom];
    else if (turns === 3) [x0, x1, y0, y1] = [-top, -bottom, left, right];
    if (pendingBreak && piece !== undefined) {
      const gap = turnedGap(pdfium, textPage, lastIndex, i);
      if (gap !== undefined) {
        pendingBreak = false;
        if (gap > 0.3) pendingSpace = true;
      }
    }
    if (pendingBreak) {
      pendingBreak = false;
      if (piece === undefined || !continuesLine(piece, lastTop, lastBottom, x0, y0, y1)) endLine();
      else if (advanceGap(pdfium, textPage, lastIndex, i) > SCRIPT_GAP * (lastTop - lastBottom)) pendingSpace = true;
    }
    lastIndex = i;
    lastTop = y1;
    lastBottom = y0;
    if (piece === undefined || x0 - piece.x1 > WIDE_GAP * Math.max(6, piece.y1 - piece.y0)) {
      // The gap keeps its space, so that joining the pieces gives the line as it was.
      if (piece !== undefined && pendingSpace) piece.text += ' ';
      piece = { text: char, x0, x1, y0, y1 };
      pieces.push(piece);
    } else {
      piece.text += pendingSpace ? ` ${char}` : char;
      if (x0 < piece.x0) piece.x0 = x0;
      if (x1 > piece.x1) piece.x1 = x1;
      if (y0 < piece.y0) piece.y0 = y0;
      if (y1 > piece.y1) piece.y1 = y1;
    }
    pendingSpace = false;
    rightToLeft.add(piece, char, (x0 + x1) / 2);
    // The mark stands for hyphen and line break: what follows is on the next line.
    if (char === HYPHEN_MARK && pieces.length > 0) {
      lines.push({ pieces });
      pieces = [];
      piece = undefined;
    }
  }
  endLine();
  rightToLeft.end();
  const rows = lines.map((line) => line.pieces);
  const ordered = orderByColumns(rows.filter((row) => row.length > 0), area.x1 - area.x0) ?? rows;
  return { text: markHyphens(joinRows(ordered)), hidden: hidden.trim(), unmapped, isLayer };
}

/**
 * Where a font does not say what a glyph stands for, PDFium hands out the glyph's number as if it were a character. A page that is full of
 * them may have numbers that are characters, or is found to be garbled as a whole.
 */
function unmappedShare({ call }: Pdfium, textPage: number, count: number): number {
  let visible = 0;
  let wrong = 0;
  for (let i = 0; i < count; i += 1) {
    if (call.FPDFText_GetUnicode(textPage, i) <= 32) continue;
    visible += 1;
    wrong += call.FPDFText_HasUnicodeMapError(textPage, i);
  }
  return visible === 0 ? 0 : wrong / visible;
}

/** Points from where one character's advance ends to where the other begins: glyph boxes lean over their advance. */
function advanceGap(pdfium: Pdfium, textPage: number, before: number, after: number): number {
  const { call, scratch } = pdfium;
  const at = scratch >> 2;
  if (call.FPDFText_GetLooseCharBox(textPage, before, scratch) === 0) return 0;
  const [left0, top0, right0, bottom0] = pdfium.floats().slice(at, at + 4) as unknown as [number, number, number, number];
  if (call.FPDFText_GetLooseCharBox(textPage, after, scratch) === 0) return 0;
  const [left1, top1, right1, bottom1] = pdfium.floats().slice(at, at + 4) as unknown as [number, number, number, number];
  const across = Math.max(left1 - right0, left0 - right1);
  const along = Math.max(bottom1 - top0, bottom0 - top1);
  return Math.max(across, along);
}

const TURNED = [Math.PI / 2, (3 * Math.PI) / 2];

/**
 * Letters that stand on one another because their word is turned by a quarter (the title of an axis, a table's head): each may be drawn
 * alone, and PDFium then starts a line for each. How far this one is from the last, in heights of a letter; undefined when it does not follow.
 */
function turnedGap(pdfium: Pdfium, textPage: number, before: number, index: number): number | undefined {
  const { call } = pdfium;
  const last = boxOf(pdfium, textPage, before);
  const box = boxOf(pdfium, textPage, index);
  // No further apart than two letters: all others are spared the questions.
  const size = Math.max(6, Math.min(box.x1 - box.x0, last.x1 - last.x0));
  const down = last.y0 - box.y1;
  const up = box.y0 - last.y1;
  if (Math.max(down, up) > size || Math.min(last.x1, box.x1) - Math.max(last.x0, box.x0) < 0.3 * Math.min(last.x1 - last.x0, box.x1 - box.x0)) return undefined;
  const angle = call.FPDFText_GetCharAngle(textPage, index);
  const turn = TURNED.findIndex((each) => Math.abs(each - angle) < 0.05);
  if (turn < 0 || Math.abs(call.FPDFText_GetCharAngle(textPage, before) - angle) > 0.05) return undefined;
  const gap = (turn === 0 ? down : up) / size;
  return gap > -0.5 && gap < 0.7 ? gap : undefined;
}

function boxOf(pdfium: Pdfium, textPage: number, index: number): Box {
  const { scratch } = pdfium;
  pdfium.call.FPDFText_GetCharBox(textPage, index, scratch, scratch + 8, scratch + 16, scratch + 24);
  const doubles = pdfium.doubles();
  const at = scratch >> 3;
  // In the order of the call: left, right, bottom, top.
  return { x0: doubles[at]!, x1: doubles[at + 1]!, y0: doubles[at + 2]!, y1: doubles[at + 3]! };
}

/** Right behind what stands there and at least partly beside it: a superscript or what follows one, not a new line. */
function continuesLine(piece: Piece, lastTop: number, lastBottom: number, x0: number, y0: number, y1: number): boolean {
  const height = Math.max(piece.y1 - piece.y0, 1);
  const gap = x0 - piece.x1;
  if (gap > 0.5 * height || gap < -0.3 * height) return false;
  const overlap = (a0: number, a1: number): number => Math.min(a1, y1) - Math.max(a0, y0);
  const lower = Math.min(y1 - y0, height) * 0.2;
  return overlap(lastBottom, lastTop) > lower || overlap(piece.y0, piece.y1) > lower;
}

function joinRows(rows: Piece[][]): string {
  let out = '';
  for (const row of rows) {
    const line = row.map((piece) => piece.text).join('');
    out += line.trimEnd();
    if (!out.endsWith(HYPHEN_MARK)) out += '\n';
  }
  return out.replaceAll(/\n{3,}/g, '\n\n').trim();
}

type ObjectState = 'seen' | 'invisible' | 'white' | 'tiny';

function stateOf(pdfium: Pdfium, object: number): ObjectState {
  if (object === 0) return 'seen';
  const mode = pdfium.call.FPDFTextObj_GetTextRenderMode(object);
  if (mode === INVISIBLE || mode === INVISIBLE_CLIP) return 'invisible';
  // Modes 1 and 5 draw the outline alone.
  const colour = mode === 1 || mode === 5 ? pdfium.call.FPDFPageObj_GetStrokeColor : pdfium.call.FPDFPageObj_GetFillColor;
  if (isWhite(pdfium, colour, object)) return 'white';
  return fontSize(pdfium, object) < SMALLEST ? 'tiny' : 'seen';
}

/** Points, as far as the object's own matrix goes; a form around it may enlarge it, so the glyph's box is looked at too. */
function fontSize(pdfium: Pdfium, object: number): number {
  const { call, scratch } = pdfium;
  if (call.FPDFTextObj_GetFontSize(object, scratch) === 0) return Infinity;
  const size = pdfium.floats()[scratch >> 2]!;
  if (call.FPDFPageObj_GetMatrix(object, scratch) === 0) return size;
  const floats = pdfium.floats();
  const at = scratch >> 2;
  // [a b c d]: how much larger the matrix makes an area.
  const area = floats[at]! * floats[at + 3]! - floats[at + 1]! * floats[at + 2]!;
  return Math.abs(size) * Math.sqrt(Math.abs(area));
}

/** Text inside the visible `area` that is not plainly seen. */
function isHidden(state: Exclude<ObjectState, 'seen'>, box: Box, area: Box, looks: Looks): boolean {
  if (state === 'invisible') return looks.signals().pictureShare < SCAN_SHARE;
  if (state === 'tiny') return Math.max(box.y1 - box.y0, box.x1 - box.x0) < SMALLEST && area.y1 - area.y0 > 50;
  const x = (box.x0 + box.x1) / 2;
  const y = (box.y0 + box.y1) / 2;
  // Drawing costs more than the rest of the page together, so the known dark areas are asked first.
  const onInk = looks.signals().inked.some((inked) => x >= inked.x0 && x <= inked.x1 && y >= inked.y0 && y <= inked.y1);
  return !onInk && !looks.paper().hasInk(box);
}
