/** "This page should have been found": saved by whoever wants it, for the search to be measured by. Seen and changed by its owner only. */
import type { Actor, UserActor } from '../../access/actor.ts';
import type { AccessDeps } from '../../access/deps.ts';
import { change, guarded, requireUser } from '../../access/guard.ts';
import { requireDocument, requireFolder } from '../../access/policy.ts';
import { newId } from '../../access/random-text.ts';
import { scopeOf, type ResolvedScope } from '../../access/scope.ts';
import { AppError, notFound } from '../../errors.ts';
import { cleanLine } from '../../library/names.ts';
import type { DocumentRow, JudgedPageRow, KeyRow, Stores } from '../../storage/ports.ts';

export interface JudgedPageView {
  id: string;
  query: string;
  /** Whose scope is searched; both null: everything its owner reads. A key that is gone or revoked keeps its id. */
  key: { id: string; name: string } | null;
  /** `path` is null when its owner cannot read it any more. */
  folder: { id: string; path: string | null } | null;
  /** `name` is null when its owner cannot read it any more: then nothing is told of it. */
  document: { id: string; name: string | null };
  page: number | null;
  grade: number;
  createdAt: number;
  lastRank: number | null;
  lastRunAt: number | null;
}

export interface NewJudgedPage {
  query: string;
  keyId?: string | undefined;
  folderId?: string | undefined;
  documentId: string;
  page?: number | undefined;
  /** 1 helps, 2 answers (default), 3 is the one. */
  grade?: number | undefined;
}

const MAX_QUERY_LENGTH = 4_000;
const MAX_PER_OWNER = 1_000;

/**
 * Keeps a judgement. The document must be the actor's to read now, the key theirs, the folder theirs to read: AppError not_found.
 * AppError invalid (query, page, or both a key and a folder), conflict (judged already, or too many).
 */
export async function saveJudgedPage(deps: AccessDeps, actor: Actor, wanted: NewJudgedPage): Promise<JudgedPageView> {
  const attempt = { action: 'judged page saved', object: { kind: 'document', id: wanted.documentId } } as const;
  return change(deps, actor, attempt, async (stores) => {
    const { user } = requireUser(actor);
    const query = checkQuery(wanted.query);
    if (wanted.keyId !== undefined && wanted.folderId !== undefined) {
      throw new AppError('invalid', 'Give a key or a folder to search as, not both', { field: 'folderId' });
    }
    const document = await requireDocument(stores, actor, 'read', wanted.documentId);
    const key = wanted.keyId === undefined ? null : await ownAgentKey(stores, user.ref, wanted.keyId);
    const folder = wanted.folderId === undefined ? null : await requireFolder(stores, actor, 'read', wanted.folderId);
    const page = wanted.page ?? null;
    if (page !== null && document.pages !== null && page > document.pages) {
      const pages = `${document.pages} ${document.pages === 1 ? 'page' : 'pages'}`;
      throw new AppError('invalid', `This document has ${pages}, so there is no page ${page}`, { field: 'page' });
    }
    const row = {
      id: newId(deps.random),
      owner: user.ref,
      query,
      keyId: key?.id ?? null,
      folderId: folder?.id ?? null,
      documentId: document.id,
      page,
      grade: wanted.grade ?? 2,
      createdAt: deps.clock.now(),
    };
    const before = await stores.judgedPages.ofOwner(user.ref);
    if (before.some((one) => scopeAndQuery(one) === scopeAndQuery(row) && one.documentId === row.documentId && one.page === page)) {
      throw new AppError('conflict', 'This page is judged for this query already — remove that judgement to give another grade');
    }
    if (before.length >= MAX_PER_OWNER) {
      throw new AppError('conflict', `Judged pages are at most ${MAX_PER_OWNER} — remove some that no longer help`);
    }
    const ref = await stores.judgedPages.insert(row);
    const detail = `${query.slice(0, 300)} — ${document.name}${page === null ? '' : `, page ${page}`}, grade ${row.grade}`;
    await deps.audit.append(stores, { actor, action: 'judged page saved', object: { kind: 'judged page', id: row.id }, detail });
    const view = await viewsOf(stores, actor as UserActor, [{ ...row, ref, lastRank: null, lastRunAt: null }]);
    return view[0]!;
  });
}

