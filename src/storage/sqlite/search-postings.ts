/**
 * How the embedded search index is written: posting lists and whole small segments as bytes. A posting is a slot (the number
 * of an excerpt, counted from its segment's first) and a code (`AnalysedChunk.terms`). Pure: no SQL here.
 */

/** First byte of an encoded slot list. */
const DELTAS = 0;
const BITMAP = 1;

export interface EncodedPostings {
  count: number;
  slots: Buffer;
  /** Empty when every code is 1, which is most terms. */
  codes: Buffer;
}

/** Encodes postings of ascending slots, already relative to the segment; `span` is the segment's number of slots. */
export function encodePostings(slots: ArrayLike<number>, codes: ArrayLike<number>, count: number, span: number): EncodedPostings {
  let plain = true;
  for (let i = 0; i < count && plain; i++) plain = codes[i] === 1;
  const encodedCodes = plain ? Buffer.alloc(0) : copyCodes(codes, count);
  // A delta takes at least a byte: from one in eight on, a bit a slot is smaller and can be counted 32 at a time.
  const slotBytes = span >= 256 && count * 8 >= span ? encodeBitmap(slots, count, span) : encodeDeltas(slots, count);
  return { count, slots: slotBytes, codes: encodedCodes };
}

function copyCodes(codes: ArrayLike<number>, count: number): Buffer {
  const bytes = Buffer.allocUnsafe(count);
  for (let i = 0; i < count; i++) bytes[i] = codes[i]!;
  return bytes;
}

function encodeDeltas(slots: ArrayLike<number>, count: number): Buffer {
  const bytes = Buffer.allocUnsafe(1 + count * 5);
  bytes[0] = DELTAS;
  let at = 1;
  let before = 0;
  for (let i = 0; i < count; i++) {
    at = writeVarint(bytes, at, slots[i]! - before);
    before = slots[i]!;
  }
  return Buffer.from(bytes.subarray(0, at));
}

function encodeBitmap(slots: ArrayLike<number>, count: number, span: number): Buffer {
  const bytes = Buffer.alloc(4 + ((span + 31) >> 5) * 4);
  bytes[0] = BITMAP;
  for (let i = 0; i < count; i++) bytes[4 + (slots[i]! >> 3)]! |= 1 << (slots[i]! & 7);
  return bytes;
}

export const isBitmap = (slots: Uint8Array): boolean => slots[0] === BITMAP;

/** The bits of a bitmap list, 32 slots a word, as a view or copy. */
export function bitmapWords(slots: Uint8Array): Uint32Array {
  const bytes = slots.subarray(4);
  if ((bytes.byteOffset & 3) === 0) return new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength >> 2);
  // Copied: a Buffer's own slice would still look into the whole blob.
  return new Uint32Array(new Uint8Array(bytes).buffer);
}

/** Decodes a slot list into `into` (room for `count`), adding `base` to each. Returns `count`. */
export function decodeSlots(slots: Uint8Array, count: number, base: number, into: Int32Array | number[]): number {
  if (slots[0] === BITMAP) {
    const words = bitmapWords(slots);
    let n = 0;
    for (let w = 0; w < words.length; w++) {
      let word = words[w]!;
      while (word !== 0) {
        into[n++] = base + (w << 5) + (31 - Math.clz32(word & -word));
        word &= word - 1;
      }
    }
    return n;
  }
  let at = 1;
  let slot = base;
  for (let i = 0; i < count; i++) {
    let byte = slots[at++]!;
    if (byte < 128) slot += byte;
    else {
      let value = byte & 127;
      let shift = 7;
      do {
        byte = slots[at++]!;
        value |= (byte & 127) << shift;
        shift += 7;
      } while (byte > 127);
      slot += value;
    }
    into[i] = slot;
  }
  return count;
}

export function writeVarint(bytes: Uint8Array, at: number, value: number): number {
  let rest = value;
  while (rest > 127) {
    bytes[at++] = (rest & 127) | 128;
    rest >>>= 7;
  }
  bytes[at++] = rest;
  return at;
}

/** Order of terms as SQLite compares them (UTF-8 bytes), which is not JavaScript's where surrogates meet U+E000 and above. */
export function compareTerms(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x === y) continue;
    const xSurrogate = x >= 0xd800 && x <= 0xdfff;
    const ySurrogate = y >= 0xd800 && y <= 0xdfff;
    if (xSurrogate !== ySurrogate) return xSurrogate ? 1 : -1;
    return x - y;
  }
  return a.length - b.length;
}

/** A whole small segment as one blob: terms in order, each with its postings. */
export function encodeSegment(entries: readonly { term: string; postings: EncodedPostings }[]): Buffer {
  const parts: Buffer[] = [];
  const head = Buffer.allocUnsafe(20);
  for (const { term, postings } of entries) {
    const name = Buffer.from(term, 'utf8');
    let at = writeVarint(head, 0, name.length);
    at = writeVarint(head, at, postings.count);
    at = writeVarint(head, at, postings.slots.length);
    at = writeVarint(head, at, postings.codes.length);
    parts.push(Buffer.from(head.subarray(0, at)), name, postings.slots, postings.codes);
  }
  return Buffer.concat(parts);
}

/** One term of a blob, or null. */
export function findInSegment(blob: Buffer, term: string): { count: number; slots: Buffer; codes: Buffer } | null {
  const wanted = Buffer.from(term, 'utf8');
  let at = 0;
  const varint = (): number => {
    let value = 0;
    let shift = 0;
    let byte: number;
    do {
      byte = blob[at++]!;
      value |= (byte & 127) << shift;
      shift += 7;
    } while (byte > 127);
    return value;
  };
  while (at < blob.length) {
    const [nameLength, count, slotsLength, codesLength] = [varint(), varint(), varint(), varint()];
    const name = at;
    at += nameLength + slotsLength + codesLength;
    if (nameLength !== wanted.length || blob.compare(wanted, 0, nameLength, name, name + nameLength) !== 0) continue;
    const slots = blob.subarray(name + nameLength, name + nameLength + slotsLength);
    return { count, slots, codes: blob.subarray(name + nameLength + slotsLength, at) };
  }
  return null;
}

/** Reads a segment blob back: calls `each` for every term, in order. */
export function readSegment(blob: Buffer, each: (term: string, count: number, slots: Buffer, codes: Buffer) => void): void {
  let at = 0;
  const varint = (): number => {
    let value = 0;
    let shift = 0;
    let byte: number;
    do {
      byte = blob[at++]!;
      value |= (byte & 127) << shift;
      shift += 7;
    } while (byte > 127);
    return value;
  };
  while (at < blob.length) {
    const [nameLength, count, slotsLength, codesLength] = [varint(), varint(), varint(), varint()];
    const term = blob.toString('utf8', at, (at += nameLength));
    const slots = blob.subarray(at, (at += slotsLength));
    const codes = blob.subarray(at, (at += codesLength));
    each(term, count, slots, codes);
  }
}
