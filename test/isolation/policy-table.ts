/**
 * What every route may do for whom: the test's own table, written by hand from DESIGN.md section 4 and kept apart from the
 * policy it checks. A route of the server without a row here fails the build.
 */

/** The users behind the actors. `ava` is who the matrix is seen from; `bo` owns what is foreign; `ada` is an admin with nothing. */
export type User = 'ava' | 'bo' | 'ada';

/** `search`: an entry of the audit log; `judged`: a page that should be found. */
export type ObjectKind = 'document' | 'folder' | 'key' | 'grant' | 'person' | 'search' | 'judged';

export type Right = 'own' | 'edit' | 'read' | 'trash' | null;

/** Who has which right to which standing object. Nobody has any to what is purged, malformed, unknown or of another kind. */
export const rights: Record<ObjectKind, Record<string, Partial<Record<User, Right>>>> = {
  document: {
    own: { ava: 'own' },
    sharedRead: { bo: 'own', ava: 'read' },
    sharedEdit: { bo: 'own', ava: 'edit' },
    sharedAlone: { bo: 'own', ava: 'read' },
    foreign: { bo: 'own' },
    movedOut: { bo: 'own' },
    unshared: { bo: 'own' },
    trashed: { ava: 'trash' },
    inTrashedFolder: { ava: 'trash' },
    trashedForeign: { bo: 'trash' },
    purged: {},
    otherKind: {},
    malformed: {},
    long: {},
    hostile: {},
    unknown: {},
  },
  folder: {
    own: { ava: 'own' },
    sharedRead: { bo: 'own', ava: 'read' },
    sharedEdit: { bo: 'own', ava: 'edit' },
    foreign: { bo: 'own' },
    movedOut: { bo: 'own' },
    unshared: { bo: 'own' },
    trashed: { ava: 'trash' },
    trashedForeign: { bo: 'trash' },
    purged: {},
    otherKind: {},
    malformed: {},
    long: {},
    hostile: {},
    unknown: {},
  },
  key: {
    own: { ava: 'own' },
    foreign: { bo: 'own' },
    otherKind: {},
    malformed: {},
    long: {},
    hostile: {},
    unknown: {},
  },
  grant: {
    given: { ava: 'own', bo: 'own' },
    foreign: { bo: 'own', ada: 'own' },
    removed: {},
    otherKind: {},
    malformed: {},
    long: {},
    hostile: {},
    unknown: {},
  },
  search: {
    own: { ava: 'own' },
    foreign: { bo: 'own' },
    otherKind: {},
    malformed: {},
    long: {},
    hostile: {},
    unknown: {},
  },
  judged: {
    own: { ava: 'own' },
    foreign: { bo: 'own' },
    removed: {},
    otherKind: {},
    malformed: {},
    long: {},
    hostile: {},
    unknown: {},
  },
  person: {
    self: {},
    other: {},
    otherKind: {},
    malformed: {},
    long: {},
    hostile: {},
    unknown: {},
  },
};

export type Verb = 'read' | 'edit' | 'own' | 'restore' | 'purge' | 'admin-or-own' | 'admin';

/** May a user with this right (and this role) do that? */
export function permits(verb: Verb, right: Right, user: User, kind: ObjectKind, id: string): boolean {
  const isAdmin = user === 'ada';
  const exists = !['purged', 'removed', 'otherKind', 'malformed', 'long', 'hostile', 'unknown'].includes(id);
  switch (verb) {
    case 'read':
      return right === 'own' || right === 'edit' || right === 'read';
    case 'edit':
      return right === 'own' || right === 'edit';
    case 'own':
      return right === 'own';
    case 'restore':
      // Restoring what is not in the trash changes nothing, so whoever may edit it may.
      return right === 'trash' || right === 'own' || right === 'edit';
    case 'purge':
      return right === 'own' || right === 'trash';
    case 'admin-or-own':
      return right === 'own' || (isAdmin && exists && kind === 'key');
    case 'admin':
      return isAdmin && exists;
  }
}

export interface IdPlace {
  /** `:id` in the path, a field of the JSON body (a list when `list`), or a query field. */
  in: 'path' | 'body' | 'query';
  name: string;
  list?: boolean;
  of: ObjectKind;
  verb: Verb;
  /** Other statuses of an allowed call, by user and kind of id. */
  ok?: Record<string, number[]>;
}

