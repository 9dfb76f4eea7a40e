/** Pictures whose headers promise more than anybody should draw. */
import { crc32, deflateSync } from 'node:zlib';

function chunk(type: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const out = Buffer.alloc(body.length + 8);
  out.writeUInt32BE(data.length, 0);
  body.copy(out, 4);
  out.writeUInt32BE(crc32(body), body.length + 4);
  return out;
}

/** One-bit grey; `rows` of pixels are really there. */
export function png(width: number, height: number, rows: number, more: Buffer[] = []): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([1, 0, 0, 0, 0], 8);
  const pixels = deflateSync(Buffer.alloc((Math.ceil(width / 8) + 1) * rows), { level: 9 });
  return Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), chunk('IHDR', header), ...more, chunk('IDAT', pixels), chunk('IEND', Buffer.alloc(0))]);
}

/** A colour profile of `megabytes` MiB in a few KB. */
export const profileBomb = (megabytes: number): Buffer =>
  chunk('iCCP', Buffer.concat([Buffer.from('p\0\0', 'latin1'), deflateSync(Buffer.alloc(megabytes * 2 ** 20), { level: 9 })]));

/** A text chunk of the same kind. */
export const textBomb = (megabytes: number): Buffer =>
  chunk('zTXt', Buffer.concat([Buffer.from('Comment\0\0', 'latin1'), deflateSync(Buffer.alloc(megabytes * 2 ** 20, 'a'), { level: 9 })]));

/** `pages` directories of 8 by 8 pixels that follow each other; the last one points back to the first when `loop`. */
export function tiff(pages: number, loop: boolean, side = 8): Buffer {
  const fields: [number, number, number, number][] = [
    [256, 4, 1, side], [257, 4, 1, side], [258, 3, 1, 1], [259, 3, 1, 1], [262, 3, 1, 1], [273, 4, 1, 8], [278, 4, 1, side], [279, 4, 1, 8],
  ];
  const size = 2 + fields.length * 12 + 4;
  const out = Buffer.alloc(16 + size * pages);
  out.write('II*\0', 0, 'latin1');
  out.writeUInt32LE(16, 4);
  for (let number = 0; number < pages; number++) {
    const at = 16 + number * size;
    out.writeUInt16LE(fields.length, at);
    fields.forEach(([tag, type, count, value], index) => {
      const field = at + 2 + index * 12;
      out.writeUInt16LE(tag, field);
      out.writeUInt16LE(type, field + 2);
      out.writeUInt32LE(count, field + 4);
      out.writeUInt32LE(value, field + 8);
    });
    out.writeUInt32LE(number < pages - 1 ? at + size : loop ? 16 : 0, at + size - 4);
  }
  return out;
}

/** A lossless WebP header of the largest size there is, 16,383 a side, with nothing behind it. */
export function webp(): Buffer {
  const data = Buffer.alloc(64);
  data[0] = 0x2f;
  data.writeUInt32LE(((16_382 << 14) | 16_382) >>> 0, 1);
  const out = Buffer.alloc(20 + data.length);
  out.write('RIFF', 0, 'latin1');
  out.writeUInt32LE(out.length - 8, 4);
  out.write('WEBPVP8L', 8, 'latin1');
  out.writeUInt32LE(data.length, 16);
  data.copy(out, 20);
  return out;
}
