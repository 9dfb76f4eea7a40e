import type { InjectOptions, LightMyRequestResponse } from 'fastify';
import { form } from '../api/harness.ts';
import { permits, rights, type IdPlace, type ObjectKind, type Row, type User } from './policy-table.ts';
import type { Actor, World } from './world.ts';

/** One call of the matrix. */
export interface Case {
  route: string;
  actor: Actor;
  place: IdPlace | null;
  /** Which kind of id stands in the place. */
  kind: string;
  /** `forbidden`: an admin sees that a key or an entry of the log is there, so that the answer may say so. */
  expected: 'allowed' | 'as unknown' | 'refused' | 'forbidden';
}

/** Every actor × every place for an id × every kind of id of one row; a row without ids has one case an actor. */
export function casesOf(world: World, route: string, row: Row): Case[] {
  const places: (IdPlace | null)[] = row.ids ?? [null];
  const cases: Case[] = [];
  for (const actor of world.actors) {
    for (const place of places) {
      const kinds = place === null ? [''] : Object.keys(rights[place.of]);
      for (const kind of kinds) {
        cases.push({ route, actor, place, kind, expected: expectedOf(route, row, actor, place, kind) });
      }
    }
  }
  return cases;
}

function expectedOf(route: string, row: Row, actor: Actor, place: IdPlace | null, kind: string): Case['expected'] {
  if (row.public) return actor.elsewhere && !route.startsWith('GET') ? 'refused' : 'allowed';
  if (actor.user === null) return 'refused';
  if (row.adminOnly && actor.user !== 'ada') return 'refused';
  if (place === null) return 'allowed';
  if (
    (place.of === 'key' || place.of === 'search') &&
    place.in === 'path' &&
    place.verb === 'own' &&
    actor.user === 'ada' &&
    kind in { own: 1, foreign: 1 }
  )
    return 'forbidden';
  return permits(place.verb, rights[place.of][kind]?.[actor.user] ?? null, actor.user, place.of, kind)
    ? 'allowed'
    : 'as unknown';
}

let serial = 0;

/** Sends the call with this id in its place; the request id is answered for looking it up in the audit log. */
export async function send(
  world: World,
  { route, actor, place }: Pick<Case, 'route' | 'actor' | 'place'>,
  row: Row,
  id: string,
  pathId?: string,
): Promise<{ answer: LightMyRequestResponse; requestId: string }> {
  const [method = '', template = ''] = route.split(' ');
  const n = ++serial;
  // Of one length, so that the lengths of answers can be compared.
  const requestId = `matrix-${String(n).padStart(6, '0')}`;
  const owner: User = actor.user ?? 'ava';
  const inPath = place?.in === 'path' ? id : (pathId ?? ownInPath(world, owner, template));
  const query = new URLSearchParams({ ...row.query, ...(place?.in === 'query' ? { [place.name]: id } : {}) });
  const path = (template.split('?')[0] ?? '')
    .replace(':id', encodeURIComponent(inPath))
    .replace(':n', row.params?.n ?? '1');

  const own = Object.entries(row.own ?? {}).map(([name, of]) => [name, world.ownOf[owner][of]]);
  const body = bodyOf({ ...row, ...(row.own && { body: { ...row.body, ...Object.fromEntries(own) } }) }, place, id, n);
  const upload = row.upload ? await form([[`up-${n}.txt`, `upload ${n}`]]) : null;
  const answer = await world.doors.app.inject({
    method: method as InjectOptions['method'],
    url: query.size === 0 ? path : `${path}?${query.toString()}`,
    headers: {
      host: '127.0.0.1:8080',
      'x-request-id': requestId,
      ...actor.headers,
      ...(upload ? { 'content-type': upload.type } : {}),
    },
    ...(upload ? { payload: upload.payload } : body === null ? {} : { payload: body }),
  });
  return { answer, requestId };
}

function bodyOf(row: Row, place: IdPlace | null, id: string, n: number): Record<string, unknown> | null {
  if (row.body === undefined && place?.in !== 'body') return null;
  // A name of its own for every call, so that only rights decide.
  const filled = Object.entries(row.body ?? {}).map(([name, value]) => [
    name,
    typeof value === 'string' ? value.replace('%', String(n)) : value,
  ]);
  return { ...Object.fromEntries(filled), ...(place?.in === 'body' ? { [place.name]: place.list ? [id] : id } : {}) };
}

/** The object that the path names, by the route. */
export function pathKind(template: string): ObjectKind {
  if (template.includes('/documents/:id')) return 'document';
  if (template.includes('/keys/:id')) return 'key';
  if (template.includes('/grants/:id')) return 'grant';
  if (template.includes('/audit/:id')) return 'search';
  if (template.includes('/judged/:id')) return 'judged';
  if (template.includes('/people/:id')) return 'person';
  return 'folder';
}

const ownInPath = (world: World, owner: User, template: string): string => world.ownOf[owner][pathKind(template)];

/** What a caller can see of an answer, less what is different each time. */
export function visible(answer: LightMyRequestResponse): string {
  const { date: _date, 'x-request-id': _id, ...headers } = answer.headers;
  const body = answer.body.replace(/"requestId":"[^"]*"/, '"requestId":""');
  return JSON.stringify([answer.statusCode, headers, body]);
}
