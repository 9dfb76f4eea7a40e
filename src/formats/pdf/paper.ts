import { drawPage } from './draw.ts';
import type { Pdfium } from './pdfium.ts';
import type { Box } from './signals.ts';

/** The page as drawn, small: asked whether there is anything but white in a place. */
export interface Paper {
  /** Any ink within the box (page coordinates)? True when the page could not be drawn. */
  hasInk(box: Box): boolean;
}

const DPI = 72;
const MAX_SIDE = 1200;
const WHITE = 235;

/** `turns`: the page's /Rotate in quarter turns clockwise. */
export function drawPaper(pdfium: Pdfium, form: number, page: number, area: Box, turns: number): Paper {
  const drawing = drawPage(pdfium, form, page, { dpi: DPI, maxSidePx: MAX_SIDE });
  if (drawing === undefined) return { hasInk: () => true };
  const { width, height, rgba } = drawing;
  /** Page coordinates → shares of the picture, from its left and top. */
  const place = (x: number, y: number): [number, number] => {
    const u = (x - area.x0) / (area.x1 - area.x0);
    const v = (y - area.y0) / (area.y1 - area.y0);
    if (turns === 1) return [v, u];
    if (turns === 2) return [1 - u, v];
    if (turns === 3) return [1 - v, 1 - u];
    return [u, 1 - v];
  };
  return {
    hasInk: (box) => {
      const [u0, v0] = place(box.x0, box.y0);
      const [u1, v1] = place(box.x1, box.y1);
      const left = Math.max(0, Math.floor(Math.min(u0, u1) * width));
      const right = Math.min(width - 1, Math.ceil(Math.max(u0, u1) * width));
      const top = Math.max(0, Math.floor(Math.min(v0, v1) * height));
      const bottom = Math.min(height - 1, Math.ceil(Math.max(v0, v1) * height));
      for (let y = top; y <= bottom; y += 1) {
        for (let x = left; x <= right; x += 1) {
          const at = (y * width + x) * 4;
          if (rgba[at]! < WHITE || rgba[at + 1]! < WHITE || rgba[at + 2]! < WHITE) return true;
        }
      }
      return false;
    },
  };
}
