import type { PageFate } from '../types.ts';
import { isGarbled } from './garbled.ts';
import { SCAN_SHARE, type PageText } from './page-text.ts';
import type { Signals } from './signals.ts';

/** Basic's rules for pages to view: little text, a large picture, or many drawn lines (seeds/000, "Pages to view"). */

/** Characters that are not white space. */
const LITTLE_TEXT = 100;
const LARGE_PICTURE = 0.12;
const MANY_LINES = 30;

export interface Judged {
  fate: PageFate;
  toView: boolean;
  /** A scan with a stamp, a fax header or a number typed over it. */
  scan?: true;
}

const SPACE = /\s/;

/** UTF-16 units that are not white space. */
function visibleLength(text: string): number {
  let length = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if ((unit > 0x20 && unit < 0x80) || !SPACE.test(text[at]!)) length += 1;
  }
  return length;
}

/** `hasInk` is asked only when the page has no text: does it show anything at all? */
export function judgePage({ text, unmapped, isLayer }: Omit<PageText, 'hidden'>, signals: Signals, hasInk: () => boolean): Judged {
  const length = visibleLength(text);
  if (length === 0) return hasInk() ? { fate: 'image_only', toView: true } : { fate: 'empty', toView: false };
  if (isGarbled(text, unmapped)) return { fate: 'garbled', toView: true };
  const toView = length < LITTLE_TEXT || signals.pictureShare >= LARGE_PICTURE || signals.drawnLines >= MANY_LINES;
  const isScan = length < LITTLE_TEXT && signals.pictureShare >= SCAN_SHARE && !isLayer;
  return { fate: 'text', toView, ...(isScan && { scan: true }) };
}
