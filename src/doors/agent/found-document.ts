import { notFound } from '../../errors.ts';
import type { DocumentView } from './ports.ts';
import { cleanLine } from './text.ts';
import { Refusal, type ToolCall } from './tool.ts';

/** The document a tool was asked for. Unknown and not this key's are one answer (AppError `not_found`). */
export async function findDocument(call: ToolCall, id: string): Promise<DocumentView> {
  call.note.documentId = cleanLine(id.slice(0, 64));
  call.note.detail = 'no such document';
  const document = await call.ports.findDocument(call.actor, id);
  if (document === null) throw notFound();
  call.note.detail = cleanLine(document.name);
  return document;
}

/** How many pages it has; throws Refusal when there is no such page, or when nothing is known of any. */
export function checkPage(page: number, { pages, status }: Pick<DocumentView, 'pages' | 'status'>): number {
  if (pages === null) {
    throw new Refusal(
      status === 'processing'
        ? 'This document is still being read — try again in a moment'
        : 'This document could not be read, so it has no pages to show — `list_documents` says what else is here',
    );
  }
  if (page > pages) throw new Refusal(`This document has ${pages} ${pages === 1 ? 'page' : 'pages'}`);
  return pages;
}
