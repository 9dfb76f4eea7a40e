import type { Metadata, Sharp } from 'sharp';
import { blankFrame, encodeFrame, type FrameStream } from './frame.ts';

/** A frame that is damaged costs itself, and a JPEG that is cut short only its end. */

export interface Encoded {
  stream: FrameStream;
  bytes: Uint8Array;
  /** `partly`: most of it is there; `lost`: a blank page stands for it. */
  damage?: 'partly' | 'lost';
}

/** Of its rows at least so many must be there: what other programs show of less is a grey field. */
const LEAST_SHARE = 0.5;
const ROWS_LOOKED_AT = 200;

export async function encodeWhatIsThere(open: (failOn: 'error' | 'none') => Sharp, metadata: Metadata): Promise<Encoded> {
  try {
    return await encodeFrame(open('error'), metadata);
  } catch {
    try {
      // Only JPEG's decoder says where the picture ends, by one grey; others leave there whatever their memory held.
      if (metadata.format === 'jpeg' && (await shareThere(open('none'))) >= LEAST_SHARE) return { ...(await encodeFrame(open('none'), metadata)), damage: 'partly' };
    } catch {
      // Nothing of it can be decoded.
    }
    return { ...blankFrame(metadata), damage: 'lost' };
  }
}

/** Rows above those at the end that the decoder filled in with one colour, as a share of all. */
async function shareThere(picture: Sharp): Promise<number> {
  const { data, info } = await picture.resize({ width: 32, height: ROWS_LOOKED_AT, fit: 'fill', kernel: 'nearest' }).raw().toBuffer({ resolveWithObject: true });
  const pixel = data.subarray(data.length - info.channels);
  let end = data.length;
  while (end > 0 && pixel.equals(data.subarray(end - info.channels, end))) end -= info.channels;
  return end / data.length;
}
