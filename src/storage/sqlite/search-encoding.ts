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
  add(
    name: Uint8Array, nameAt: number, nameEnd: number, postings: Postings, from: number, count: number, span: number, mostBytes = Infinity,
  ): boolean {
    const form = formOf(postings, from, count, span);
    if (form.slotBytes + form.codeBytes > mostBytes) return false;
    this.makeRoom(nameEnd - nameAt + 20 + form.slotBytes + form.codeBytes);
    const { bytes } = this;
    let at = writeVarint(bytes, this.end, nameEnd - nameAt);
    at = writeVarint(bytes, at, count);
    at = writeVarint(bytes, at, form.slotBytes);
    at = writeVarint(bytes, at, form.codeBytes);
    for (let i = nameAt; i < nameEnd; i++) bytes[at++] = name[i]!;
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

/** Places of terms in the order of `compareTerms`. */
export function orderOf(terms: readonly string[]): Int32Array {
  const order = new Int32Array(terms.length);
  if (terms.length >= PLACES) return order.map((_, place) => place).sort((a, b) => compareTerms(terms[a]!, terms[b]!));
  // Numbers sort twenty times as fast as strings: how a term begins, with its place behind. What begins alike is few.
  const keys = new Float64Array(terms.length);
  for (let place = 0; place < terms.length; place++) keys[place] = beginningOf(terms[place]!) * PLACES + place;
  keys.sort();
  let from = 0;
  for (let i = 0; i < keys.length; i++) {
    const beginning = Math.floor(keys[i]! / PLACES);
    order[i] = keys[i]! - beginning * PLACES;
    if (i + 1 < keys.length && Math.floor(keys[i + 1]! / PLACES) === beginning) continue;
    sortAlike(terms, order, from, i);
    from = i + 1;
  }
  return order;
}

/** Puts a few places in order where they are. */
function sortAlike(terms: readonly string[], order: Int32Array, from: number, to: number): void {
  if (to - from > 32) {
    order.subarray(from, to + 1).sort((a, b) => compareTerms(terms[a]!, terms[b]!));
    return;
  }
  for (let i = from + 1; i <= to; i++) {
    const place = order[i]!;
    let at = i;
    for (; at > from && compareTerms(terms[order[at - 1]!]!, terms[place]!) > 0; at--) order[at] = order[at - 1]!;
    order[at] = place;
  }
}

/** Beginning and place are one number up to 2^53. */
const PLACES = 2 ** 18;
const LETTERS = 5;

/** The first five characters in 7 bits each, in the order of `compareTerms`; from the first beyond ASCII on they are alike. */
function beginningOf(term: string): number {
  let beginning = 0;
  for (let i = 0; i < LETTERS; i++) {
    const unit = i < term.length ? term.charCodeAt(i) : 0;
    if (unit > 126) return (beginning * 128 + 127) * 128 ** (LETTERS - 1 - i);
    beginning = beginning * 128 + unit;
  }
  return beginning;
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
    segmentBytes.add(nameBytes, 0, encodeName(term), postings, from, count, span);
    if (segmentBytes.length > mostBytes) return null;
  }
  return segmentBytes.take();
}

/** Room for the UTF-8 of one term. */
let nameBytes = Buffer.allocUnsafe(1_024);

/** Writes a term into `nameBytes`; answers how many bytes it takes. */
function encodeName(term: string): number {
  // UTF-8 takes at most three bytes for a UTF-16 unit.
  if (term.length * 3 > nameBytes.length) nameBytes = Buffer.allocUnsafe(term.length * 6);
  for (let i = 0; i < term.length; i++) {
    const unit = term.charCodeAt(i);
    if (unit > 127) return nameBytes.write(term, 0, 'utf8');
    nameBytes[i] = unit;
  }
  return term.length;
}
