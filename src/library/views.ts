import type { DocumentStatus, PageRow, PdfCopyState } from '../storage/ports.ts';

/** A document as DESIGN.md section 7 fixes it; the order of fields is the order on the wire. */
export interface DocumentView {
  id: string;
  ref: number;
  name: string;
  type: string;
  status: DocumentStatus;
  reason?: string;
  progress?: { done: number; total: number; what: string };
  pages?: number;
  pagesEstimated: boolean;
  pagesToView: number[];
  imageOnlyPages: number[];
  pdfCopy: PdfCopyState;
  /** Path from the owner's root, such as `Ava Bennett's documents/Energy outlooks`. */
  folder: string;
  folderId: string;
  sha256: string;
  bytes: number;
  /** ISO 8601, UTC. */
  uploaded: string;
  preset: string;
  notices: string[];
}

export interface FolderView {
  id: string;
  name: string;
  path: string;
  /** Null at a root, and where the folder above is not the actor's to see. */
  parentId: string | null;
}

export interface FolderContents extends FolderView {
  folders: FolderView[];
  documents: DocumentView[];
  /** Documents directly in it, for paging. */
  documentCount: number;
}

export interface PageView {
  page: number;
  text: string;
  /** `view` when its text may miss a figure, chart or table; `image_only` when it has no text at all; else null. */
  mark: 'view' | 'image_only' | null;
  fate: PageRow['fate'];
}

export interface TrashView {
  folders: (FolderView & { trashed: string })[];
  documents: (DocumentView & { trashed: string })[];
}
