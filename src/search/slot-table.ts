/**
 * What a searching thread keeps in memory: for each slot its document and length, for each document its folder and whether
 * it is live. Caught up from the log of changes at the start of a search, dropped and read again when it is too far behind.
 */
import type { DocumentEntry, SearchReader, SegmentInfo } from '../storage/sqlite/search-reader.ts';
import type { Scope } from './types.ts';

/** The excerpts one caller may see, as bits by slot, with the statistics of just these. */
export interface ScopeMask {
  /** Bit s % 32 of word s / 32: slot s is in scope. */
  words: Uint32Array;
  /** The last change of the library that it takes into account. */
  change: number;
  excerpts: number;
  /** Sum of their lengths, in words. */
  length: number;
  languages: readonly string[];
  /** Folders that have documents in scope. */
  folders: ReadonlySet<number>;
  /** Is a document (by its index in the table) in scope? */
  documents: Uint8Array;
}

interface CachedMask {
  version: number;
  folders: Int32Array;
  singles: Int32Array;
  mask: ScopeMask;
}

const KEPT_MASKS = 6;

export class SlotTable {
  /** Changes with everything that a mask depends on. */
  version = 0;
  /** Slot → index of its document; -1 for slots that no document owns (replaced, removed). */
  slotDocument = new Int32Array(0);
  slotLength = new Uint16Array(0);
  /** By index of document. */
  ids: string[] = [];
  refs: number[] = [];
  folder: number[] = [];
  first: number[] = [];
  count: number[] = [];
  titleSlot: number[] = [];
  /** By index of document: which of `languageNames` (ISO 639-1) it is in. */
  language: number[] = [];
  languageNames: string[] = [];
  segments: SegmentInfo[] = [];
  private readonly reader: SearchReader;
  private readonly indexOf = new Map<number, number>();
  private live: boolean[] = [];
  private words: number[] = [];
  private free: number[] = [];
  /** Term → folders whose names have it, and the languages that write it so. */
  private folderTerms = new Map<string, { folder: number; languages: readonly string[] }[]>();
  private seen = { data: -1, change: -1, segments: -1, folders: -1 };
  private masks: CachedMask[] = [];

  constructor(reader: SearchReader) {
    this.reader = reader;
  }

  /** Brings the table up to the snapshot that the reader is in. */
  catchUp(): void {
    const data = this.reader.dataVersion();
    if (data === this.seen.data) return;
    const state = this.reader.state();
    if (state.segments !== this.seen.segments) this.segments = this.reader.segments();
    if (state.folders !== this.seen.folders) this.readFolders();
    this.growTo(state.nextSlot);
    const behind = this.seen.change < 0 || state.firstChange > this.seen.change + 1;
    if (behind) this.readAll();
    else if (state.lastChange > this.seen.change) {
      for (const ref of this.reader.changedAfter(this.seen.change)) this.readDocument(ref);
    }
    if (behind || state.lastChange !== this.seen.change) this.version++;
    this.seen = { data, change: state.lastChange, segments: state.segments, folders: state.folders };
  }

  /** The mask of a scope now; the same scope asked again costs a comparison. */
  maskOf(scope: Scope): ScopeMask {
    const folders = Int32Array.from(scope.folders);
    const singles = Int32Array.from(scope.documents);
    const at = this.masks.findIndex(
      (cached) => cached.version === this.version && equalNumbers(cached.folders, folders) && equalNumbers(cached.singles, singles),
    );
    if (at >= 0) {
      const [found] = this.masks.splice(at, 1);
      this.masks.unshift(found!);
      return found!.mask;
    }
    const mask = this.buildMask(folders, singles);
    this.masks = [{ version: this.version, folders, singles, mask }, ...this.masks.filter((cached) => cached.version === this.version)];
    this.masks.length = Math.min(this.masks.length, KEPT_MASKS);
    return mask;
  }

  /** Folders of a scope whose names have a term in one of the languages that its documents are in. */
  foldersNamed(term: string, { folders, languages }: ScopeMask): number[] {
    const named = this.folderTerms.get(term) ?? [];
    return named.filter((one) => folders.has(one.folder) && one.languages.some((language) => languages.includes(language))).map((one) => one.folder);
  }

