import type { Clock } from '../clock.ts';
import type { BlobStore, Storage } from '../storage/ports.ts';
import type { AppendSystemAudit, CopyMaker, DocumentReader, Excerpts, Ocr } from './ports.ts';

export interface ProcessingDeps {
  storage: Storage;
  blobs: BlobStore;
  clock: Clock;
  reader: DocumentReader;
  copies: CopyMaker;
  /** Null when tesseract is missing: presets with OCR then say so on the document. */
  ocr: Ocr | null;
  excerpts: Excerpts;
  audit: AppendSystemAudit;
  limits: { pages: number; unpackedBytes: number; readWallMs: number };
  /** False while the disk is too full for what a job writes: it then waits in the queue. */
  hasRoom?(): Promise<boolean>;
  log: { info(data: object, message: string): void; warn(data: object, message: string): void };
}

/** The lease was lost (cancelled, replaced, or run out and dealt again): nothing of this run may be written. */
export class LeaseLost extends Error {}
