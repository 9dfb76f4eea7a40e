/** Reading order of boxes on a page: rows first where a gap crosses the whole width, then columns, and so on inside. */

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** The items in reading order (recursive XY cut). Boxes that overlap are read by their top, then their left edge. */
export function inReadingOrder<T extends Box>(items: T[], depth = 0): T[] {
  if (items.length < 2 || depth > 40) return items;
  const rows = partAtGaps(items, 'y', 'height');
  if (rows.length > 1) return rows.flatMap((row) => inReadingOrder(row, depth + 1));
  const columns = partAtGaps(items, 'x', 'width');
  if (columns.length > 1) return columns.flatMap((column) => inReadingOrder(column, depth + 1));
  return items.toSorted((a, b) => a.y - b.y || a.x - b.x);
}

function partAtGaps<T extends Box>(items: T[], start: 'x' | 'y', length: 'width' | 'height'): T[][] {
  const sorted = items.toSorted((a, b) => a[start] - b[start]);
  const parts: T[][] = [];
  let end = -Infinity;
  for (const item of sorted) {
    // Frames of neighbouring boxes touch or overlap a little: up to a fifth of the smaller one still counts as a gap.
    const overlap = end - item[start];
    const tolerated = Math.min(item[length], lastLength(parts, length)) * 0.2;
    if (overlap <= tolerated) parts.push([item]);
    else parts[parts.length - 1]!.push(item);
    end = Math.max(end, item[start] + item[length]);
  }
  return parts;
}

const lastLength = <T extends Box>(parts: T[][], length: 'width' | 'height'): number => {
  const last = parts[parts.length - 1];
  return last ? Math.min(...last.map((item) => item[length])) : 0;
};