  private buildMask(folders: Int32Array, singles: Int32Array): ScopeMask {
    const inFolders = new Set(folders);
    const total = this.refs.length;
    const documents = new Uint8Array(total);
    for (const ref of singles) {
      const index = this.indexOf.get(ref);
      if (index !== undefined) documents[index] = 1;
    }
    const words = new Uint32Array((this.slotDocument.length + 31) >> 5);
    const languages = new Set<string>();
    const named = new Set<number>();
    let [excerpts, length] = [0, 0];
    for (let index = 0; index < total; index++) {
      const byFolder = inFolders.has(this.folder[index]!);
      if (!this.live[index] || !(byFolder || documents[index] === 1)) {
        documents[index] = 0;
        continue;
      }
      documents[index] = 1;
      setRange(words, this.first[index]!, this.count[index]!);
      excerpts += this.count[index]!;
      length += this.words[index]!;
      languages.add(this.languageNames[this.language[index]!]!);
      // The name of a folder that the key does not read is no business of its documents read singly.
      if (byFolder) named.add(this.folder[index]!);
    }
    return { words, change: this.seen.change, excerpts, length, languages: [...languages].toSorted(), folders: named, documents };
  }

  private readAll(): void {
    this.slotDocument.fill(-1);
    this.indexOf.clear();
    this.free = [];
    for (const list of [this.ids, this.refs, this.folder, this.first, this.count, this.titleSlot, this.live, this.language, this.words]) {
      list.length = 0;
    }
    this.reader.allDocuments((entry) => this.put(this.refs.length, entry));
  }

  private readDocument(ref: number): void {
    const entry = this.reader.document(ref);
    let index = this.indexOf.get(ref);
    if (index !== undefined) {
      const first = this.first[index]!;
      this.slotDocument.fill(-1, first, first + this.count[index]!);
      this.slotDocument[this.titleSlot[index]!] = -1;
    }
    if (entry === null) {
      if (index === undefined) return;
      this.live[index] = false;
      this.count[index] = 0;
      this.indexOf.delete(ref);
      this.free.push(index);
      return;
    }
    index ??= this.free.pop() ?? this.refs.length;
    this.put(index, entry);
  }

  private put(index: number, entry: DocumentEntry): void {
    this.growTo(entry.titleSlot + 1);
    this.indexOf.set(entry.document, index);
    this.refs[index] = entry.document;
    this.ids[index] = entry.id;
    this.folder[index] = entry.folder;
    this.live[index] = entry.live;
    this.first[index] = entry.first;
    this.count[index] = entry.slots;
    this.titleSlot[index] = entry.titleSlot;
    const known = this.languageNames.indexOf(entry.language);
    this.language[index] = known < 0 ? this.languageNames.push(entry.language) - 1 : known;
    this.slotDocument.fill(index, entry.first, entry.first + entry.slots);
    this.slotDocument[entry.titleSlot] = index;
    this.slotLength.set(entry.lengths, entry.first);
    let words = 0;
    for (const length of entry.lengths) words += length;
    this.words[index] = words;
  }

  private growTo(slots: number): void {
    if (slots <= this.slotDocument.length) return;
    const room = Math.ceil((slots + (slots >> 3) + 1_024) / 32) * 32;
    const documents = new Int32Array(room).fill(-1);
    documents.set(this.slotDocument);
    const lengths = new Uint16Array(room);
    lengths.set(this.slotLength);
    this.slotDocument = documents;
    this.slotLength = lengths;
    this.version++;
  }

  private readFolders(): void {
    this.folderTerms.clear();
    for (const { folder, terms } of this.reader.folders()) {
      for (const [term, languages] of Object.entries(terms)) {
        const named = this.folderTerms.get(term);
        if (named === undefined) this.folderTerms.set(term, [{ folder, languages }]);
        else named.push({ folder, languages });
      }
    }
  }
}

function equalNumbers(a: Int32Array, b: Int32Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** Sets `count` bits from `first` on. */
export function setRange(words: Uint32Array, first: number, count: number): void {
  for (let slot = first; slot < first + count; ) {
    if ((slot & 31) === 0 && slot + 32 <= first + count) {
      words[slot >> 5] = 0xffffffff;
      slot += 32;
    } else {
      words[slot >> 5]! |= 1 << (slot & 31);
      slot++;
    }
  }
}

export const hasBit = (words: Uint32Array, slot: number): boolean => ((words[slot >> 5]! >>> (slot & 31)) & 1) === 1;

/** Set bits in a word: the usual fold. */
export function countBits(word: number): number {
  let v = word - ((word >>> 1) & 0x55555555);
  v = (v & 0x33333333) + ((v >>> 2) & 0x33333333);
  return (((v + (v >>> 4)) & 0x0f0f0f0f) * 0x01010101) >>> 24;
}
