import type { Clock } from '../clock.ts';
import type { BlobStore, DocumentRow, Storage, Stores } from '../storage/ports.ts';
import type { AppendSystemAudit, CopyMaker, DocumentReader, Excerpts, Ocr } from './ports.ts';

export interface ProcessingDeps {
  storage: Storage;
  blobs: BlobStore;
  clock: Clock;
  reader: DocumentReader;
  copies: CopyMaker;
  ocr: Ocr;
  /** Turns the files inside a document into documents, in the transaction that ends its reading. Answers how many were made. */
  placeInnerFiles(stores: Stores, document: DocumentRow, files: readonly { path: string; blob: { sha256: string; bytes: number } }[]): Promise<number>;
  /** How much of what is inside this document may become documents; null when it lies too deep in others itself. */
  roomInside(document: DocumentRow): Promise<{ files: number; bytes: number } | null>;
  excerpts: Excerpts;
  audit: AppendSystemAudit;
  /** `readMs`: wall time for one file over all steps and attempts, but for waiting and OCR. Default 108 s. */
  limits: { pages: number; unpackedBytes: number; readMs?: number };
  /** False while the disk is too full for what a job writes: it then waits in the queue. */
  hasRoom?(): Promise<boolean>;
  log: { info(data: object, message: string): void; warn(data: object, message: string): void };
}

/** The lease was lost (cancelled, replaced, or run out and dealt again): nothing of this run may be written. */
export class LeaseLost extends Error {}
