import { deflateSync } from 'node:zlib';
import type { Metadata, OutputInfo, Sharp } from 'sharp';

/** One frame of a picture as the stream of a PDF image. */

export interface FrameStream {
  width: number;
  height: number;
  /** Pixels an inch, for the size on paper. */
  dpi: number;
  /** PDF: colour space, bits and filter of `bytes`. */
  colours: 'DeviceGray' | 'DeviceRGB';
  bits: 1 | 8;
  filter: 'DCTDecode' | 'FlateDecode';
}

/** A picture without a believable resolution fills at 110 dpi at most the 1,568 pixels that `view_page` shows. */
const SHOWN_DPI = 110;
const SHOWN_SIDE = 1568;
/** Screenshots and drawings up to this size stay exact; larger ones and photographs become JPEG. */
const EXACT_PIXELS = 4_000_000;

export function paperDpi(width: number, height: number, stated: number | undefined): number {
  if (stated !== undefined && stated >= 100 && stated <= 1200) return stated;
  return Math.max(SHOWN_DPI, (Math.max(width, height) / SHOWN_SIDE) * SHOWN_DPI);
}

/** Upright, on white, in sRGB or grey. `metadata` is the frame's. */
export async function encodeFrame(picture: Sharp, metadata: Metadata): Promise<{ stream: FrameStream; bytes: Uint8Array }> {
  const isGray = (metadata.space === 'b-w' || metadata.space === 'grey16') && !metadata.hasAlpha;
  const upright = picture
    .autoOrient()
    .flatten({ background: 'white' })
    .toColourspace(isGray ? 'b-w' : 'srgb');
  const pixels = (metadata.width ?? 0) * (metadata.height ?? 0);
  const isBilevel = isGray && metadata.bitsPerSample === 1;
  const keepExact = isBilevel || (metadata.format === 'png' && pixels <= EXACT_PIXELS);
  if (!keepExact) {
    const { data, info } = await upright.jpeg({ quality: 88, chromaSubsampling: '4:4:4' }).toBuffer({ resolveWithObject: true });
    const colours = info.channels === 1 ? 'DeviceGray' : 'DeviceRGB';
    return { stream: { ...sized(info, metadata), colours, bits: 8, filter: 'DCTDecode' }, bytes: data };
  }
  const { data, info } = await upright.raw().toBuffer({ resolveWithObject: true });
  const colours = info.channels === 1 ? 'DeviceGray' : 'DeviceRGB';
  const raw = isBilevel ? packBits(data, info.width, info.height) : data;
  return { stream: { ...sized(info, metadata), colours, bits: isBilevel ? 1 : 8, filter: 'FlateDecode' }, bytes: deflateSync(raw) };
}

/** A blank page as large as a frame that cannot be decoded; a few pixels are enough for it. */
export function blankFrame({ width, height, density }: Metadata): { stream: FrameStream; bytes: Uint8Array } {
  const scale = Math.min(1, 100 / Math.max(width, height));
  const [w, h] = [Math.max(1, Math.round(width * scale)), Math.max(1, Math.round(height * scale))];
  const stream: FrameStream = { width: w, height: h, dpi: paperDpi(width, height, density) * scale, colours: 'DeviceGray', bits: 8, filter: 'FlateDecode' };
  return { stream, bytes: deflateSync(Buffer.alloc(w * h, 255)) };
}

function sized(info: OutputInfo, metadata: Metadata): { width: number; height: number; dpi: number } {
  return { width: info.width, height: info.height, dpi: paperDpi(info.width, info.height, metadata.density) };
}

/** One bit a pixel, rows padded to whole bytes, 1 is white. */
function packBits(gray: Uint8Array, width: number, height: number): Uint8Array {
  const row = Math.ceil(width / 8);
  const out = new Uint8Array(row * height);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      if (gray[y * width + x]! >= 128) out[y * row + (x >> 3)]! |= 0x80 >> (x & 7);
    }
  }
  return out;
}
