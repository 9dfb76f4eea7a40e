import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDoors, type Doors } from './doors.ts';
import { casesOf, pathKind, send, visible, type Case } from './matrix.ts';
import { elsewhere, table, type Row } from './policy-table.ts';
import { makeWorld, type World } from './world.ts';

let doors: Doors;
let world: World;
let database: Database.Database;
let combinations = 0;
const bodies = new Set<string>();

beforeAll(async () => {
  doors = await openDoors();
  world = await makeWorld(doors);
  database = new Database(doors.databasePath, { readonly: true });
});
afterAll(async () => {
  database?.close();
  await doors?.close();
});

/** Everything that a call could change, but for when a key was last used. */
function snapshot(): string {
  const tables = [
    'users',
    'folders',
    'documents',
    'files',
    'pages',
    'jobs',
    'key_values',
    'key_folders',
    'key_documents',
    'grants',
    'judged_pages',
  ];
  const rows = tables.map((name) => database.prepare(`select * from ${name}`).all());
  return JSON.stringify([
    ...rows,
    database.prepare('select id, name, description, masked, revoked_at from keys').all(),
  ]);
}

const label = ({ actor, place, kind }: Case): string =>
  `${actor.name}, ${place === null ? 'no id' : `${kind} ${place.of} as ${place.in} ${place.name}`}`;

/** Where two answers part. */
function difference(a: string, b: string): string {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  return `…${a.slice(Math.max(0, at - 40), at + 160)}… and for an unknown id …${b.slice(Math.max(0, at - 40), at + 160)}…`;
}

/** Sixteen at a time: they share commits of the audit log. */
async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const waiting = items.values();
  await Promise.all(
    Array.from({ length: 16 }, async () => {
      for (const item of waiting) await work(item);
    }),
  );
}

it('has a row for every route of the server, and no row too many', () => {
  const served = doors.app.routeRegistry
    .routes()
    .filter((route) => route.method !== 'HEAD')
    .map((route) => `${route.method} ${route.url}`)
    .filter((route) => !elsewhere.some((pattern) => pattern.test(route)));
  const rows = new Set(Object.keys(table).map((route) => route.split('?')[0]));
  expect(served.filter((route) => !rows.has(route))).toEqual([]);
  expect([...rows].filter((route) => !served.includes(route ?? ''))).toEqual([]);
});

describe.each(Object.entries(table))('%s', (route, row) => {
  it('shows and does exactly what the table says', async () => {
    const cases = casesOf(world, route, row);
    combinations += cases.length;
    await denied(
      cases.filter((one) => one.expected !== 'allowed'),
      row,
    );
    await allowed(
      cases.filter((one) => one.expected === 'allowed'),
      row,
    );
  }, 180_000);
});

async function denied(cases: readonly Case[], row: Row): Promise<void> {
  const before = snapshot();
  const baselines = new Map<string, Promise<string>>();
  const baselineOf = (one: Case): Promise<string> => {
    const name = `${one.actor.name} ${one.place?.in} ${one.place?.name}`;
    const known =
      baselines.get(name) ??
      send(world, one, row, world.ids[one.place?.of ?? 'folder'].unknown ?? '').then(({ answer }) => visible(answer));
    baselines.set(name, known);
    return known;
  };
  const leaks: string[] = [];
  const unlogged: string[] = [];
  await inParallel(cases, async (one) => {
    const id = one.place === null ? '' : (world.ids[one.place.of][one.kind] as string);
    const { answer, requestId } = await send(world, one, row, id);
    bodies.add(answer.body);
    const wanted: number[] = { 'as unknown': [404], refused: [400, 401, 403], forbidden: [403], allowed: [] }[
      one.expected
    ];
    if (!wanted.includes(answer.statusCode))
      leaks.push(`${label(one)}: ${answer.statusCode} ${answer.body.slice(0, 200)}`);
    else if (one.expected !== 'forbidden' && visible(answer) !== (await baselineOf(one)))
      leaks.push(`${label(one)}: ${difference(visible(answer), await baselineOf(one))}`);
    if (one.expected === 'as unknown' || one.expected === 'forbidden') {
      const rows = database
        .prepare(`select count(*) as count from audit where request_id = ? and outcome = 'denied'`)
        .get(requestId) as { count: number };
      if (rows.count !== 1) unlogged.push(`${label(one)}: ${rows.count} audit rows`);
    }
  });
  expect(leaks).toEqual([]);
  expect(unlogged).toEqual([]);
  expect(snapshot() === before, 'a call that was refused changed something').toBe(true);
}

async function allowed(cases: readonly Case[], row: Row): Promise<void> {
  if (row.stream) return;
  const wrong: string[] = [];
  for (const one of cases) {
    let id = one.place === null ? '' : (world.ids[one.place.of][one.kind] as string);
    let pathId: string | undefined;
    const template = one.route.split(' ')[1] ?? '';
    if (row.changes && one.place?.in === 'path') id = await world.fresh(one.place.of, one.kind);
    else if (row.changes && template.includes(':id'))
      pathId = await world.freshOwn(one.actor.user ?? 'ava', pathKind(template));
    const { answer } = await send(world, one, row, id, pathId);
    bodies.add(answer.body);
    const ok = one.place?.ok?.[`${one.actor.user} ${one.kind}`] ?? row.ok;
    if (!ok.includes(answer.statusCode)) wrong.push(`${label(one)}: ${answer.statusCode} ${answer.body.slice(0, 300)}`);
  }
  expect(wrong).toEqual([]);
}

it('walks at least 5,000 combinations, and no answer tells how Sergo is made', () => {
  expect(combinations).toBeGreaterThanOrEqual(5_000);
  // P39: stacks, SQL, paths of this machine, names of what Sergo is made of.
  const told =
    /\bat [\w.<>]+ \(|node_modules|SQLITE|\b(?:select|insert|update|delete)\b.*\b(?:from|into|set)\b|\/(?:home|root|usr|srv|work|tmp|var)\/|fastify|kysely|better-sqlite|FST_ERR|busboy|pdfium/i;
  expect(
    [...bodies].filter((body) => !body.includes('"openapi"') && told.test(body)).map((body) => body.slice(0, 300)),
  ).toEqual([]);
});
