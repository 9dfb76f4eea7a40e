import type { Actor } from '../access/actor.ts';
import type { LibraryDeps } from './deps.ts';
import type { DocumentView } from './views.ts';

export interface UploadTarget {
  folderId: string;
  /** Default `basic`. */
  preset?: string;
}

/**
 * Asked before the body is read: may this actor put documents there, is the preset known, is there room in the queue, is the
 * announced size allowed? AppError not_found, invalid (names the presets there are), busy (with Retry-After), too_large.
 */
export async function admitUpload(deps: LibraryDeps, actor: Actor, target: UploadTarget, announcedBytes?: number): Promise<void> {
  throw new Error(`not landed yet ${[deps, actor, target, announcedBytes].length}`);
}

/** One file: blob, then row, job and audit row in one transaction. Resolves when durable. The document is `processing`. */
export async function uploadDocument(
  deps: LibraryDeps,
  actor: Actor,
  target: UploadTarget,
  file: { name: string; source: AsyncIterable<Uint8Array> },
): Promise<DocumentView> {
  throw new Error(`not landed yet ${[deps, actor, target, file].length}`);
}

/** A new file for the same document (needs edit): the old pages serve until the new ones commit. */
export async function replaceDocument(
  deps: LibraryDeps,
  actor: Actor,
  documentId: string,
  file: { name?: string; source: AsyncIterable<Uint8Array> },
): Promise<DocumentView> {
  throw new Error(`not landed yet ${[deps, actor, documentId, file].length}`);
}
