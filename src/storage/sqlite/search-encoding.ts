/** How the embedded search index is written: posting lists and whole small segments as bytes (read by search-postings.ts). */
import type { DocumentPostings } from '../../search/types.ts';
import { BITMAP, compareTerms, DELTAS } from './search-postings.ts';

/** Slots ascend for each term, relative to the segment. */
export type Postings = Pick<DocumentPostings, 'slots' | 'codes'>;

export interface EncodedPostings {
  slots: Buffer;
  /** Empty when every code is 1, which is most terms. */
  codes: Buffer;
}

/** How postings of one term are written: known before the first byte, so that nothing is written twice. */
interface Form {
  bitmap: boolean;
  slotBytes: number;
  codeBytes: number;
}

/** `span` is the segment's number of slots. */
function formOf({ slots, codes }: Postings, from: number, count: number, span: number): Form {
  let codeBytes = 0;
  for (let i = from; i < from + count && codeBytes === 0; i++) if (codes[i] !== 1) codeBytes = count;
  // A difference takes at least a byte: from one in eight on, a bit a slot is smaller and can be counted 32 at a time.
  if (span >= 256 && count * 8 >= span) return { bitmap: true, slotBytes: 4 + ((span + 31) >> 5) * 4, codeBytes };
  let slotBytes = 1;
  let before = 0;
  for (let i = from; i < from + count; i++) {
    slotBytes += varintBytes(slots[i]! - before);
    before = slots[i]!;
  }
  return { bitmap: false, slotBytes, codeBytes };
}

function writeSlots(bytes: Uint8Array, at: number, slots: Int32Array, from: number, count: number, form: Form): number {
  if (form.bitmap) {
    const end = at + form.slotBytes;
    bytes.fill(0, at, end);
    bytes[at] = BITMAP;
    for (let i = from; i < from + count; i++) bytes[at + 4 + (slots[i]! >> 3)]! |= 1 << (slots[i]! & 7);
    return end;
  }
  bytes[at++] = DELTAS;
  let before = 0;
  for (let i = from; i < from + count; i++) {
    const slot = slots[i]!;
    const difference = slot - before;
    if (difference < 128) bytes[at++] = difference;
    else at = writeVarint(bytes, at, difference);
    before = slot;
  }
  return at;
}

function writeCodes(bytes: Uint8Array, at: number, codes: Uint8Array, from: number, form: Form): number {
  for (let i = 0; i < form.codeBytes; i++) bytes[at++] = codes[from + i]!;
  return at;
}

/** `count` postings of a term from a place on, as a row of their own keeps them. */
export function encodePostings(postings: Postings, from: number, count: number, span: number): EncodedPostings {
  const form = formOf(postings, from, count, span);
  const encoded = { slots: Buffer.allocUnsafe(form.slotBytes), codes: Buffer.allocUnsafe(form.codeBytes) };
  writeSlots(encoded.slots, 0, postings.slots, from, count, form);
  writeCodes(encoded.codes, 0, postings.codes, from, form);
  return encoded;
}

/** Terms with their postings one after another, as small segments and blocks are: bytes that grow and are used again. */
export class TermBytes {
  private bytes = Buffer.allocUnsafe(16_384);
  private end = 0;

  get length(): number {
    return this.end;
  }

  /** Adds a term with `count` postings from a place on. False, and nothing is added, when those take more than `mostBytes`. */
  add(term: string, postings: Postings, from: number, count: number, span: number, mostBytes = Infinity): boolean {
    const form = formOf(postings, from, count, span);
    if (form.slotBytes + form.codeBytes > mostBytes) return false;
    // UTF-8 takes at most three bytes for a UTF-16 unit.
    this.makeRoom(term.length * 3 + 20 + form.slotBytes + form.codeBytes);
    const { bytes } = this;
    const nameBytes = isAscii(term) ? term.length : Buffer.byteLength(term);
    let at = writeVarint(bytes, this.end, nameBytes);
    at = writeVarint(bytes, at, count);
    at = writeVarint(bytes, at, form.slotBytes);
    at = writeVarint(bytes, at, form.codeBytes);
    if (nameBytes === term.length) for (let i = 0; i < nameBytes; i++) bytes[at++] = term.charCodeAt(i);
    else at += bytes.write(term, at, 'utf8');
    at = writeSlots(bytes, at, postings.slots, from, count, form);
    this.end = writeCodes(bytes, at, postings.codes, from, form);
    return true;
  }

  /** What was added since the last call: good until the next `add`. */
  take(): Buffer {
    const taken = this.bytes.subarray(0, this.end);
    this.end = 0;
    return taken;
  }

  private makeRoom(more: number): void {
    if (this.end + more <= this.bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.bytes.length * 2, this.end + more));
    larger.set(this.bytes.subarray(0, this.end));
    this.bytes = larger;
  }
}

function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 127) return false;
  return true;
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

function varintBytes(value: number): number {
  return value < 0x80 ? 1 : value < 0x4000 ? 2 : value < 0x20_0000 ? 3 : value < 0x1000_0000 ? 4 : 5;
}

const segmentBytes = new TermBytes();
const SURROGATE = /[\ud800-\udfff]/;

/** Puts terms in the order of `compareTerms`. */
export function sortTerms(terms: string[]): string[] {
  // Without surrogates JavaScript's own order is the same, and quicker.
  return terms.some((term) => SURROGATE.test(term)) ? terms.sort(compareTerms) : terms.sort();
}

/** A term of a segment with `count` postings from a place on. */
export interface TermEntry {
  term: string;
  postings: Postings;
  from: number;
  count: number;
}

/** A whole small segment as one blob, good until the next call; entries in order of term. Null when it takes more than `mostBytes`. */
export function encodeSegment(entries: Iterable<TermEntry>, span: number, mostBytes: number): Buffer | null {
  segmentBytes.take();
  for (const { term, postings, from, count } of entries) {
    segmentBytes.add(term, postings, from, count, span);
    if (segmentBytes.length > mostBytes) return null;
  }
  return segmentBytes.take();
}