export interface Row {
  /** Nobody has to be signed in. */
  public?: true;
  /** Only admins; for others the answer says so, and is the same for all ids. */
  adminOnly?: true;
  /** Where ids go. Each place is walked on its own, the others then hold ids of Ava's (or of whoever asks). */
  ids?: IdPlace[];
  /** Fields of the body that always have an id: of the asker's own, unless they are the place walked. */
  own?: Record<string, ObjectKind>;
  body?: Record<string, unknown>;
  query?: Record<string, string>;
  upload?: true;
  /** Statuses of an allowed call. */
  ok: number[];
  /** Does an allowed call change something, so that it needs an object of its own? */
  changes?: true;
  /** Answers a stream that does not end: allowed calls are tried in stream.test.ts. */
  stream?: true;
  /** Params other than ids. */
  params?: Record<string, string>;
}

const path = (of: ObjectKind, verb: Verb): IdPlace => ({ in: 'path', name: 'id', of, verb });
const body = (name: string, of: ObjectKind, verb: Verb, list = false): IdPlace => ({
  in: 'body',
  name,
  of,
  verb,
  ...(list ? { list } : {}),
});
/** Things stay in their owner's tree: a folder of somebody else that one may edit is no place to move one's own to. */
const into = (name: string): IdPlace => ({ ...body(name, 'folder', 'edit'), ok: { 'ava sharedEdit': [400] } });

const page = { params: { n: '1' } };

