import type { Frame, FrameHeader } from './types.ts';

/** Length-prefixed frames between a warm child and its parent; both sides and both languages write the same eight bytes. */

const PREFIX = 8;
const MAX_HEADER_BYTES = 16 * 1024 ** 2;

/** Header part of a frame; the payload follows on the wire as it is, so that it needs no copy. */
export function encodeFrameHead(header: object, payloadBytes: number): Buffer {
  const json = Buffer.from(JSON.stringify(header), 'utf8');
  const head = Buffer.allocUnsafe(PREFIX + json.length);
  head.writeUInt32BE(json.length, 0);
  head.writeUInt32BE(payloadBytes, 4);
  json.copy(head, PREFIX);
  return head;
}

/**
 * Feeds on chunks as they come from a pipe, gives whole frames. Throws when a header or payload is larger than allowed or
 * not JSON: what is at the other end may be hostile.
 */
export class FrameDecoder {
  readonly #maxPayload: number;
  #chunks: Buffer[] = [];
  #have = 0;
  #need = PREFIX;
  #sizes: { header: number; payload: number } | undefined;

  constructor(maxPayloadBytes: number) {
    this.#maxPayload = maxPayloadBytes;
  }

  /** Bytes waiting for the rest of a frame. */
  get pending(): number {
    return this.#have;
  }

  push(chunk: Buffer): Frame[] {
    this.#chunks.push(chunk);
    this.#have += chunk.length;
    const frames: Frame[] = [];
    while (this.#have >= this.#need) {
      if (this.#sizes === undefined) {
        const prefix = this.#take(PREFIX);
        const sizes = { header: prefix.readUInt32BE(0), payload: prefix.readUInt32BE(4) };
        if (sizes.header > MAX_HEADER_BYTES || sizes.payload > this.#maxPayload) throw new RangeError('Frame too large');
        this.#sizes = sizes;
        this.#need = sizes.header + sizes.payload;
      } else {
        const { header, payload } = this.#sizes;
        const parsed: unknown = JSON.parse(this.#take(header).toString('utf8'));
        frames.push({ header: asHeader(parsed), payload: this.#take(payload) });
        this.#sizes = undefined;
        this.#need = PREFIX;
      }
    }
    return frames;
  }

  #take(bytes: number): Buffer {
    this.#have -= bytes;
    const first = this.#chunks[0];
    if (first !== undefined && first.length >= bytes) {
      if (first.length === bytes) this.#chunks.shift();
      else this.#chunks[0] = first.subarray(bytes);
      return first.subarray(0, bytes);
    }
    const out = Buffer.allocUnsafe(bytes);
    let at = 0;
    let used = 0;
    while (at < bytes) {
      const chunk = this.#chunks[used]!;
      const part = Math.min(chunk.length, bytes - at);
      chunk.copy(out, at, 0, part);
      at += part;
      if (part === chunk.length) used += 1;
      else this.#chunks[used] = chunk.subarray(part);
    }
    this.#chunks.splice(0, used);
    return out;
  }
}

const KINDS = new Set(['ready', 'part', 'done', 'error', 'request']);

function asHeader(value: unknown): FrameHeader {
  if (typeof value === 'object' && value !== null && 'kind' in value && KINDS.has(String(value.kind))) {
    return value as FrameHeader;
  }
  throw new TypeError('Frame without a known kind');
}
