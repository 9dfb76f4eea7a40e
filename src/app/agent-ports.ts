import type { AgentKeyActor } from '../access/actor.ts';
import { authenticateForAgentDoor } from '../access/authentication.ts';
import { scopeOf, type ResolvedScope } from '../access/scope.ts';
import type { AgentDoorPorts, DocumentView, ListedDocument, PageText } from '../doors/agent/ports.ts';
import type { RateLimits } from '../doors/http-limits.ts';
import { AppError, notFound } from '../errors.ts';
import { chooseFolders, folderNames } from '../library/folder-choice.ts';
import type { LibraryDeps } from '../library/deps.ts';
import { pageViewState, type PageViewer } from '../processing/view-page.ts';
import { searchDocuments, type SearchDeps } from '../search/search-documents.ts';
import type { DocumentRow } from '../storage/ports.ts';

export interface AgentPortDeps {
  library: LibraryDeps;
  search: SearchDeps;
  viewer: PageViewer;
  limits: RateLimits;
}

/** The agent door's ports over access, library, search, processing and audit. */
export function createAgentPorts(deps: AgentPortDeps): AgentDoorPorts {
  const { storage, audit } = deps.library;
  const rows = new WeakMap<ListedDocument, DocumentRow>();

  const scopeFor = (actor: AgentKeyActor): Promise<ResolvedScope> =>
    storage.recall(`scope of key ${actor.key.ref}`, () => scopeOf(storage, actor));
  const rowOf = (document: ListedDocument): DocumentRow => {
    const row = rows.get(document);
    if (!row) throw notFound();
    return row;
  };
  /** One that is read again, or was replaced, is found by its old pages until the new ones are there: searchable, whatever it waits for. */
  const listed = async (documents: readonly DocumentRow[]): Promise<ListedDocument[]> => {
    const paths = await storage.folders.paths([...new Set(documents.map((document) => document.folder))]);
    const readAgain = documents.filter((row) => row.status === 'processing' && row.pages !== null).map((row) => row.ref);
    const found = new Set(readAgain.length === 0 ? [] : await storage.chunks.documentsWith(readAgain));
    return documents.map((row) => toListed(row, paths.get(row.folder) ?? '', found.has(row.ref)));
  };

  return {
    async authenticate({ authorization, xApiKey, endUser, requestId, remoteAddress, connection }) {
      let actor: AgentKeyActor;
      try {
        actor = await authenticateForAgentDoor(deps.library, { authorization, xApiKey }, { requestId, endUser, connection, heldUp: () => deps.limits.heldUp(remoteAddress) });
      } catch (error) {
        throw error instanceof AppError && error.code === 'bad_key' ? deps.limits.badCredential(remoteAddress, error) : error;
      }
      deps.limits.takeCall(actor.key.id);
      return actor;
    },
    listFolders: (actor) => storage.recall(`folders of key ${actor.key.ref}`, async () => folderNames(await scopeFor(actor))),
    chooseFolders: async (actor, names) => chooseFolders(storage, await scopeFor(actor), names),
    search: (scope, request, signal) => searchDocuments(deps.search, scope, request, signal),
    async listDocuments(scope, page) {
      const [total, documents] = await Promise.all([storage.documents.count(scope), storage.documents.list(scope, page.limit, page.offset)]);
      return { total, items: await listed(documents) };
    },
    findDocument: (actor, id) =>
      storage.recall(`document for key ${actor.key.ref} ${id}`, async () => {
        const row = await storage.documents.inScope(id, await scopeFor(actor));
        if (!row) return null;
        const [item] = await listed([row]);
        const view: DocumentView = { ...(item as ListedDocument), ref: row.ref };
        rows.set(view, row);
        return view;
      }),
    readPages(document, from, to) {
      const read = (): Promise<PageText[]> => storage.pages.texts(document.ref, from, to);
      // One page is what agents mostly ask for, and what a search put first is asked for again.
      return from === to ? storage.recall(`page ${document.ref} ${from}`, read, areShort) : read();
    },
    async pageView(document) {
      return pageViewState(storage, rowOf(document));
    },
    async drawPage(document, page, format) {
      const row = rowOf(document);
      return deps.viewer.view(row, page, format === 'image' ? 'png' : 'pdf');
    },
    audit,
  };
}

/** Characters of a page that is kept in memory, one of a thousand answers at most: a full page of print has some 4,000. */
const SHORT_PAGE = 8_000;
const areShort = (pages: readonly PageText[]): boolean => pages.every(({ text }) => text.length <= SHORT_PAGE);

const toListed = (row: DocumentRow, folder: string, isFoundMeanwhile: boolean): ListedDocument => ({
  id: row.id,
  name: row.name,
  folder,
  type: row.type,
  pages: row.pages,
  pagesEstimated: row.pagesEstimated,
  pagesToView: row.pagesToView,
  uploadedAt: row.uploadedAt,
  status: isFoundMeanwhile ? 'ready' : statusForAgents(row),
});

/** To an agent a reading that failed looks like a file without text (DESIGN.md section 8). */
const statusForAgents = ({ status }: DocumentRow): ListedDocument['status'] => (status === 'failed' ? 'not_indexed' : status);
