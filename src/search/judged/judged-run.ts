/** The judged pages of one owner looked for again: where each is now, how good that is, and what changed since the last run. */
import type { Actor, UserActor } from '../../access/actor.ts';
import type { AccessDeps } from '../../access/deps.ts';
import { guarded, requireUser } from '../../access/guard.ts';
import { scopeOf, scopeOfKey, type ResolvedScope } from '../../access/scope.ts';
import type { DocumentRow, JudgedPageRow, Stores } from '../../storage/ports.ts';
import type { RankedExcerpt, Scope, SearchIndex } from '../types.ts';
import { readableDocuments, scopeAndQuery, viewsOf, type JudgedPageView } from './judged-pages.ts';
import { meanOf, ndcgAt10, recallOf } from './measures.ts';

/** Excerpts that are looked through: what recall@100 needs. */
const DEPTH = 100;

/**
 * `unreadable`: its owner cannot read it any more; it is left out of the figures. `outside`: the key or folder does not reach it,
 * which counts as not found.
 */
export type JudgedState = 'ranked' | 'outside' | 'unreadable';

export interface JudgedOutcome extends Omit<JudgedPageView, 'query' | 'key' | 'folder' | 'createdAt'> {
  state: JudgedState;
  /** Place among the pages found (documents count by their first page), from 1; null: not among them. */
  rank: number | null;
  change: 'first run' | 'same' | 'better' | 'worse' | 'found' | 'lost';
}

export interface JudgedQueryOutcome {
  query: string;
  key: JudgedPageView['key'];
  folder: JudgedPageView['folder'];
  /** Why it was not asked; one sentence. */
  problem: string | null;
  /** Null when nothing could be measured. */
  ndcg10: number | null;
  recall100: number | null;
  /** Of the last run, where all of it had been run. */
  ndcg10Before: number | null;
  pages: JudgedOutcome[];
}

export interface JudgedReport {
  queries: JudgedQueryOutcome[];
  /** Means over the queries that were asked; `before` over those that were also asked the last time. */
  ndcg10: number | null;
  recall100: number | null;
  ndcg10Before: number | null;
  /** Pages whose place is another one than the last time. */
  changed: number;
  unreadable: number;
}

export interface JudgedRunDeps extends AccessDeps {
  index: SearchIndex;
}

export async function runJudgedPages(deps: JudgedRunDeps, actor: Actor, signal?: AbortSignal): Promise<JudgedReport> {
  return guarded(deps, actor, { action: 'judged pages run' }, async () => {
    const person = requireUser(actor);
    const rows = await deps.storage.judgedPages.ofOwner(person.user.ref);
    const own = await scopeOf(deps.storage, person);
    const readable = await readableDocuments(deps.storage, own, rows.map((row) => row.documentId));
    const views = new Map((await viewsOf(deps.storage, person, rows)).map((view) => [view.id, view]));
    const queries: JudgedQueryOutcome[] = [];
    for (const group of Map.groupBy(rows, scopeAndQuery).values()) queries.push(await runQuery(deps, person, { group, views, readable, own }, signal));
    const report = summarise(queries);
    const at = deps.clock.now();
    const outcomes = new Map(queries.flatMap(({ pages, problem }) => (problem === null ? pages : [])).map((page) => [page.id, page]));
    await deps.storage.transaction(async (stores) => {
      for (const row of rows) {
        const outcome = outcomes.get(row.id);
        if (outcome !== undefined && outcome.state !== 'unreadable') await stores.judgedPages.setRank(row.ref, outcome.rank, at);
      }
      const detail = `${queries.length} ${queries.length === 1 ? 'query' : 'queries'}, nDCG@10 ${report.ndcg10?.toFixed(3) ?? '-'}`;
      await deps.audit.append(stores, { actor, action: 'judged pages run', detail });
    });
    return report;
  });
}

interface Group {
  group: JudgedPageRow[];
  views: ReadonlyMap<string, JudgedPageView>;
  readable: ReadonlyMap<string, DocumentRow>;
  own: ResolvedScope;
}

