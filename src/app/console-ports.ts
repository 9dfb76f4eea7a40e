import { createHash } from 'node:crypto';
import { scopeOf, type ResolvedScope } from '../access/scope.ts';
import { describeUnknownFolder } from '../doors/agent/folders.ts';
import { presentDocument } from '../doors/agent/search.ts';
import type { ConsolePorts, SearchResult } from '../doors/console/ports.ts';
import { AppError, notFound } from '../errors.ts';
import { chooseFolders, folderNames } from '../library/folder-choice.ts';
import type { LibraryDeps } from '../library/deps.ts';
import type { PageViewer } from '../processing/view-page.ts';
import { explainDocuments } from '../search/explain-documents.ts';
import type { SearchPorts } from '../search/replay.ts';
import { searchDocuments, type SearchDeps } from '../search/search-documents.ts';
import type { Scope } from '../search/types.ts';

export interface ConsolePortDeps {
  library: LibraryDeps;
  search: SearchDeps;
  viewer: PageViewer;
  health: ConsolePorts['health'];
}

/** The agent tool's search for doors and commands, narrowed to folders by name as the tool does it. */
export function createSearchPorts({ library, search: engine }: Pick<ConsolePortDeps, 'library' | 'search'>): SearchPorts<SearchResult> {
  const narrowed = async (scope: ResolvedScope, folders: string[] | null): Promise<Scope> => {
    const choice = await chooseFolders(library.storage, scope, folders);
    if ('scope' in choice) return choice.scope;
    throw new AppError('invalid', describeUnknownFolder(choice.unknown, folderNames(scope)), { field: 'folders' });
  };
  return {
    explain: async (scope, { folders, ...request }, signal) => explainDocuments(engine, await narrowed(scope, folders), request, signal),
    async search(scope, { folders, ...request }, signal) {
      const found = await searchDocuments(engine, await narrowed(scope, folders), request, signal);
      const count = found.documents.reduce((sum, document) => sum + document.excerpts.length, 0);
      // The same presenter as the tool's, so that the two cannot say different things of one document.
      const results = found.documents.map(presentDocument) as SearchResult[];
      return { results, count, nextOffset: found.nextOffset };
    },
  };
}

/** What the console's API needs beyond the services, filled in over the same search and pictures that agents get. */
export function createConsolePorts(deps: ConsolePortDeps): ConsolePorts {
  const { storage, audit } = deps.library;
  return {
    ...createSearchPorts(deps),
    async viewPage(actor, documentId, page, format) {
      const document = await storage.documents.inScope(documentId, await scopeOf(storage, actor));
      if (!document) {
        await audit.record({ actor, action: 'page viewed', object: { kind: 'document', id: documentId }, outcome: 'denied' });
        throw notFound();
      }
      if (document.pages !== null && page > document.pages) {
        throw new AppError('not_found', `This document has ${document.pages} ${document.pages === 1 ? 'page' : 'pages'}`);
      }
      const bytes = await deps.viewer.view(document, page, format);
      await audit.record({ actor, action: 'page viewed', object: { kind: 'document', id: document.id }, detail: `${document.name}, page ${page}, ${format}` });
      return { bytes, sha256: createHash('sha256').update(bytes).digest('hex'), name: `${document.name} - page ${page}.${format}` };
    },
    busyDocuments: (limit) => storage.jobs.openDocuments(limit),
    health: deps.health,
  };
}
