/**
 * A small library in memory behind the agent door's ports: real folders, real text, the reference's way of dealing excerpts
 * into answers. What it leaves out is ranking (words in common), keys (one value a kind) and drawing.
 */
import type { AgentKeyActor } from '../../src/access/actor.ts';
import type { AuditEntry } from '../../src/audit/types.ts';
import type { AgentDoorPorts, DocumentView, FoundDocument, PageText, PageView } from '../../src/doors/agent/ports.ts';
import { AppError } from '../../src/errors.ts';
import type { Scope } from '../../src/search/types.ts';

export interface FakeFolder {
  ref: number;
  name: string;
  parent: number | null;
}

export interface FakeDocument {
  id: string;
  name: string;
  folder: number;
  type?: string;
  /** Null while the document has not been read. */
  pages: { text: string; toView?: boolean; section?: string }[] | null;
  pagesEstimated?: boolean;
  status?: DocumentView['status'];
  pageView?: PageView;
  uploadedAt?: number;
}

export interface FakeLibrary {
  folders: FakeFolder[];
  documents: FakeDocument[];
  key: { name: string; description: string; folders: number[]; documents: string[] };
  /** When set, search finds these pages in this order whatever is asked. */
  ranking?: { id: string; page: number }[];
}

export const AGENT_KEY = 'sgk_s_agent';

export interface FakePorts {
  ports: AgentDoorPorts;
  /** What was written, in order. */
  audit: AuditEntry[];
  /** Calls of `readPages`, as `from-to`. */
  reads: string[];
}

