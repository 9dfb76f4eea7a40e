import sharp from 'sharp';

/** How far lines of text lean, found from where their ink falls: rows are darkest and gaps lightest at the right angle. */

const SIDE = 600;
const COARSE = 1;
const FINE = 0.5;
const MAX_DEGREES = 12;

/** Degrees by which the picture must be turned clockwise to be level, between -12 and 12; 0 when nothing speaks for another. */
export async function estimateSkew(png: Uint8Array): Promise<number> {
  const { data, info } = await sharp(png)
    .resize({ width: SIDE, height: SIDE, fit: 'inside', withoutEnlargement: true })
    .greyscale()
    .normalise()
    .raw()
    .toBuffer({ resolveWithObject: true });
  const { width, height } = info;
  const xs: number[] = [];
  const ys: number[] = [];
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      if (data[y * width + x]! < 128) {
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

/** Turned by so many degrees clockwise on white, as large as before: corners are cut, the middle stays in the middle. */
export async function turnLevel(png: Uint8Array, degrees: number): Promise<Uint8Array> {
  const { width, height } = await sharp(png).metadata();
  const turned = await sharp(png).rotate(degrees, { background: 'white' }).png({ compressionLevel: 0 }).toBuffer({ resolveWithObject: true });
  return sharp(turned.data)
    .extract({
      left: Math.max(0, Math.floor((turned.info.width - width) / 2)),
      top: Math.max(0, Math.floor((turned.info.height - height) / 2)),
      width: Math.min(width, turned.info.width),
      height: Math.min(height, turned.info.height),
    })
    .png({ compressionLevel: 1 })
    .toBuffer();
}
