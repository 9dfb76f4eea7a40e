/** What processing asks of formats, search and audit; app.ts plugs them in. */
import type { Readable } from 'node:stream';
import type { CopyOptions } from '../formats/copy-maker.ts';
import type { DocumentReader as FormatReader, FileToRead, ReadSettings } from '../formats/document-reader.ts';
import type { ReadResult } from '../formats/types.ts';
import type { IndexedChunk } from '../search/types.ts';
import type { Stores } from '../storage/ports.ts';

/** A file on its way through the sandbox. */
export type SourceFile = FileToRead;

/** Closing is the business of whoever opened it. */
export type DocumentReader = Pick<FormatReader, 'sniff' | 'read'>;

export type { ReadSettings };

export interface CopyMaker {
  /** Null when such files can have a copy; otherwise the sentence that says what is missing and what that costs. */
  missing(type: string): string | null;
  toPdf(file: SourceFile, type: string, options: CopyOptions): Promise<Uint8Array>;
  /** A copy of a file of this type will be wanted soon. */
  warm?(type: string, owner: string): void;
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
  /** The same PDF with the words of these pages laid over them invisibly, for the `ocr` alternative file; `keep` stores it. Throws UnreadableFile. */
  searchablePdf<T>(file: SourceFile, pages: ReadonlyMap<number, OcrPage>, signal: AbortSignal, keep: (file: Readable) => Promise<T>): Promise<T>;
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
