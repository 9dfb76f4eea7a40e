/**
 * How the embedded search index is kept: posting lists and whole small segments as bytes, and how they are read. A posting is a slot (the number
 * of an excerpt, counted from its segment's first) and a code (`DocumentPostings.codes`). Pure: no SQL here.
 */

/** First byte of an encoded slot list. */
export const DELTAS = 0;
export const BITMAP = 1;

export const isBitmap = (slots: Uint8Array): boolean => slots[0] === BITMAP;

/** The bits of a bitmap list, 32 slots a word, as a view or copy. */
export function bitmapWords(slots: Uint8Array): Uint32Array {
  const bytes = slots.subarray(4);
  if ((bytes.byteOffset & 3) === 0) return new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength >> 2);
  // Copied: a Buffer's own slice would still look into the whole blob.
  return new Uint32Array(new Uint8Array(bytes).buffer);
}

/** Decodes the slot list at a place in some bytes into `into` from `to` on, adding `base` to each. Returns `to + count`. */
export function decodeSlots(bytes: Uint8Array, start: number, count: number, base: number, into: Int32Array, to = 0): number {
  if (bytes[start] === BITMAP) {
    const end = to + count;
    // Bytes, not words: a list inside a block is not aligned.
    for (let at = start + 4, slot = base; to < end; at++, slot += 8) {
      for (let byte = bytes[at]!; byte !== 0; byte &= byte - 1) into[to++] = slot + (31 - Math.clz32(byte & -byte));
    }
    return to;
  }
  let at = start + 1;
  let slot = base;
  for (const end = to + count; to < end; to++) {
    let byte = bytes[at++]!;
    if (byte < 128) slot += byte;
    else {
      let value = byte & 127;
      let shift = 7;
      do {
        byte = bytes[at++]!;
        value |= (byte & 127) << shift;
        shift += 7;
      } while (byte > 127);
      slot += value;
    }
    into[to] = slot;
  }
  return to;
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
    if (nameLength !== wanted.length || !isNamed(blob, name, wanted)) continue;
    const slots = blob.subarray(name + nameLength, name + nameLength + slotsLength);
    return { count, slots, codes: blob.subarray(name + nameLength + slotsLength, at) };
  }
  return null;
}

function isNamed(blob: Uint8Array, at: number, wanted: Uint8Array): boolean {
  for (let i = 0; i < wanted.length; i++) if (blob[at + i] !== wanted[i]) return false;
  return true;
}

/** Has a slot list any slot that passes? */
export function someSlot(bytes: Uint8Array, start: number, count: number, base: number, test: (slot: number) => boolean): boolean {
  if (count > 32 || bytes[start] === BITMAP) {
    const slots = new Int32Array(count);
    decodeSlots(bytes, start, count, base, slots);
    return slots.some(test);
  }
  decodeSlots(bytes, start, count, base, few);
  for (let i = 0; i < count; i++) if (test(few[i]!)) return true;
  return false;
}

const few = new Int32Array(32);

/** What `readSegment` says of a term: where in the blob its slots begin, and their bytes; its codes follow. */
export type EachTerm = (term: string, count: number, slotsAt: number, slotBytes: number, codeBytes: number) => void;

/** Reads a segment blob back: calls `each` for every term, in the order they were written. */
export function readSegment(blob: Buffer, each: EachTerm): void {
  let at = 0;
  const varint = (): number => {
    let byte = blob[at++]!;
    if (byte < 128) return byte;
    let value = byte & 127;
    let shift = 7;
    do {
      byte = blob[at++]!;
      value |= (byte & 127) << shift;
      shift += 7;
    } while (byte > 127);
    return value;
  };
  while (at < blob.length) {
    const nameBytes = varint();
    const count = varint();
    const slotBytes = varint();
    const codeBytes = varint();
    const term = readTerm(blob, at, at + nameBytes);
    at += nameBytes;
    each(term, count, at, slotBytes, codeBytes);
    at += slotBytes + codeBytes;
  }
}

function readTerm(blob: Buffer, from: number, end: number): string {
  for (let i = from; i < end; i++) if (blob[i]! > 127) return blob.toString('utf8', from, end);
  return blob.toString('latin1', from, end);
}
