import type { IncomingMessage } from 'node:http';
import { AppError } from '../../errors.ts';

/** The bytes of a request. AppError `too_large` as soon as that is known, `bad_request` when the client stops half-way. */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const bytes = Number(request.headers['content-length'] ?? 0);
  if (bytes > maxBytes) throw tooLarge();
  // A small message mostly came with its headers and is here already: it need not be waited for, event by event. Its end may be
  // told later, so the length counts.
  const whole = bytes > 0 && request.readableLength === bytes ? (request.read() as Buffer | null) : null;
  return whole ?? readParts(request, maxBytes);
}

const tooLarge = (): AppError => new AppError('too_large', 'The message is too large for this address');

function readParts(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let bytes = 0;
    request.on('data', (part: Buffer) => {
      bytes += part.length;
      if (bytes <= maxBytes) parts.push(part);
      else reject(tooLarge());
    });
    request.on('end', () => resolve(parts.length === 1 ? parts[0]! : Buffer.concat(parts)));
    request.on('error', () => reject(new AppError('bad_request', 'The request could not be read')));
    request.on('close', () => {
      // It closes after its end, too; an error nobody waits for would cost its stack.
      if (!request.complete) reject(new AppError('bad_request', 'The request ended before its body did'));
    });
  });
}