export const table: Record<string, Row> = {
  'GET /healthz': { public: true, ok: [200] },
  'GET /readyz': { public: true, ok: [200, 503] },
  'GET /metrics': { public: true, ok: [200, 404] },
  'GET /api/v1/openapi.json': { public: true, ok: [200] },
  'GET /api/v1/setup': { public: true, ok: [404] },
  'POST /api/v1/setup': {
    public: true,
    body: { token: 'x', name: 'X', email: 'x@example.com', password: 'a long enough passphrase 7' },
    ok: [404],
  },
  'POST /api/v1/login': {
    public: true,
    body: { email: 'nobody@example.com', password: 'wrong but long enough' },
    ok: [401],
  },
  'POST /api/v1/logout': { ok: [204], changes: true, stream: true },
  'GET /api/v1/me': { ok: [200] },
  'POST /api/v1/me/password': { body: { oldPassword: 'not it', password: 'a long enough passphrase 7' }, ok: [400] },

  'GET /api/v1/folders': { ok: [200] },
  'POST /api/v1/folders': {
    ids: [body('parentId', 'folder', 'edit')],
    body: { name: 'Made in the matrix %' },
    ok: [201],
    changes: true,
  },
  'GET /api/v1/folders/:id': { ids: [path('folder', 'read')], ok: [200] },
  'PATCH /api/v1/folders/:id': {
    ids: [path('folder', 'edit'), into('parentId')],
    body: { name: 'Renamed in the matrix %' },
    ok: [200],
    changes: true,
  },
  'DELETE /api/v1/folders/:id': { ids: [path('folder', 'edit')], ok: [204], changes: true },
  'DELETE /api/v1/folders/:id?purge=true': {
    ids: [path('folder', 'purge')],
    query: { purge: 'true' },
    ok: [204],
    changes: true,
  },
  'POST /api/v1/folders/:id/restore': {
    ids: [path('folder', 'restore')],
    ok: [200],
    changes: true,
  },
  'GET /api/v1/folders/:id/grants': { ids: [path('folder', 'own')], ok: [200] },
  'POST /api/v1/folders/:id/grants': {
    ids: [path('folder', 'own')],
    body: { email: 'ada@example.com', right: 'read' },
    ok: [201],
    changes: true,
  },
  'POST /api/v1/folders/:id/documents': { ids: [path('folder', 'edit')], upload: true, ok: [202], changes: true },

  'GET /api/v1/documents': { ids: [{ in: 'query', name: 'folderId', of: 'folder', verb: 'read' }], ok: [200] },
  'GET /api/v1/documents/:id': { ids: [path('document', 'read')], ok: [200] },
  'PATCH /api/v1/documents/:id': {
    ids: [path('document', 'edit'), into('folderId')],
    body: { name: 'renamed-%.pdf' },
    ok: [200],
    changes: true,
  },
  'DELETE /api/v1/documents/:id': { ids: [path('document', 'edit')], ok: [204], changes: true },
  'DELETE /api/v1/documents/:id?purge=true': {
    ids: [path('document', 'purge')],
    query: { purge: 'true' },
    ok: [204],
    changes: true,
  },
  'POST /api/v1/documents/:id/restore': {
    ids: [{ ...path('document', 'restore'), ok: { 'ava inTrashedFolder': [409] } }],
    ok: [200],
    changes: true,
  },
  'POST /api/v1/documents/:id/reprocess': {
    ids: [path('document', 'edit')],
    body: { preset: 'basic' },
    ok: [202],
    changes: true,
  },
  'POST /api/v1/documents/:id/pdf-copy': { ids: [path('document', 'edit')], ok: [202, 400, 409], changes: true },
  'POST /api/v1/documents/:id/cancel': { ids: [path('document', 'edit')], ok: [200], changes: true },
  'POST /api/v1/documents/:id/replace': { ids: [path('document', 'edit')], upload: true, ok: [202], changes: true },
  'GET /api/v1/documents/:id/file': { ids: [path('document', 'read')], ok: [200] },
  'GET /api/v1/documents/:id/file?kind=pdf-copy': {
    ids: [path('document', 'read')],
    query: { kind: 'pdf-copy' },
    ok: [200, 404],
  },
  'GET /api/v1/documents/:id/pages/:n': { ids: [path('document', 'read')], ...page, ok: [200] },
  'GET /api/v1/documents/:id/pages/:n.png': { ids: [path('document', 'read')], ...page, ok: [200] },
  'GET /api/v1/documents/:id/pages/:n.pdf': { ids: [path('document', 'read')], ...page, ok: [200] },
  'GET /api/v1/documents/:id/grants': { ids: [path('document', 'own')], ok: [200] },
  'POST /api/v1/documents/:id/grants': {
    ids: [path('document', 'own')],
    body: { email: 'ada@example.com', right: 'read' },
    ok: [201],
    changes: true,
  },
  'GET /api/v1/presets': { ok: [200] },
  'GET /api/v1/trash': { ok: [200] },

  'GET /api/v1/search': {
    ids: [{ in: 'query', name: 'asKey', of: 'key', verb: 'own' }],
    query: { q: 'harbour' },
    ok: [200],
  },

  'GET /api/v1/judged': { ok: [200] },
  'POST /api/v1/judged': {
    ids: [body('documentId', 'document', 'read'), body('folderId', 'folder', 'read'), body('asKey', 'key', 'own')],
    own: { documentId: 'document' },
    body: { query: 'harbour %' },
    ok: [201],
    changes: true,
  },
  'DELETE /api/v1/judged/:id': { ids: [path('judged', 'own')], ok: [204], changes: true },

  'POST /api/v1/keys': {
    ids: [body('folderIds', 'folder', 'read', true), body('documentIds', 'document', 'read', true)],
    body: { kind: 'agent', name: 'matrix-%', description: 'Made in the matrix' },
    ok: [201],
    changes: true,
  },
  'GET /api/v1/keys': { ok: [200] },
  'GET /api/v1/keys?all=true': { adminOnly: true, query: { all: 'true' }, ok: [200] },
  'GET /api/v1/keys/:id': { ids: [path('key', 'admin-or-own')], ok: [200] },
  'PATCH /api/v1/keys/:id': {
    ids: [path('key', 'own'), body('folderIds', 'folder', 'read', true), body('documentIds', 'document', 'read', true)],
    body: { description: 'Edited in the matrix' },
    ok: [200],
    changes: true,
  },
  'POST /api/v1/keys/:id/roll': { ids: [path('key', 'own')], body: { grace: '24h' }, ok: [200], changes: true },
  'POST /api/v1/keys/:id/test': { ids: [path('key', 'own')], ok: [200] },
  'DELETE /api/v1/keys/:id': { ids: [path('key', 'admin-or-own')], ok: [204], changes: true },

  'DELETE /api/v1/grants/:id': { ids: [path('grant', 'own')], ok: [204], changes: true },

  'GET /api/v1/people': { adminOnly: true, ok: [200] },
  'POST /api/v1/people': {
    adminOnly: true,
    body: { name: 'New Person', email: 'new-%@example.com', password: 'a long enough passphrase 7' },
    ok: [201],
    changes: true,
  },
  'PATCH /api/v1/people/:id': {
    adminOnly: true,
    ids: [path('person', 'admin')],
    body: { name: 'Renamed' },
    ok: [200],
    changes: true,
  },
  'POST /api/v1/people/:id/password': {
    adminOnly: true,
    ids: [path('person', 'admin')],
    body: { password: 'another long passphrase 8' },
    ok: [204],
    changes: true,
  },

  'GET /api/v1/jobs': { ok: [200] },
  'GET /api/v1/events': { ok: [200], stream: true },
  'GET /api/v1/audit': { ok: [200] },
  'POST /api/v1/audit/:id/replay': { ids: [path('search', 'own')], ok: [200] },
  'GET /api/v1/audit/export': { adminOnly: true, ok: [200] },
  'GET /api/v1/health': { ok: [200] },
};

/** Served elsewhere than at a route of the console's API, and walked by a test of their own. */
export const elsewhere = [
  /^[A-Z]+ \/mcp\/?$/,
  /^[A-Z]+ (\/mcp)?\/\.well-known\//,
  /^OPTIONS \/api\/v1\/\*$/,
  /^(GET|HEAD) \/(\*|assets\/\*)?$/,
];