async function runQuery(deps: JudgedRunDeps, person: UserActor, { group, views, readable, own }: Group, signal?: AbortSignal): Promise<JudgedQueryOutcome> {
  const [first] = group as [JudgedPageRow];
  const { key, folder } = views.get(first.id)!;
  const scope = await scopeFor(deps.storage, person, first, own);
  const found = 'problem' in scope ? null : pagesOf(await deps.index.rank({ query: first.query, scope, depth: DEPTH }, signal));
  const [folders, documents] = 'problem' in scope ? [new Set<number>(), new Set<number>()] : [new Set(scope.folders), new Set(scope.documents)];
  const pages = group.map((row): JudgedOutcome => {
    const { query: _query, key: _key, folder: _folder, createdAt: _created, ...view } = views.get(row.id)!;
    const document = readable.get(row.documentId);
    if (document === undefined) return { ...view, state: 'unreadable', rank: null, change: changeOf(row, row.lastRank) };
    const isInside = folders.has(document.folder) || documents.has(document.ref);
    const rank = found === null || !isInside ? null : rankOf(found, document.ref, row.page);
    return { ...view, state: isInside || found === null ? 'ranked' : 'outside', rank, change: found === null ? 'same' : changeOf(row, rank) };
  });
  const measured = found === null ? [] : pages.filter((page) => page.state !== 'unreadable');
  const before = measured.every((page) => page.lastRunAt !== null) ? measured.map(({ grade, lastRank }) => ({ grade, rank: lastRank })) : [];
  return {
    query: first.query,
    key,
    folder,
    problem: 'problem' in scope ? scope.problem : null,
    ndcg10: measured.length === 0 ? null : ndcgAt10(measured),
    recall100: measured.length === 0 ? null : recallOf(measured),
    ndcg10Before: before.length === 0 ? null : ndcgAt10(before),
    pages,
  };
}

async function scopeFor(stores: Stores, person: UserActor, { keyId, folderId }: JudgedPageRow, own: ResolvedScope): Promise<Scope | { problem: string }> {
  if (keyId !== null) {
    const key = await stores.keys.byId(keyId);
    if (key === null || key.owner !== person.user.ref || key.revokedAt !== null) return { problem: 'The key was revoked, so nothing can be asked as it' };
    return scopeOfKey(stores, person.user, key.ref);
  }
  if (folderId === null) return own;
  const folder = own.tree.find((one) => one.id === folderId);
  if (folder === undefined) return { problem: 'The folder is gone, or not yours to read any more' };
  return { folders: (await stores.folders.subtree([folder.ref])).map((one) => one.ref), documents: [] };
}

/** Document and page of each excerpt, each pair once, in the order of the ranking. */
function pagesOf(ranked: readonly RankedExcerpt[]): { document: number; page: number | null }[] {
  const seen = new Set<string>();
  return ranked.filter(({ document, page }) => {
    const place = `${document} ${page}`;
    return !seen.has(place) && seen.add(place);
  });
}

function rankOf(found: readonly { document: number; page: number | null }[], document: number, page: number | null): number | null {
  const at = found.findIndex((one) => one.document === document && (page === null || one.page === page));
  return at < 0 ? null : at + 1;
}

function changeOf({ lastRank, lastRunAt }: JudgedPageRow, rank: number | null): JudgedOutcome['change'] {
  if (lastRunAt === null) return 'first run';
  if (rank === lastRank) return 'same';
  if (lastRank === null) return 'found';
  if (rank === null) return 'lost';
  return rank < lastRank ? 'better' : 'worse';
}

function summarise(queries: JudgedQueryOutcome[]): JudgedReport {
  const known = (value: (one: JudgedQueryOutcome) => number | null): number[] => queries.flatMap((one) => value(one) ?? []);
  const pages = queries.flatMap((one) => (one.problem === null ? one.pages : []));
  return {
    queries,
    ndcg10: meanOf(known((one) => one.ndcg10)),
    recall100: meanOf(known((one) => one.recall100)),
    ndcg10Before: meanOf(known((one) => one.ndcg10Before)),
    changed: pages.filter((page) => page.change !== 'same' && page.change !== 'first run').length,
    unreadable: pages.filter((page) => page.state === 'unreadable').length,
  };
}
