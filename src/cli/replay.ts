import { randomUUID } from 'node:crypto';
import { actAsUser } from '../access/keys.ts';
import type { SearchResult } from '../doors/console/ports.ts';
import { AppError } from '../errors.ts';
import { replaySearch, type ReplayedSearch } from '../search/replay.ts';
import type { UserRow } from '../storage/ports.ts';
import type { OpenSearch } from './services.ts';
import { formatTable } from './terminal.ts';

/** The operator acts as whoever owns the key that asked, or as the person who asked. */
export async function replayEntry({ deps, ports }: Pick<OpenSearch, 'deps' | 'ports'>, seq: number): Promise<ReplayedSearch<SearchResult>> {
  const asker = await askerOf(deps.storage, seq);
  if (asker === null) throw new AppError('not_found', `Entry ${seq} of the audit log is no search of a key or a person; \`sergo audit export\` shows the log.`);
  if (asker.disabledAt !== null) throw new AppError('conflict', `${asker.name}, whose search this was, is disabled: they and their keys get nothing now.`);
  return replaySearch(deps, ports, await actAsUser(deps, asker.email, randomUUID()), seq, new AbortController().signal);
}

async function askerOf(stores: OpenSearch['deps']['storage'], seq: number): Promise<UserRow | null> {
  const row = await stores.audit.bySeq(seq);
  if (row?.actorId == null) return null;
  if (row.actorKind === 'user') return stores.users.byId(row.actorId);
  const key = row.actorKind === 'key' ? await stores.keys.byId(row.actorId) : null;
  return key && stores.users.byRef(key.owner);
}

export function formatReplay({ entry, key, found, results, explained, notice }: ReplayedSearch<SearchResult>): string {
  const who = key === null ? 'in person' : `key ${key.name}`;
  const count = (excerpts: number): string => `${excerpts} ${excerpts === 1 ? 'excerpt' : 'excerpts'}`;
  const then = entry.found === null ? '' : `${count(entry.found)} then, `;
  const where = entry.folders === null ? '' : `, in ${entry.folders.join(', ')}`;
  const head = `Entry ${entry.seq} of ${new Date(entry.at).toISOString()}, ${who}${where}: ${entry.query}\n${then}${count(found)} now${entry.offset > 0 ? `, from ${entry.offset}` : ''}.`;
  // Several excerpts of one page come in the order in which they were dealt.
  const dealt = explained.candidates.filter(({ place }) => place !== null && place >= entry.offset).toSorted((a, b) => a.place! - b.place!);
  const whysOf = Map.groupBy(dealt, (one) => `${one.document_id} ${one.page}`);
  const rows = results.flatMap((document) =>
    document.hits.map((hit) => {
      const why = whysOf.get(`${document.document_id} ${hit.page ?? null}`)?.shift()?.why;
      const words = why?.words.map(({ word, added }) => `${word} ${added.toFixed(2)}`).join(', ') ?? '';
      return [document.document_id, document.document, hit.page === undefined ? '-' : String(hit.page), words];
    }),
  );
  const dropped = explained.droppedByDepth === 0 ? [] : [`${count(explained.droppedByDepth)} more matched and lie below the depth of a search.`];
  return [head, ...(notice === null ? [] : [notice]), ...(rows.length === 0 ? [] : [formatTable([['ID', 'DOCUMENT', 'PAGE', 'WORDS THAT MATCHED'], ...rows])]), ...dropped].join('\n');
}