/** The actor's own, oldest first. */
export async function listJudgedPages(deps: AccessDeps, actor: Actor): Promise<JudgedPageView[]> {
  return guarded(deps, actor, { action: 'judged page read' }, async () => {
    const user = requireUser(actor);
    return viewsOf(deps.storage, user, await deps.storage.judgedPages.ofOwner(user.user.ref));
  });
}

/** AppError not_found for somebody else's, the same as for none. */
export async function removeJudgedPage(deps: AccessDeps, actor: Actor, id: string): Promise<void> {
  await change(deps, actor, { action: 'judged page removed', object: { kind: 'judged page', id } }, async (stores) => {
    const { user } = requireUser(actor);
    const row = await stores.judgedPages.byId(id);
    if (row === null || row.owner !== user.ref) throw notFound();
    await stores.judgedPages.remove(row.ref);
    await deps.audit.append(stores, { actor, action: 'judged page removed', object: { kind: 'judged page', id }, detail: row.query.slice(0, 300) });
  });
}

/** Judgements with the same are about one search. */
export const scopeAndQuery = ({ query, keyId, folderId }: Pick<JudgedPageRow, 'query' | 'keyId' | 'folderId'>): string =>
  JSON.stringify([query, keyId, folderId]);

/** A live agent key of that user's; AppError not_found. */
async function ownAgentKey(stores: Stores, user: number, id: string): Promise<KeyRow> {
  const key = await stores.keys.byId(id);
  if (key === null || key.owner !== user || key.kind !== 'agent' || key.revokedAt !== null) throw notFound();
  return key;
}

/** The documents of these ids that are live and inside the scope. */
export async function readableDocuments(stores: Stores, scope: ResolvedScope, ids: readonly string[]): Promise<Map<string, DocumentRow>> {
  const [folders, documents] = [new Set(scope.folders), new Set(scope.documents)];
  const readable = new Map<string, DocumentRow>();
  for (const id of new Set(ids)) {
    const row = await stores.documents.byId(id);
    if (row !== null && row.trashedAt === null && (folders.has(row.folder) || documents.has(row.ref))) readable.set(id, row);
  }
  return readable;
}

export async function viewsOf(stores: Stores, actor: UserActor, rows: readonly JudgedPageRow[]): Promise<JudgedPageView[]> {
  const scope = await scopeOf(stores, actor);
  const documents = await readableDocuments(stores, scope, rows.map((row) => row.documentId));
  const keys = new Map((await stores.keys.ofOwner(actor.user.ref)).map((key) => [key.id, key.name]));
  const tree = new Map(scope.tree.map((folder) => [folder.id, folder.ref]));
  const paths = await stores.folders.paths([...new Set(rows.flatMap((row) => (row.folderId === null ? [] : (tree.get(row.folderId) ?? []))))]);
  return rows.map(({ id, query, keyId, folderId, documentId, page, grade, createdAt, lastRank, lastRunAt }) => ({
    id,
    query,
    key: keyId === null ? null : { id: keyId, name: keys.get(keyId) ?? '' },
    folder: folderId === null ? null : { id: folderId, path: paths.get(tree.get(folderId) ?? -1) ?? null },
    document: { id: documentId, name: documents.get(documentId)?.name ?? null },
    page,
    grade,
    createdAt,
    lastRank,
    lastRunAt,
  }));
}

function checkQuery(raw: string): string {
  if (raw.length > MAX_QUERY_LENGTH) throw new AppError('invalid', 'The query is too long — use at most 4,000 characters', { field: 'query' });
  const query = cleanLine(raw);
  if (query === '') throw new AppError('invalid', 'Give a query to search for.', { field: 'query' });
  return query;
}
