import type { Pdfium } from './pdfium.ts';

/** What is drawn on a page beside text: enough to say whether its text may miss something (seeds/000, "Pages to view"). */

export interface Box {
  x0: number;
  y0: number;
  x1: number;
  y1: number;
}

export interface Signals {
  /** Share of the page that pictures cover, 0 to 1, clipped to the page. */
  pictureShare: number;
  /** Drawn lines, thin bars and curves: rules of tables, axes, charts, diagrams. */
  drawnLines: number;
  /** Anything drawn that is not text: pictures, paths with ink, shadings. */
  drawnThings: number;
  /** Dark or coloured areas and pictures, on which white text can be read. */
  inked: Box[];
  /** The picture that covers most of the page, as long as the page is open; undefined when none covers a quarter of it. */
  largest: number | undefined;
}

const TEXT = 1;
const PATH = 2;
const IMAGE = 3;
const SHADING = 4;
const FORM = 5;
const GRID = 32;
/** Beyond this the page is full of drawing anyway. */
const MAX_OBJECTS = 20_000;
const MAX_DEPTH = 8;
const MAX_INKED = 2000;
const THIN = 2.5;
const LARGE = 0.25;

type Matrix = readonly [number, number, number, number, number, number];
const IDENTITY: Matrix = [1, 0, 0, 1, 0, 0];

export function readSignals(pdfium: Pdfium, page: number, area: Box): Signals {
  const { call, scratch } = pdfium;
  const covered = new Uint8Array(GRID * GRID);
  const signals: Signals = { pictureShare: 0, drawnLines: 0, drawnThings: 0, inked: [], largest: undefined };
  let largest = areaOf(area) * LARGE;
  const at = scratch >> 2;
  let seen = 0;

  const boxOf = (object: number, matrix: Matrix): Box | undefined => {
    if (call.FPDFPageObj_GetBounds(object, scratch, scratch + 4, scratch + 8, scratch + 12) === 0) return undefined;
    const floats = pdfium.floats();
    const box = { x0: floats[at]!, y0: floats[at + 1]!, x1: floats[at + 2]!, y1: floats[at + 3]! };
    return clip(matrix === IDENTITY ? box : transform(box, matrix), area);
  };

  const onPath = (object: number, matrix: Matrix): void => {
    call.FPDFPath_GetDrawMode(object, scratch, scratch + 4);
    const fills = pdfium.ints()[at] !== 0;
    const strokes = pdfium.ints()[at + 1] !== 0;
    if (!fills && !strokes) return;
    const box = boxOf(object, matrix);
    if (box === undefined) return;
    const white = isWhite(pdfium, strokes ? call.FPDFPageObj_GetStrokeColor : call.FPDFPageObj_GetFillColor, object);
    if (fills && !isWhite(pdfium, call.FPDFPageObj_GetFillColor, object)) {
      if (signals.inked.length < MAX_INKED) signals.inked.push(box);
    } else if (white) return;
    signals.drawnThings += 1;
    const segments = call.FPDFPath_CountSegments(object);
    if (strokes) signals.drawnLines += Math.max(1, Math.ceil(segments / 2));
    else if (Math.min(box.x1 - box.x0, box.y1 - box.y0) < THIN || segments > 8) signals.drawnLines += 1;
  };

  const walk = (count: number, get: (index: number) => number, matrix: Matrix, depth: number): void => {
    for (let index = 0; index < count && seen < MAX_OBJECTS; index += 1) {
      const object = get(index);
      if (object === 0) continue;
      seen += 1;
      const type = call.FPDFPageObj_GetType(object);
      if (type === TEXT) continue;
      if (type === PATH) onPath(object, matrix);
      else if (type === IMAGE || type === SHADING) {
        const box = boxOf(object, matrix);
        if (box === undefined) continue;
        signals.drawnThings += 1;
        if (signals.inked.length < MAX_INKED) signals.inked.push(box);
        if (type !== IMAGE) continue;
        cover(covered, box, area);
        if (areaOf(box) > largest) [signals.largest, largest] = [object, areaOf(box)];
      } else if (type === FORM && depth < MAX_DEPTH) {
        let inner = matrix;
        if (call.FPDFPageObj_GetMatrix(object, scratch) !== 0) {
          inner = multiply([...pdfium.floats().subarray(at, at + 6)] as unknown as Matrix, matrix);
        }
        walk(call.FPDFFormObj_CountObjects(object), (i) => call.FPDFFormObj_GetObject(object, i), inner, depth + 1);
      }
    }
  };
  walk(call.FPDFPage_CountObjects(page), (i) => call.FPDFPage_GetObject(page, i), IDENTITY, 0);
  signals.pictureShare = covered.reduce((sum, cell) => sum + cell, 0) / covered.length;
  return signals;
}

/** Nearly white, or fully transparent: no ink on white paper. */
export function isWhite(pdfium: Pdfium, get: (o: number, r: number, g: number, b: number, a: number) => number, object: number): boolean {
  const { scratch } = pdfium;
  if (get(object, scratch, scratch + 4, scratch + 8, scratch + 12) === 0) return false;
  // Asked of every piece of text: read one by one, which takes a tenth of a destructured subarray.
  const ints = pdfium.ints();
  const at = scratch >> 2;
  return ints[at + 3] === 0 || (ints[at]! >= 250 && ints[at + 1]! >= 250 && ints[at + 2]! >= 250);
}

const areaOf = (box: Box): number => (box.x1 - box.x0) * (box.y1 - box.y0);

function clip(box: Box, area: Box): Box | undefined {
  const out = {
    x0: Math.max(box.x0, area.x0),
    y0: Math.max(box.y0, area.y0),
    x1: Math.min(box.x1, area.x1),
    y1: Math.min(box.y1, area.y1),
  };
  // A line has no width of its own; NaN from a broken matrix is nowhere.
  return out.x1 >= out.x0 && out.y1 >= out.y0 ? out : undefined;
}

function cover(cells: Uint8Array, box: Box, area: Box): void {
  const width = (area.x1 - area.x0) / GRID;
  const height = (area.y1 - area.y0) / GRID;
  for (let row = 0; row < GRID; row += 1) {
    const y = area.y0 + (row + 0.5) * height;
    if (y < box.y0 || y > box.y1) continue;
    for (let column = 0; column < GRID; column += 1) {
      const x = area.x0 + (column + 0.5) * width;
      if (x >= box.x0 && x <= box.x1) cells[row * GRID + column] = 1;
    }
  }
}

function multiply(m: Matrix, n: Matrix): Matrix {
  return [
    m[0] * n[0] + m[1] * n[2],
    m[0] * n[1] + m[1] * n[3],
    m[2] * n[0] + m[3] * n[2],
    m[2] * n[1] + m[3] * n[3],
    m[4] * n[0] + m[5] * n[2] + n[4],
    m[4] * n[1] + m[5] * n[3] + n[5],
  ];
}

function transform(box: Box, m: Matrix): Box {
  const xs: number[] = [];
  const ys: number[] = [];
  for (const x of [box.x0, box.x1]) {
    for (const y of [box.y0, box.y1]) {
      xs.push(m[0] * x + m[2] * y + m[4]);
      ys.push(m[1] * x + m[3] * y + m[5]);
    }
  }
  return { x0: Math.min(...xs), y0: Math.min(...ys), x1: Math.max(...xs), y1: Math.max(...ys) };
}
