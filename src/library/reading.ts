import type { Actor } from '../access/actor.ts';
import type { FileKind } from '../storage/ports.ts';
import type { LibraryDeps } from './deps.ts';
import type { PageView } from './views.ts';

/** One page's text and fate; audited as `text read`. AppError not_found also for a page that is not there; not_ready while first read. */
export async function readPage(deps: LibraryDeps, actor: Actor, id: string, page: number): Promise<PageView> {
  throw new Error(`not landed yet ${[deps, actor, id, page].length}`);
}

/**
 * The facts for sending a file of a document; audited as `file downloaded` before this resolves. `name` is display text: the door
 * writes it by RFC 6266 and sends originals only as attachments.
 */
export async function openFile(
  deps: LibraryDeps,
  actor: Actor,
  id: string,
  kind?: FileKind,
): Promise<{ name: string; mime: string; bytes: number; sha256: string }> {
  throw new Error(`not landed yet ${[deps, actor, id, kind].length}`);
}
