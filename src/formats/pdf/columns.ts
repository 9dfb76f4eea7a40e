/** Puts text that runs across columns back into column order. Coordinates as seen: x to the right, y upwards, in points. */

export interface Piece {
  /** Text of one line up to a wide gap, without the line break. */
  text: string;
  x0: number;
  x1: number;
  y0: number;
  y1: number;
}

const MIN_LINES_A_SIDE = 5;
const BIN = 2;
const MIN_GUTTER = 6;

/**
 * Lines (each a row of pieces) in the order of the file → lines in reading order, or undefined when that order is fine as
 * it is. Only pages are changed whose lines jump between two columns of running text; tables keep their rows.
 */
export function orderByColumns(lines: Piece[][], width: number): Piece[][] | undefined {
  if (lines.length < MIN_LINES_A_SIDE) return undefined;
  const all = lines.flat();
  const gutter = findGutter(all, width);
  if (gutter === undefined) return undefined;
  const sideOf = (piece: Piece): 'left' | 'right' | 'across' =>
    piece.x1 <= gutter ? 'left' : piece.x0 >= gutter ? 'right' : 'across';
  const left = all.filter((p) => sideOf(p) === 'left');
  const right = all.filter((p) => sideOf(p) === 'right');
  if (!isProse(left) || !isProse(right)) return undefined;

  let jumps = 0;
  let last: 'left' | 'right' | undefined;
  for (const piece of all) {
    const side = sideOf(piece);
    if (side === 'across') continue;
    if (last !== undefined && side !== last) jumps += 1;
    last = side;
  }
  const across = all.filter((p) => sideOf(p) === 'across').toSorted((a, b) => middle(b) - middle(a));
  // Once per column change and once or twice around a title is how a well-made file goes.
  if (jumps <= 4 + 2 * across.length || jumps < 0.3 * Math.min(left.length, right.length)) return undefined;

  const out: Piece[][] = [];
  let top = Infinity;
  for (const bar of [...across, undefined]) {
    const bottom = bar === undefined ? -Infinity : middle(bar);
    const inBand = (p: Piece): boolean => middle(p) < top && middle(p) >= bottom;
    const leftLines = toLines(left.filter(inBand));
    const rightLines = toLines(right.filter(inBand));
    out.push(...leftLines, ...(orderByColumns(rightLines, width) ?? rightLines));
    if (bar !== undefined) out.push([bar]);
    top = bottom;
  }
  return out;
}

const middle = (p: Piece): number => (p.y0 + p.y1) / 2;

/** The emptiest upright band in the middle of the text, as its middle. */
function findGutter(pieces: Piece[], width: number): number | undefined {
  const from = Math.min(...pieces.map((p) => p.x0));
  const to = Math.max(...pieces.map((p) => p.x1));
  const span = Math.min(to, width * 2) - from;
  if (!(span > 100)) return undefined;
  const bins = new Float64Array(Math.ceil(span / BIN) + 1);
  for (const piece of pieces) {
    const last = Math.min(bins.length - 1, Math.floor((piece.x1 - from) / BIN));
    for (let bin = Math.max(0, Math.floor((piece.x0 - from) / BIN)); bin <= last; bin += 1) bins[bin]! += 1;
  }
  const most = Math.max(...bins);
  const allowed = Math.max(1, most * 0.15);
  let best: { start: number; end: number } | undefined;
  let start = -1;
  const first = Math.floor(bins.length * 0.2);
  const end = Math.ceil(bins.length * 0.8);
  for (let bin = first; bin <= end; bin += 1) {
    const free = bin < end && bins[bin]! <= allowed;
    if (free && start < 0) start = bin;
    if (!free && start >= 0) {
      if (best === undefined || bin - start > best.end - best.start) best = { start, end: bin };
      start = -1;
    }
  }
  if (best === undefined || (best.end - best.start) * BIN < MIN_GUTTER) return undefined;
  return from + ((best.start + best.end) / 2) * BIN;
}

/** Running text fills its column (or half of what is still two columns); the cells of a table are short. */
function isProse(pieces: Piece[]): boolean {
  if (pieces.length < MIN_LINES_A_SIDE) return false;
  const x0 = Math.min(...pieces.map((p) => p.x0));
  const x1 = Math.max(...pieces.map((p) => p.x1));
  const full = pieces.filter((p) => p.x1 - p.x0 > 0.4 * (x1 - x0)).length;
  const meanLength = pieces.reduce((sum, p) => sum + p.text.length, 0) / pieces.length;
  return full >= pieces.length * 0.5 && meanLength >= 18;
}

/** Pieces of one column from top to bottom; those on one baseline are one line, from left to right. */
function toLines(pieces: Piece[]): Piece[][] {
  const lines: Piece[][] = [];
  for (const piece of pieces.toSorted((a, b) => middle(b) - middle(a) || a.x0 - b.x0)) {
    const line = lines.at(-1);
    const first = line?.[0];
    if (first !== undefined && Math.abs(middle(first) - middle(piece)) < 0.4 * Math.max(2, first.y1 - first.y0)) line!.push(piece);
    else lines.push([piece]);
  }
  for (const line of lines) line.sort((a, b) => a.x0 - b.x0);
  return lines;
}