export function createFakePorts(library: FakeLibrary): FakePorts {
  const audit: AuditEntry[] = [];
  const reads: string[] = [];
  const folderOf = (ref: number) => library.folders.find((folder) => folder.ref === ref)!;
  const pathOf = (ref: number): string => {
    const { name, parent } = folderOf(ref);
    return parent === null ? name : `${pathOf(parent)}/${name}`;
  };
  const inside = (ref: number): number[] =>
    library.folders.filter((folder) => folder.parent === ref).flatMap((folder) => [folder.ref, ...inside(folder.ref)]);
  const withInside = (refs: number[]): number[] => [...new Set(refs.flatMap((ref) => [ref, ...inside(ref)]))];
  const readable = (): Scope => ({
    folders: withInside(library.key.folders),
    documents: library.documents.flatMap((document, ref) => (library.key.documents.includes(document.id) ? [ref] : [])),
  });
  const inScope = (scope: Scope, document: FakeDocument) =>
    scope.folders.includes(document.folder) || scope.documents.includes(library.documents.indexOf(document));
  const fold = (name: string) => name.normalize('NFC').toLowerCase();

  const view = (document: FakeDocument): DocumentView => {
    const marked = (document.pages ?? []).flatMap((page, at) => (page.toView ? [at + 1] : []));
    return {
      ref: library.documents.indexOf(document),
      id: document.id,
      name: document.name,
      folder: pathOf(document.folder),
      type: document.type ?? 'pdf',
      pages: document.pages?.length ?? null,
      pagesEstimated: document.pagesEstimated ?? false,
      pagesToView: marked,
      uploadedAt: document.uploadedAt ?? Date.UTC(2026, 9, 24, 12),
      status: document.status ?? 'ready',
    };
  };
  const found = (document: FakeDocument): FoundDocument => {
    const { id, name, folder, pagesEstimated } = view(document);
    const imageOnlyPages = (document.pages ?? []).flatMap((page, at) =>
      page.toView && page.text === '' ? [at + 1] : [],
    );
    return { id, name, folder, pagesEstimated, imageOnlyPages, excerpts: [] };
  };

  const rank = (scope: Scope, query: string): { document: FakeDocument; page: number }[] => {
    if (library.ranking)
      return library.ranking.map(({ id, page }) => ({
        document: library.documents.find((one) => one.id === id)!,
        page,
      }));
    const words = fold(query)
      .split(/[^\p{L}\p{N}]+/u)
      .filter((word) => word.length > 2);
    return library.documents
      .filter((document) => inScope(scope, document))
      .flatMap((document) =>
        (document.pages ?? []).map((page, at) => ({
          document,
          page: at + 1,
          score: words.filter((word) => fold(page.text).includes(word)).length,
        })),
      )
      .filter(({ score }) => score > 0)
      .sort(
        (a, b) =>
          b.score - a.score ||
          (a.document.id < b.document.id ? -1 : a.document.id > b.document.id ? 1 : a.page - b.page),
      )
      .slice(0, 60);
  };

  const ports: AgentDoorPorts = {
    async authenticate({ authorization, requestId, endUser }) {
      if (authorization === undefined)
        throw new AppError('no_auth', 'No credentials — send a login token or an sgk_ key in the Authorization header');
      if (authorization !== `Bearer ${AGENT_KEY}`)
        throw new AppError(
          'bad_key',
          "Malformed key — the prefix or checksum doesn't match, so check the value wasn't truncated when copied",
        );
      const actor: AgentKeyActor = {
        kind: 'agent_key',
        key: {
          ref: 1,
          id: 'kEy00001',
          name: library.key.name,
          description: library.key.description,
          masked: 'sgk_s_…wNGk',
        },
        owner: { ref: 1, id: 'uSer0001', name: 'Ava Bennett', email: 'ava@example.com', role: 'member', rootFolder: 1 },
        requestId,
      };
      return endUser === undefined ? actor : { ...actor, endUser };
    },
    async listFolders() {
      return {
        names: library.key.folders.map((ref) => folderOf(ref).name),
        inside: library.key.folders.flatMap(inside).map((ref) => folderOf(ref).name),
      };
    },
    async chooseFolders(_actor, names) {
      const scope = readable();
      if (names === null) return { scope };
      const chosen: number[] = [];
      for (const name of names) {
        const fits = scope.folders.filter(
          (ref) =>
            fold(folderOf(ref).name) === fold(name) ||
            fold(pathOf(ref)).endsWith(`/${fold(name)}`) ||
            fold(pathOf(ref)) === fold(name),
        );
        if (fits.length === 0) return { unknown: name };
        chosen.push(...fits);
      }
      return { scope: { folders: withInside(chosen), documents: [] } };
    },
    async search(scope, { query, limit, offset }) {
      let left = rank(scope, query);
      const answer: typeof left = [];
      // Deal answer after answer: the best that are left, at most half of the limit from one document.
      const dealt: typeof left = [];
      while (left.length > 0 && dealt.length < offset + limit) {
        const taken = new Map<FakeDocument, number>();
        const hand = left
          .filter(({ document }) => {
            const count = (taken.get(document) ?? 0) + 1;
            if (count > Math.ceil(limit / 2)) return false;
            taken.set(document, count);
            return true;
          })
          .slice(0, limit);
        dealt.push(...hand);
        left = left.filter((one) => !hand.includes(one));
        if (dealt.length > offset && dealt.length - hand.length <= offset)
          answer.push(...dealt.slice(offset, offset + limit));
      }
      const documents = new Map<FakeDocument, FoundDocument>();
      for (const { document, page } of answer) {
        if (!documents.has(document)) documents.set(document, found(document));
        const { text, toView, section } = document.pages![page - 1]!;
        documents.get(document)!.excerpts.push({
          page: section === undefined ? page : null,
          section: section ?? null,
          toView: toView ?? false,
          text,
        });
      }
      const more = left.length > 0 || dealt.length > offset + answer.length;
      return {
        documents: [...documents.values()],
        nextOffset: more && answer.length > 0 ? offset + answer.length : null,
      };
    },
    async listDocuments(scope, { limit, offset }) {
      const all = library.documents.filter((document) => inScope(scope, document)).map(view);
      all.sort((a, b) => b.uploadedAt - a.uploadedAt || b.ref - a.ref);
      return { total: all.length, items: all.slice(offset, offset + limit) };
    },
    async findDocument(_actor, id) {
      const document = library.documents.find((one) => one.id === id);
      return document && inScope(readable(), document) ? view(document) : null;
    },
    async readPages(document, from, to) {
      reads.push(`${from}-${to}`);
      const pages = library.documents[document.ref]!.pages ?? [];
      return pages
        .slice(from - 1, to)
        .map((page, at): PageText => ({ number: from + at, text: page.text, toView: page.toView ?? false }));
    },
    async pageView(document) {
      return library.documents[document.ref]!.pageView ?? 'ready';
    },
    async drawPage(document, page, format) {
      if (page === 13) throw new AppError('not_ready', 'This page could not be drawn — the file is damaged there');
      return Buffer.from(`${format} of ${document.id} page ${page}`);
    },
    audit: {
      async record(entry) {
        audit.push(entry);
      },
    },
  };
  return { ports, audit, reads };
}
