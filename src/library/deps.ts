import type { AccessDeps } from '../access/deps.ts';
import type { BlobStore, DocumentRow, FolderRow, Stores } from '../storage/ports.ts';

export interface LibraryLimits {
  /** Default 2 GiB. */
  maxFileBytes: number;
  /** Open jobs beyond which uploads are refused early. Default 10,000. */
  maxOpenJobs: number;
  /** What may come out of one archive or mail, archives inside it included. Default 10,000 files and 1 GiB. */
  maxInnerFiles: number;
  maxInnerBytes: number;
}

export const defaultLibraryLimits: LibraryLimits = { maxFileBytes: 2 * 1024 ** 3, maxOpenJobs: 10_000, maxInnerFiles: 10_000, maxInnerBytes: 1024 ** 3 };

export interface LibraryDeps extends AccessDeps {
  blobs: BlobStore;
  limits: LibraryLimits;
  /** Puts a document's new name into its index rows, inside the rename's transaction (search/ knows how a title is analysed). */
  reindexTitle(stores: Stores, document: DocumentRow): Promise<void>;
  /** The same for a folder's name, by which its documents are found a little. */
  indexFolderName(stores: Stores, folder: FolderRow): Promise<void>;
}
