/**
 * Terms of index segments read one after another as bytes, in order: what merging goes through. No strings are made of terms
 * and nothing is decoded here; a library that grows reads each of its terms a few times.
 */

/** Where a cursor stands: a term, its postings, and where both lie in some bytes. */
export abstract class TermCursor {
  /** Where the source starts in the target, and its order among sources. */
  readonly base: number;
  name: Uint8Array = NOTHING;
  nameAt = 0;
  nameEnd = 0;
  count = 0;
  slots: Uint8Array = NOTHING;
  slotsAt = 0;
  codes: Uint8Array = NOTHING;
  codesAt = 0;
  /** Every code is 1, and none is kept. */
  plain = true;

  constructor(base: number) {
    this.base = base;
  }

  /** Goes to the next term; false when there is none. */
  abstract next(): boolean;

  /** Goes to the first term after one; false when there is none. */
  skip(after: Uint8Array): boolean {
    while (this.next()) if (compareBytes(this.name, this.nameAt, this.nameEnd, after, 0, after.length) > 0) return true;
    return false;
  }

  /** Order of terms, then of sources: what SQLite compares, UTF-8. */
  isBefore(other: TermCursor): boolean {
    const order = compareBytes(this.name, this.nameAt, this.nameEnd, other.name, other.nameAt, other.nameEnd);
    return order < 0 || (order === 0 && this.base < other.base);
  }

  isAt(name: Uint8Array, at: number, end: number): boolean {
    return compareBytes(this.name, this.nameAt, this.nameEnd, name, at, end) === 0;
  }
}

const NOTHING = new Uint8Array(0);

export function compareBytes(a: Uint8Array, aAt: number, aEnd: number, b: Uint8Array, bAt: number, bEnd: number): number {
  while (aAt < aEnd && bAt < bEnd) {
    const difference = a[aAt++]! - b[bAt++]!;
    if (difference !== 0) return difference;
  }
  return aEnd - aAt - (bEnd - bAt);
}

/** Terms in blobs as `TermBytes` writes them; `more` gives the next blobs, none when there are no more. */
export class BlobCursor extends TermCursor {
  private readonly more: () => Uint8Array[];
  private blobs: Uint8Array[] = [];
  private blob = -1;
  private at = 0;

  constructor(base: number, more: () => Uint8Array[]) {
    super(base);
    this.more = more;
  }

  next(): boolean {
    // A term without a name was written up to version 0.6.0 for diacritics alone, out of order: nobody asks for it.
    do if (!this.read()) return false;
    while (this.nameEnd === this.nameAt);
    return true;
  }

  private read(): boolean {
    while (this.at >= this.slots.length) {
      if (++this.blob >= this.blobs.length) {
        this.blobs = this.more();
        this.blob = 0;
        if (this.blobs.length === 0) return false;
      }
      const bytes = this.blobs[this.blob]!;
      this.at = 0;
      this.name = bytes;
      this.slots = bytes;
      this.codes = bytes;
    }
    const nameBytes = this.number();
    this.count = this.number();
    const slotBytes = this.number();
    const codeBytes = this.number();
    this.nameAt = this.at;
    this.nameEnd = this.nameAt + nameBytes;
    this.slotsAt = this.nameEnd;
    this.codesAt = this.slotsAt + slotBytes;
    this.plain = codeBytes === 0;
    this.at = this.codesAt + codeBytes;
    return true;
  }

  private number(): number {
    const bytes = this.slots;
    let byte = bytes[this.at++]!;
    if (byte < 128) return byte;
    let value = byte & 127;
    let shift = 7;
    do {
      byte = bytes[this.at++]!;
      value |= (byte & 127) << shift;
      shift += 7;
    } while (byte > 127);
    return value;
  }
}

export interface PostingsRow {
  term: Uint8Array;
  count: number;
  slots: Uint8Array;
  codes: Uint8Array;
}

/** Terms with rows of their own; `more` gives the next rows, none when there are no more. */
export class RowCursor extends TermCursor {
  private readonly more: () => PostingsRow[];
  private rows: PostingsRow[] = [];
  private row = -1;

  constructor(base: number, more: () => PostingsRow[]) {
    super(base);
    this.more = more;
  }

  next(): boolean {
    if (++this.row >= this.rows.length) {
      this.rows = this.more();
      this.row = 0;
      if (this.rows.length === 0) return false;
    }
    const { term, count, slots, codes } = this.rows[this.row]!;
    this.name = term;
    this.nameEnd = term.length;
    this.count = count;
    this.slots = slots;
    this.codes = codes;
    this.plain = codes.length === 0;
    return true;
  }
}

/** Cursors by what they stand at: a heap, smallest first. */
export class CursorHeap {
  private readonly heap: TermCursor[] = [];

  /** Cursors that stand at a term. */
  constructor(cursors: readonly TermCursor[]) {
    this.heap.push(...cursors);
    for (let at = (this.heap.length >> 1) - 1; at >= 0; at--) this.sink(at);
  }

  first(): TermCursor | undefined {
    return this.heap[0];
  }

  /** Moves the first cursor on. */
  next(): void {
    const { heap } = this;
    if (!heap[0]!.next()) {
      const last = heap.pop()!;
      if (heap.length === 0) return;
      heap[0] = last;
    }
    this.sink(0);
  }

  private sink(from: number): void {
    const { heap } = this;
    const cursor = heap[from]!;
    let at = from;
    for (;;) {
      let child = at * 2 + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && heap[child + 1]!.isBefore(heap[child]!)) child++;
      if (!heap[child]!.isBefore(cursor)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = cursor;
  }
}
