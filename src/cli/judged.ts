import type { LibraryDeps } from '../library/deps.ts';
import { listJudgedPages, removeJudgedPage, saveJudgedPage, type JudgedPageView } from '../search/judged/judged-pages.ts';
import { runJudgedPages, type JudgedOutcome, type JudgedQueryOutcome, type JudgedReport } from '../search/judged/judged-run.ts';
import { actingUser } from './acting-user.ts';
import { findFolder } from './folder-path.ts';
import { findKey } from './keys.ts';
import type { OpenSearch } from './services.ts';
import { formatTable } from './terminal.ts';

export interface AddJudgedOptions {
  query: string;
  document: string;
  page?: number;
  grade: number;
  /** Id or name of an agent key. */
  key?: string;
  /** Path below the owner's root. */
  folder?: string;
  as?: string;
}

export async function addJudged(deps: LibraryDeps, options: AddJudgedOptions): Promise<JudgedPageView> {
  const key = options.key === undefined ? null : await findKey(deps, options.key);
  const actor = key !== null && options.as === undefined ? key.owner : await actingUser(deps, options.as);
  const folder = options.folder === undefined ? null : await findFolder(deps, actor, options.folder);
  return saveJudgedPage(deps, actor, {
    query: options.query,
    documentId: options.document,
    grade: options.grade,
    ...(options.page !== undefined && { page: options.page }),
    ...(key !== null && { keyId: key.id }),
    ...(folder !== null && { folderId: folder.id }),
  });
}

export async function listJudged(deps: LibraryDeps, as: string | undefined): Promise<JudgedPageView[]> {
  return listJudgedPages(deps, await actingUser(deps, as));
}

export async function removeJudged(deps: LibraryDeps, id: string, as: string | undefined): Promise<void> {
  await removeJudgedPage(deps, await actingUser(deps, as), id);
}

export async function runJudged({ deps, index }: Pick<OpenSearch, 'deps' | 'index'>, as: string | undefined): Promise<JudgedReport> {
  return runJudgedPages({ ...deps, index }, await actingUser(deps, as));
}

const UNREADABLE = '(no longer readable)';

const scopeOf = ({ key, folder }: Pick<JudgedPageView, 'key' | 'folder'>): string =>
  key !== null ? `key ${key.name}` : folder !== null ? (folder.path ?? UNREADABLE) : 'all';

const pageOf = ({ page }: Pick<JudgedPageView, 'page'>): string => (page === null ? 'any' : String(page));

export function formatJudged(list: readonly JudgedPageView[]): string {
  if (list.length === 0) return 'Nothing is judged. Save a page that should be found with `sergo judged add`.';
  const rows = list.map((one) => [
    one.id,
    one.query,
    scopeOf(one),
    one.document.name ?? UNREADABLE,
    pageOf(one),
    String(one.grade),
    one.lastRunAt === null ? '-' : String(one.lastRank ?? 'not found'),
  ]);
  return formatTable([['ID', 'QUERY', 'IN', 'DOCUMENT', 'PAGE', 'GRADE', 'LAST RANK'], ...rows]);
}

export function formatRun(report: JudgedReport): string {
  if (report.queries.length === 0) return formatJudged([]);
  const blocks = report.queries.map((query) => [headOf(query), ...query.pages.map((page) => `  ${placeOf(page, query.problem !== null)}`)].join('\n'));
  const figure = (value: number | null): string => (value === null ? '-' : value.toFixed(3));
  const before = report.ndcg10Before === null ? '' : ` (last time ${figure(report.ndcg10Before)})`;
  const left = report.unreadable === 0 ? '' : `; ${report.unreadable} no longer readable and left out`;
  return [...blocks, '', `nDCG@10 ${figure(report.ndcg10)}${before}, recall@100 ${figure(report.recall100)}; ${report.changed} changed since the last run${left}`].join('\n');
}

function headOf(query: JudgedQueryOutcome): string {
  const before = query.ndcg10Before === null || query.ndcg10Before === query.ndcg10 ? '' : `, last time ${query.ndcg10Before.toFixed(3)}`;
  const said = query.problem ?? (query.ndcg10 === null ? 'nothing to measure' : `nDCG@10 ${query.ndcg10.toFixed(3)}${before}`);
  return `${query.query} (${scopeOf(query)}): ${said}`;
}

function placeOf(page: JudgedOutcome, isUnasked: boolean): string {
  const name = page.document.name === null ? `${page.document.id} ${UNREADABLE}` : `${page.document.name}${page.page === null ? '' : `, page ${page.page}`}`;
  if (page.state === 'unreadable' || isUnasked) return `   -  ${name}`;
  const where = page.state === 'outside' ? ', which the key or folder does not reach' : '';
  const change = page.change === 'same' || page.change === 'first run' ? '' : `, ${page.change}: ${page.lastRank ?? 'not found'} last time`;
  return `${String(page.rank ?? '-').padStart(4)}  ${name}${where}${change}`;
}
