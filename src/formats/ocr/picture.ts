import sharp, { type Sharp } from 'sharp';

/** A page as OCR sees it: one byte a pixel, 0 is black, rows from the top without padding. */
export interface GreyPicture {
  width: number;
  height: number;
  pixels: Uint8Array;
}

const open = ({ width, height, pixels }: GreyPicture): Sharp => sharp(pixels, { raw: { width, height, channels: 1 } });

async function take(picture: Sharp): Promise<GreyPicture> {
  const { data, info } = await picture.toColourspace('b-w').raw().toBuffer({ resolveWithObject: true });
  return { width: info.width, height: info.height, pixels: data };
}

/** By quarter turns clockwise. */
export const turnQuarters = (picture: GreyPicture, turns: 1 | 2 | 3): Promise<GreyPicture> => take(open(picture).rotate(turns * 90));

/** Turned by so many degrees clockwise on white, as large as before: corners are cut, the middle stays in the middle. */
export async function turnLevel(picture: GreyPicture, degrees: number): Promise<GreyPicture> {
  const { width, height } = picture;
  const turned = await take(open(picture).rotate(degrees, { background: 'white' }));
  return take(
    open(turned).extract({
      left: Math.max(0, Math.floor((turned.width - width) / 2)),
      top: Math.max(0, Math.floor((turned.height - height) / 2)),
      width: Math.min(width, turned.width),
      height: Math.min(height, turned.height),
    }),
  );
}

/** Both sides at most `side` pixels. */
export const shrink = (picture: GreyPicture, side: number): Promise<GreyPicture> =>
  take(open(picture).resize({ width: side, height: side, fit: 'inside', withoutEnlargement: true }));

/** The shade half-way between the darkest and the lightest hundredth of it: what is darker is ink. */
export function inkShade({ pixels }: GreyPicture): number {
  const counts = new Uint32Array(256);
  for (let at = 0; at < pixels.length; at += 1) counts[pixels[at]!]! += 1;
  const few = pixels.length / 100;
  let dark = 0;
  for (let seen = counts[0]!; seen <= few && dark < 255; seen += counts[dark]!) dark += 1;
  let light = 255;
  for (let seen = counts[255]!; seen <= few && light > 0; seen += counts[light]!) light -= 1;
  return light > dark ? (dark + light) / 2 : 128;
}
