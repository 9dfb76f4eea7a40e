import { readSync, writeSync } from 'node:fs';
import sharp, { type Sharp } from 'sharp';
import { encodeFrameHead } from '../../sandbox/frames.ts';
import { encodeWhatIsThere } from './damaged-frame.ts';
import { paperDpi } from './frame.ts';
import { fullPages } from './tiff-pages.ts';

/**
 * The warm child that decodes pictures. Requests: `{op: 'measure' | 'encode', maxPixels, maxPages}` + the file. Measuring
 * answers done `{frames: [{width, height, dpi}]}`; encoding one part a frame (header FrameStream and its damage, payload its bytes),
 * then done. What is wrong with the file is `error {problem}`. Started by reader.ts; never imported.
 */

interface Request {
  op: 'measure' | 'encode';
  maxPixels: number;
  maxPages: number;
}

function write(bytes: Uint8Array): void {
  for (let at = 0; at < bytes.byteLength; ) at += writeSync(1, bytes, at);
}

function say(header: object, payload?: Uint8Array): void {
  write(encodeFrameHead(header, payload?.byteLength ?? 0));
  if (payload !== undefined) write(payload);
}

function fill(target: Uint8Array): boolean {
  for (let at = 0; at < target.byteLength; ) {
    const count = readSync(0, target, at, target.byteLength - at, null);
    if (count === 0) return false;
    at += count;
  }
  return true;
}

async function answer(request: Request, bytes: Uint8Array): Promise<void> {
  // The limit is checked here, with a sentence of ours, from the header alone; decoding is limited as well.
  const open = (page: number, failOn: 'error' | 'none'): Sharp => sharp(bytes, { page, limitInputPixels: request.maxPixels, sequentialRead: true, failOn });
  const first = await sharp(bytes, { limitInputPixels: false }).metadata();
  // Only TIFF has pages; the frames of a moving picture are one page, its first.
  const pages = first.format === 'tiff' ? fullPages(bytes, first.pages ?? 1) : [0];
  if (pages.length > request.maxPages) return say({ kind: 'error', problem: 'pages', total: pages.length });
  const frames: { width: number; height: number; dpi: number }[] = [];
  let lost = 0;
  for (const page of pages) {
    // A page that does not even say how large it is counts as large as the first.
    const metadata = await sharp(bytes, { page, limitInputPixels: false }).metadata().catch(() => first);
    const { width, height } = metadata;
    if (width * height > request.maxPixels) return say({ kind: 'error', problem: 'pixels' });
    if (request.op === 'measure') {
      const turned = (metadata.orientation ?? 1) >= 5;
      frames.push({ width: turned ? height : width, height: turned ? width : height, dpi: paperDpi(width, height, metadata.density) });
      continue;
    }
    const { stream, bytes: encoded, damage } = await encodeWhatIsThere((failOn) => open(page, failOn), metadata);
    if (damage === 'lost') lost += 1;
    if (lost === pages.length) return say({ kind: 'error', problem: 'damaged' });
    say({ kind: 'part', ...stream, ...(damage && { damage }) }, encoded);
  }
  say({ kind: 'done', ...(request.op === 'measure' ? { frames } : {}) });
}

sharp.cache(false);
sharp.concurrency(1);
say({ kind: 'ready' });
const prefix = Buffer.alloc(8);
while (fill(prefix)) {
  const head = Buffer.alloc(prefix.readUInt32BE(0));
  const bytes = Buffer.allocUnsafeSlow(prefix.readUInt32BE(4));
  if (!fill(head) || !fill(bytes)) break;
  try {
    await answer(JSON.parse(head.toString('utf8')) as Request, bytes);
  } catch (error) {
    say({ kind: 'error', problem: 'damaged', detail: String(error) });
  }
}
process.exit(0);
