import type { Actor } from '../access/actor.ts';
import { guarded } from '../access/guard.ts';
import { requireDocument } from '../access/policy.ts';
import { AppError } from '../errors.ts';
import type { DocumentRow, FileKind, PageRow } from '../storage/ports.ts';
import type { LibraryDeps } from './deps.ts';
import type { PageView } from './views.ts';

/** One page's text and fate; audited as `text read`. AppError not_found also for a page that is not there; not_ready while first read. */
export async function readPage(deps: LibraryDeps, actor: Actor, id: string, page: number): Promise<PageView> {
  const object = { kind: 'document', id } as const;
  const document = await guarded(deps, actor, { action: 'text read', object, detail: `page ${page}` }, () =>
    requireDocument(deps.storage, actor, 'read', id),
  );
  const row = await deps.storage.pages.get(document.ref, page);
  if (row === null) throw noSuchPage(document);
  await deps.audit.record({ actor, action: 'text read', object, detail: `${document.name}, page ${page}` });
  const { notes, hidden } = row;
  return { page: row.number, text: row.text, mark: markOf(row), fate: row.fate, ...(notes === null ? {} : { notes }), ...(hidden === null ? {} : { hidden }) };
}

/** `image_only` for a marked page without text, which search cannot find; `view` for another marked one. */
export function markOf(page: Pick<PageRow, 'toView' | 'text'>): PageView['mark'] {
  if (!page.toView) return null;
  return page.text.trim() === '' ? 'image_only' : 'view';
}

/** Why a page that was asked for is not there, in a sentence (that the document is, is no secret to this actor). */
export function noSuchPage(document: DocumentRow): AppError {
  if (document.pages !== null) return new AppError('not_found', `This document has ${document.pages} page${document.pages === 1 ? '' : 's'}`);
  if (document.status === 'processing') return new AppError('not_ready', 'This document is still being read — try again in a moment');
  return new AppError('not_ready', document.reason ?? 'This document has no pages to read');
}

/**
 * The facts for sending a file of a document; audited as `file downloaded` before this resolves. `name` is display text: the door
 * writes it by RFC 6266 and sends originals only as attachments.
 */
export async function openFile(
  deps: LibraryDeps,
  actor: Actor,
  id: string,
  kind: FileKind = 'original',
): Promise<{ name: string; mime: string; bytes: number; sha256: string }> {
  const object = { kind: 'document', id } as const;
  const document = await guarded(deps, actor, { action: 'file downloaded', object, detail: kind }, () =>
    requireDocument(deps.storage, actor, 'read', id),
  );
  const file = await deps.storage.files.get(document.ref, kind);
  if (file === null) throw new AppError('not_found', `This document has no ${kind === 'ocr' ? 'OCR file' : kind === 'pdf-copy' ? 'PDF copy' : 'file'}`);
  await deps.audit.record({ actor, action: 'file downloaded', object, detail: `${document.name}, ${kind}, ${file.bytes} bytes` });
  const name = kind === 'original' ? document.name : file.name;
  return { name, mime: file.mime, bytes: file.bytes, sha256: file.sha256 };
}
