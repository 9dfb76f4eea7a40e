import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../errors.ts';

/** Bytes that may leave; the right to them was checked before this is made. */
export interface Download {
  /** Display name of the file. */
  name: string;
  mime: string;
  bytes: number;
  sha256: string;
  open(range?: { start: number; end: number }): NodeJS.ReadableStream;
}

/** What a browser may do with somebody's file: save it, nothing else (trust.md section 0.9). */
const CONTAINED = {
  'content-security-policy': "default-src 'none'; sandbox",
  'x-content-type-options': 'nosniff',
  'cache-control': 'private, no-cache',
} as const;

/** Sends a file as an attachment, or as one range of it; `If-None-Match` is looked at only now, after the right. */
export function sendDownload(request: FastifyRequest, reply: FastifyReply, file: Download): FastifyReply {
  const etag = `"${file.sha256}"`;
  reply.headers(CONTAINED).header('etag', etag).header('accept-ranges', 'bytes');
  reply.header('content-disposition', contentDisposition(file.name));
  if (matches(request.headers['if-none-match'], etag)) return reply.code(304).send();
  reply.type(file.mime);
  const ifRange = request.headers['if-range'];
  const wanted = ifRange === undefined || ifRange === etag ? request.headers.range : undefined;
  if (wanted === undefined) return reply.header('content-length', file.bytes).send(file.open());
  const range = singleRange(wanted, file.bytes);
  if (range === null) {
    reply
      .header('content-range', `bytes */${file.bytes}`)
      .code(416)
      .type('application/json; charset=utf-8')
      .removeHeader('content-disposition');
    reply.removeHeader('etag');
    const message = `Ask for one range inside the ${file.bytes} bytes of this file, such as bytes=0-1023`;
    return reply.serializer(JSON.stringify).send({ code: 'bad_request', message, requestId: request.id });
  }
  reply
    .code(206)
    .header('content-range', `bytes ${range.start}-${range.end}/${file.bytes}`)
    .header('content-length', range.end - range.start + 1);
  return reply.send(file.open(range));
}

/** Bytes made here (a drawn page): shown inline by the console, and never as anything but what they are. */
export function sendPicture(
  request: FastifyRequest,
  reply: FastifyReply,
  picture: { bytes: Uint8Array; mime: string; name: string; sha256: string },
): FastifyReply {
  const etag = `"${picture.sha256}"`;
  reply.headers(CONTAINED).header('etag', etag);
  reply.header(
    'content-disposition',
    contentDisposition(picture.name, picture.mime === 'image/png' ? 'inline' : 'attachment'),
  );
  if (matches(request.headers['if-none-match'], etag)) return reply.code(304).send();
  return reply
    .type(picture.mime)
    .send(Buffer.from(picture.bytes.buffer, picture.bytes.byteOffset, picture.bytes.byteLength));
}

/** RFC 6266 with RFC 8187: an ASCII name for everybody and the real one for those who can. */
export function contentDisposition(name: string, kind: 'attachment' | 'inline' = 'attachment'): string {
  const ascii = name.replace(/[^\x20-\x7e]/g, '_').replace(/["\\%/]/g, '_');
  const encoded = encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `${kind}; filename="${ascii}"${ascii === name ? '' : `; filename*=UTF-8''${encoded}`}`;
}

/** `bytes=a-b`, `bytes=a-`, `bytes=-n`; null when it is not one satisfiable range (RFC 9110 section 14). */
export function singleRange(header: string, size: number): { start: number; end: number } | null {
  const match = /^bytes=[ \t]*(\d{0,15})-(\d{0,15})[ \t]*$/i.exec(header);
  if (match === null) return null;
  const [first, last] = [match[1] ?? '', match[2] ?? ''];
  if (first === '' && last === '') return null;
  if (first === '') {
    const count = Math.min(Number(last), size);
    return count === 0 ? null : { start: size - count, end: size - 1 };
  }
  const start = Number(first);
  const end = last === '' ? size - 1 : Math.min(Number(last), size - 1);
  return start >= size || end < start ? null : { start, end };
}

function matches(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return header.trim() === '*' || header.split(',').some((one) => one.trim().replace(/^W\//, '') === etag);
}

/** Before a byte of the body is read: is it longer than will be taken? */
export function checkContentLength(request: FastifyRequest, maxBytes: number): void {
  const length = request.headers['content-length'];
  if (length !== undefined && Number(length) > maxBytes) {
    throw new AppError('too_large', `This request has ${length} bytes, and at most ${maxBytes} are taken at once`);
  }
}
