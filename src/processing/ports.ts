/** What processing asks of formats, search and audit; app.ts plugs them in. */
import type { ReadOptions, ReadResult } from '../formats/types.ts';
import type { IndexedChunk } from '../search/types.ts';
import type { Stores } from '../storage/ports.ts';

/** A file on its way through the sandbox. */
export interface SourceFile {
  path: string;
  bytes: number;
  /** Display name, a hint only. */
  name: string;
  /** Whose it is: a warm child that has served one owner is not used for another. */
  owner: string;
}

export interface ReadSettings extends ReadOptions {
  signal: AbortSignal;
  /** Called for each file inside (a mail's attachments, an archive's files) as it is unpacked. */
  onAttachment?: (attachment: { name: string; bytes: Uint8Array }) => void;
}

export interface DocumentReader {
  /** Type by content, or null for a kind that Sergo does not read. Throws UnreadableFile for what can never be read (empty, needs a password). */
  sniff(file: SourceFile): Promise<string | null>;
  /** Throws UnreadableFile for what is wrong with the file; anything else is our fault and is tried again. */
  read(type: string, file: SourceFile, settings: ReadSettings): Promise<ReadResult>;
}

export interface CopyMaker {
  /** Null when such files can have a copy; otherwise the sentence that says what is missing and what that costs. */
  missing(type: string): string | null;
  toPdf(file: SourceFile, type: string, signal: AbortSignal): Promise<Uint8Array>;
}

export interface PageDrawer {
  /** 110 dpi, longer side at most 1,568 px (seeds/000). */
  draw(file: SourceFile, page: number, signal?: AbortSignal): Promise<Uint8Array>;
  /** That page alone with its text layer. */
  cut(file: SourceFile, page: number, signal?: AbortSignal): Promise<Uint8Array>;
}

/** What OCR made of one page; `text` is empty when there was none, or none to be trusted. */
export interface OcrPage {
  text: string;
  /** Why it could not be read, as the end of a sentence. */
  failed?: string;
}

export interface Ocr {
  /** What is missing for OCR to work, as a sentence. */
  missing(): Promise<string | undefined>;
  read(file: SourceFile, pages: number[], settings: { signal: AbortSignal; onPage: () => void }): Promise<Map<number, OcrPage>>;
  /** The same PDF with the words of these pages laid over them invisibly, for the `ocr` alternative file. */
  searchablePdf(file: SourceFile, pages: ReadonlyMap<number, OcrPage>, signal: AbortSignal): Promise<Uint8Array>;
}

/** search/ makes excerpts of pages and their analysed form. */
export interface Excerpts {
  chunk(result: Pick<ReadResult, 'type' | 'pages' | 'pagesEstimated'>): IndexedChunk[];
  analyse(document: { name: string; title?: string; folderName: string }, chunks: readonly IndexedChunk[]): Promise<unknown>;
}

/** One audit row by the system, inside the transaction it tells of. */
export type AppendSystemAudit = (
  stores: Stores,
  entry: { action: 'document processed' | 'pdf copy made'; documentId: string; detail: string; outcome: 'ok' | 'error' },
) => Promise<void>;
