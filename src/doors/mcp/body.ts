import type { IncomingMessage } from 'node:http';
import { AppError } from '../../errors.ts';

/** The bytes of a request. AppError `too_large` as soon as that is known, `bad_request` when the client stops half-way. */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge();
  // A small message came whole with its headers: it need not be waited for, event by event.
  const whole = request.complete ? (request.read() as Buffer | null) : null;
  if (whole === null) return readParts(request, maxBytes);
  if (whole.length > maxBytes) throw tooLarge();
  return whole;
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
