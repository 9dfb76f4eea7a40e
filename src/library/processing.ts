import type { Actor } from '../access/actor.ts';
import type { LibraryDeps } from './deps.ts';
import type { DocumentView } from './views.ts';

/** Reads the document again; the old pages serve until the new ones commit. AppError not_found, invalid (names the presets), busy. */
export async function reprocessDocument(deps: LibraryDeps, actor: Actor, id: string, preset: string): Promise<DocumentView> {
  throw new Error(`not landed yet ${[deps, actor, id, preset].length}`);
}

/** "Make a PDF copy". AppError invalid where the type has none (PDFs are drawn as they are, text files have no pages to draw). */
export async function makePdfCopy(deps: LibraryDeps, actor: Actor, id: string): Promise<DocumentView> {
  throw new Error(`not landed yet ${[deps, actor, id].length}`);
}

/** Stops queued and running work on the document; what it had before goes on serving. */
export async function cancelProcessing(deps: LibraryDeps, actor: Actor, id: string): Promise<DocumentView> {
  throw new Error(`not landed yet ${[deps, actor, id].length}`);
}
