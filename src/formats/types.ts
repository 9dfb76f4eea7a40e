/** What a format module hands back: bytes in, pages out. Formats know nothing of documents, keys or storage. */

/** What became of one page: no page is ever silently lost (DESIGN.md section 8). */
export type PageFate = 'text' | 'ocr' | 'image_only' | 'garbled' | 'empty' | 'failed';

export interface ReadPage {
  /** 1-based. */
  number: number;
  /** Text in reading order, lines end `\n`. Empty for image-only, garbled, empty and failed pages. */
  text: string;
  fate: PageFate;
  /** True when the page's text may miss a figure, chart or table ("page to view"). */
  toView: boolean;
  /** Page size in points, where the file has one. */
  width?: number;
  height?: number;
  /** Headings and where they start in `text` (UTF-16 offset), in order. */
  sections?: { start: number; title: string }[];
  /** Speaker notes, comments and the like: searchable, but kept apart from the page's own text. */
  notes?: string;
  /** Text hidden from the eye (white, zero size, off page): stored apart and labelled, never indexed. */
  hidden?: string;
  /** A picture over most of the page and only a few typed words (a stamp, a fax header, a number): OCR reads such a page too. */
  scan?: true;
}

export interface ReadResult {
  /** Type by content: `pdf`, `pptx`, `docx`, `txt`, `md`, `csv`, … */
  type: string;
  pages: ReadPage[];
  /** True for files without pages of their own (docx, txt, md, csv, html, eml): `pages` are estimates. */
  pagesEstimated: boolean;
  /** Title from the file's own properties, if it has a sensible one. */
  title?: string;
  /** Sentences for the person who owns the document ("Font X is missing: the layout may differ"). */
  notices?: string[];
  /** Files inside (mail attachments): they become documents beside this one. Names are as the file says, not cleaned. */
  attachments?: Attachment[];
}

export interface Attachment {
  name: string;
  readonly bytes: Uint8Array;
  /** True for a picture that the mail's own page shows: its PDF copy shows it too. */
  inline?: boolean;
  /**
   * The same content piece by piece, for files inside an archive, which are unpacked only as they are handed on. Each piece is good
   * until the next one. Throws DamagedPart when this one is broken, any other UnreadableFile when the whole archive is refused.
   */
  stream?(onPiece: (piece: Uint8Array) => void): void;
}

/** A reading that cannot succeed for a reason in the file: ends in `not_indexed` with this sentence. */
export class UnreadableFile extends Error {
  readonly reason: string;
  constructor(reason: string) {
    super(reason);
    this.name = 'UnreadableFile';
    this.reason = reason;
  }
}

/** One file inside an archive that cannot be unpacked: the others can. */
export class DamagedPart extends UnreadableFile {}

export interface ReadOptions {
  /** Display name, used only as a hint and for messages. */
  name: string;
  /** Pages beyond this are refused as a whole (`too large to read: …`). Default 5,000. */
  maxPages: number;
  /** Bytes a container may unpack to, counted while inflating. Default 1 GiB. */
  maxUnpackedBytes: number;
  /** Font families on this server, lower case: where given, a file that needs others says so. */
  availableFonts?: readonly string[];
  /** Called as pages are done; `total` is 0 while unknown. */
  onProgress?: (done: number, total: number) => void;
}

/** One file per format: a line in `formats/index.ts` registers it. */
export interface Format {
  /** `pdf`, `docx`, … the same word that documents carry as `type`. */
  type: string;
  /** True when these first bytes (up to 64 KiB) are of this format; `name` breaks ties between text formats only. */
  sniff(head: Uint8Array, name: string): boolean;
  read(bytes: Uint8Array, options: ReadOptions): Promise<ReadResult>;
}
