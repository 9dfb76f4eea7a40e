import { inkShade, shrink, type GreyPicture } from './picture.ts';

/** How far lines of text lean, found from where their ink falls: rows are darkest and gaps lightest at the right angle. */

const SIDE = 600;
const COARSE = 1;
const FINE = 0.5;
const MAX_DEGREES = 12;

/** Degrees by which the picture must be turned clockwise to be level, between -12 and 12; 0 when nothing speaks for another. */
export async function estimateSkew(picture: GreyPicture): Promise<number> {
  const small = await shrink(picture, SIDE);
  const { pixels, width, height } = small;
  const ink = inkShade(small);
  const xs: number[] = [];
  const ys: number[] = [];
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      if (pixels[y * width + x]! < ink) {
        xs.push(x);
        ys.push(y);
      }
    }
  }
  // Nothing there, or a photograph.
  if (xs.length < 200 || xs.length > width * height * 0.5) return 0;
  const rows = new Float64Array(height + 2 * width);
  const sharpness = (degrees: number): number => {
    rows.fill(0);
    const slope = Math.tan((degrees * Math.PI) / 180);
    for (let i = 0; i < xs.length; i += 1) rows[Math.round(ys[i]! + xs[i]! * slope) + width]! += 1;
    let sum = 0;
    for (let i = 1; i < rows.length; i += 1) sum += (rows[i]! - rows[i - 1]!) ** 2;
    return sum;
  };
  let best = 0;
  const level = sharpness(0);
  let most = level;
  const look = (from: number, to: number, step: number): void => {
    for (let degrees = from; degrees <= to; degrees += step) {
      const found = sharpness(degrees);
      if (found > most) [best, most] = [degrees, found];
    }
  };
  look(-MAX_DEGREES, MAX_DEGREES, COARSE);
  look(best - COARSE + FINE, best + COARSE - FINE, FINE);
  // A page without lines has no right angle: small differences say nothing.
  return most > level * 1.1 ? best : 0;
}
