import type { AgentKeyActor } from '../access/actor.ts';
import { authenticateForAgentDoor } from '../access/authentication.ts';
import { scopeOf, type ResolvedScope } from '../access/scope.ts';
import type { AgentAuditEntry, AgentDoorPorts, AgentKeyView, Credential, DocumentView, ListedDocument } from '../doors/agent/ports.ts';
import { AppError } from '../errors.ts';
import { chooseFolders, folderNames } from '../library/folder-choice.ts';
import type { LibraryDeps } from '../library/deps.ts';
import { viewableFile, type createPageViewer } from '../processing/view-page.ts';
import { searchDocuments, type SearchDeps } from '../search/search-documents.ts';
import type { DocumentRow } from '../storage/ports.ts';

export interface AgentPortDeps {
  library: LibraryDeps;
  search: SearchDeps;
  viewer: ReturnType<typeof createPageViewer>;
}

/** The agent door's ports over access, library, search, processing and audit. */
export function createAgentPorts(deps: AgentPortDeps): AgentDoorPorts {
  const { storage, audit } = deps.library;
  // A key view lives as long as its request: who is asking and what may be seen are worked out once a request, never longer.
  const requests = new WeakMap<AgentKeyView, { actor: AgentKeyActor; scope?: Promise<ResolvedScope> }>();
  const rows = new WeakMap<ListedDocument, DocumentRow>();

  const scopeFor = (key: AgentKeyView): Promise<ResolvedScope> => {
    const request = requestOf(key);
    return (request.scope ??= scopeOf(storage, request.actor));
  };
  const requestOf = (key: AgentKeyView) => {
    const request = requests.get(key);
    if (!request) throw new Error('A key view is good for the request that made it');
    return request;
  };
  const listed = async (documents: readonly DocumentRow[]): Promise<ListedDocument[]> => {
    const paths = await storage.folders.paths([...new Set(documents.map((document) => document.folder))]);
    return documents.map((row) => {
      const view = toListed(row, paths.get(row.folder) ?? '');
      rows.set(view, row);
      return view;
    });
  };

  return {
    async authenticate(authorization, caller): Promise<Credential> {
      try {
        const actor = await authenticateForAgentDoor(deps.library, { authorization }, { requestId: caller.requestId });
        const key: AgentKeyView = { ...actor.key };
        requests.set(key, { actor });
        return { kind: 'agent', key };
      } catch (error) {
        if (error instanceof AppError && error.code === 'personal_key') return { kind: 'personal' };
        if (error instanceof AppError && error.code === 'external_key') return { kind: 'external' };
        throw error;
      }
    },
    listFolders: async (key) => folderNames(await scopeFor(key)),
    chooseFolders: async (key, names) => chooseFolders(storage, await scopeFor(key), names),
    search: (scope, request, signal) => searchDocuments(deps.search, scope, request, signal),
    async listDocuments(scope, page) {
      const [total, documents] = await Promise.all([storage.documents.count(scope), storage.documents.list(scope, page.limit, page.offset)]);
      return { total, items: await listed(documents) };
    },
    async findDocument(key, id) {
      const row = await storage.documents.inScope(id, await scopeFor(key));
      if (!row) return null;
      const [item] = await listed([row]);
      const view: DocumentView = { ...(item as ListedDocument), ref: row.ref, pageView: await pageViewOf(deps, row), viewPages: row.pages };
      rows.set(view, row);
      return view;
    },
    async readPages(document, from, to) {
      const pages = await storage.pages.range(document.ref, from, to);
      return pages.map(({ number, text, toView }) => ({ number, text, toView }));
    },
    async drawPage(document, page, format) {
      const row = rows.get(document) ?? (await storage.documents.byRef(document.ref));
      if (!row) throw new AppError('not_found', 'This document has gone');
      return deps.viewer.view(row, page, format === 'image' ? 'png' : 'pdf');
    },
    async recordAudit(entry: AgentAuditEntry) {
      const { actor } = requestOf(entry.key);
      await audit.record({
        actor: { ...actor, requestId: entry.requestId, ...(entry.endUser === null ? {} : { endUser: entry.endUser }) },
        action: entry.action,
        ...(entry.documentId === null ? {} : { object: { kind: 'document', id: entry.documentId } }),
        detail: entry.detail,
        outcome: entry.outcome,
      });
    },
  };
}

async function pageViewOf(deps: AgentPortDeps, row: DocumentRow): Promise<DocumentView['pageView']> {
  try {
    await viewableFile(deps.library.storage, row);
    return 'ready';
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return row.pdfCopy === 'making' || row.status === 'processing' ? 'making' : 'none';
  }
}

const toListed = (row: DocumentRow, folder: string): ListedDocument => ({
  id: row.id,
  name: row.name,
  folder,
  type: row.type,
  pages: row.pages,
  pagesEstimated: row.pagesEstimated,
  pagesToView: row.pagesToView,
  uploadedAt: row.uploadedAt,
  // To an agent a reading that failed looks like a file without text (DESIGN.md section 8).
  status: row.status === 'failed' ? 'not_indexed' : row.status,
});
