/**
 * What the console's API asks of the house beyond the services of access, library and audit. The composition root fills these
 * in; each says whose rights it is called with, and checks them itself where it takes an actor.
 */
import type { UserActor } from '../../access/actor.ts';
import type { SearchPorts } from '../../search/replay.ts';

/** One document of a search answer; keys and their order are those of the agent tool (seeds/000 "search"). */
export interface SearchResult {
  document_id: string;
  document: string;
  folder: string;
  pages_estimated?: true;
  image_only_pages?: number[];
  hits: { page?: number; section?: string; view_page_may_help?: true; excerpt: string }[];
}

/**
 * The agent tool's own search, inside a scope: the same ranking, cap and offsets. `folders` by name or path, null for all.
 * AppError invalid for an unknown folder name, with the tool's sentence. Not audited here: the door does that.
 */
export interface ConsolePorts extends SearchPorts<SearchResult> {
  /**
   * One page as a PNG (110 dpi, longer side at most 1,568 pixels) or as a PDF of that page alone, for whoever may read the
   * document; audited as `page viewed` before it resolves. AppError not_found, invalid (no such page, no page view), not_ready.
   */
  viewPage(
    actor: UserActor,
    documentId: string,
    page: number,
    format: 'png' | 'pdf',
    signal: AbortSignal,
  ): Promise<{ bytes: Uint8Array; sha256: string; name: string }>;

  /** Internal rows of documents that have queued or running work, oldest first: what progress is watched by. */
  busyDocuments(limit: number): Promise<number[]>;

  /** What people should know of this install: sandbox mode, missing programs and fonts, models that search does without. */
  health(): Promise<{ checks: Record<string, { ok: boolean; detail?: string }>; notices: string[] }>;
}
