import { giveGrant, removeGrant } from '../../src/access/grants.ts';
import { createKey, revokeKey, rollKey } from '../../src/access/keys.ts';
import { changeDocument, purgeDocument, trashDocument } from '../../src/library/documents.ts';
import { changeFolder, purgeFolder, trashFolder } from '../../src/library/folders.ts';
import { removeJudgedPage, saveJudgedPage } from '../../src/search/judged/judged-pages.ts';
import type { Person } from '../api/harness.ts';
import { setPersonDisabled } from '../../src/access/people.ts';
import type { ObjectKind, User } from './policy-table.ts';
import type { Doors } from './doors.ts';

/** One way of asking: a user behind it, or nobody because the credential is missing, wrong or over. */
export interface Actor {
  name: string;
  user: User | null;
  headers: Record<string, string>;
  /** A page of another site, in the browser of somebody who is signed in. */
  elsewhere?: true;
}

export interface World {
  doors: Doors;
  people: Record<User, Person>;
  actors: Actor[];
  /** Standing objects by kind of object and kind of id; allowed calls that change something get a fresh one instead. */
  ids: Record<ObjectKind, Record<string, string>>;
  /** An object of its owner's own, to fill the other places of a call with. */
  ownOf: Record<User, Record<ObjectKind, string>>;
  fresh(of: ObjectKind, kind: string): Promise<string>;
  /** A new own object of that user. */
  freshOwn(user: User, of: ObjectKind): Promise<string>;
}

const UNKNOWN = 'zzzzzzzz';
const NOWHERE = { malformed: "no'such--id", long: 'a'.repeat(5_000), hostile: '../../etc/passwd\0', unknown: UNKNOWN };

export async function makeWorld(doors: Doors): Promise<World> {
  const { library } = doors;
  const people: Record<User, Person> = {
    ava: await doors.person('Ava'),
    bo: await doors.person('Bo'),
    ada: await doors.person('Ada', 'admin'),
  };
  const { ava, bo, ada } = people;
  let count = 0;
  const name = (): string => `thing-${++count}`;
  const email = (user: User): string => `${user}@example.com`;
  const folderIn = (person: Person, parentId: string) => doors.folderIn(person, parentId, name());
  const upload = async (person: Person, folderId: string) => (await doors.upload(person, folderId, `${name()}.pdf`)).id;
  const share = async (
    target: { folderId: string } | { documentId: string },
    from: Person,
    to: User,
    right: 'read' | 'edit',
  ) => (await giveGrant(library, from, target, { email: email(to), right })).id;
  const agentKey = async (person: Person, folderIds: string[], documentIds: string[] = []) =>
    createKey(library, person, { kind: 'agent', name: `k-${++count}`, description: 'A key', folderIds, documentIds });

  /** A search of an agent key of that person's, as the agent door writes it into the log; the number of its entry. */
  const searched = async (person: Person, folderId: string): Promise<string> => {
    const { key: _key, ...made } = await agentKey(person, [folderId]);
    const row = (await library.storage.keys.byId(made.id))!;
    const asked = { query: 'harbour', folders: null, limit: 10, offset: 0, asKey: null, found: 0 };
    const actor = { kind: 'agent_key', key: row, owner: person.user, requestId: name() } as const;
    await library.audit.record({ actor, action: 'mcp search', detail: 'harbour — 0 results', asked });
    return String((await library.audit.list({ actorId: made.id }, 1))[0]!.seq);
  };
  const judge = async (person: Person, folderId: string): Promise<string> =>
    (await saveJudgedPage(library, person, { query: name(), documentId: await upload(person, folderId) })).id;

  const avaFolder = await folderIn(ava, ava.rootId);
  const boFolder = await folderIn(bo, bo.rootId);
  const adaFolder = await folderIn(ada, ada.rootId);
  const readFolder = await folderIn(bo, bo.rootId);
  await share({ folderId: readFolder }, bo, 'ava', 'read');
  const editFolder = await folderIn(bo, bo.rootId);
  await share({ folderId: editFolder }, bo, 'ava', 'edit');

  const make: Record<ObjectKind, Record<string, () => Promise<string>>> = {
    document: {
      own: () => upload(ava, avaFolder),
      sharedRead: () => upload(bo, readFolder),
      sharedEdit: () => upload(bo, editFolder),
      async sharedAlone() {
        const documentId = await upload(bo, boFolder);
        await share({ documentId }, bo, 'ava', 'read');
        return documentId;
      },
      foreign: () => upload(bo, boFolder),
      async movedOut() {
        const id = await upload(bo, readFolder);
        await changeDocument(library, bo, id, { folderId: boFolder });
        return id;
      },
      async unshared() {
        const documentId = await upload(bo, boFolder);
        await removeGrant(library, bo, await share({ documentId }, bo, 'ava', 'edit'));
        return documentId;
      },
      async trashed() {
        const id = await upload(ava, avaFolder);
        await trashDocument(library, ava, id);
        return id;
      },
      async inTrashedFolder() {
        const folder = await folderIn(ava, avaFolder);
        const id = await upload(ava, folder);
        await trashFolder(library, ava, folder);
        return id;
      },
      async trashedForeign() {
        const id = await upload(bo, readFolder);
        await trashDocument(library, bo, id);
        return id;
      },
      async purged() {
        const id = await upload(ava, avaFolder);
        await purgeDocument(library, ava, id);
        return id;
      },
    },
    folder: {
      own: () => folderIn(ava, avaFolder),
      sharedRead: () => folderIn(bo, readFolder),
      sharedEdit: () => folderIn(bo, editFolder),
      foreign: () => folderIn(bo, boFolder),
      async movedOut() {
        const id = await folderIn(bo, readFolder);
        await changeFolder(library, bo, id, { parentId: boFolder });
        return id;
      },
      async unshared() {
        const folderId = await folderIn(bo, boFolder);
        await removeGrant(library, bo, await share({ folderId }, bo, 'ava', 'edit'));
        return folderId;
      },
      async trashed() {
        const id = await folderIn(ava, avaFolder);
        await trashFolder(library, ava, id);
        return id;
      },
      async trashedForeign() {
        const id = await folderIn(bo, readFolder);
        await trashFolder(library, bo, id);
        return id;
      },
      async purged() {
        const id = await folderIn(ava, avaFolder);
        await purgeFolder(library, ava, id);
        return id;
      },
    },
    key: {
      own: async () => (await agentKey(ava, [avaFolder])).id,
      foreign: async () => (await agentKey(bo, [boFolder])).id,
    },
    grant: {
      given: async () => share({ folderId: await folderIn(ava, avaFolder) }, ava, 'bo', 'read'),
      foreign: async () => share({ folderId: await folderIn(bo, boFolder) }, bo, 'ada', 'read'),
      async removed() {
        const id = await share({ folderId: await folderIn(ava, avaFolder) }, ava, 'bo', 'read');
        await removeGrant(library, ava, id);
        return id;
      },
    },
    search: {
      own: () => searched(ava, avaFolder),
      foreign: () => searched(bo, boFolder),
    },
    judged: {
      own: async () => judge(ava, avaFolder),
      foreign: async () => judge(bo, boFolder),
      async removed() {
        const id = await judge(ava, avaFolder);
        await removeJudgedPage(library, ava, id);
        return id;
      },
    },
    person: {
      self: async () => (await doors.person(`Self ${++count}`)).user.id,
      other: async () => (await doors.person(`Other ${++count}`)).user.id,
    },
  };

  const ids = {} as World['ids'];
  for (const of of Object.keys(make) as ObjectKind[]) {
    ids[of] = { ...NOWHERE };
    for (const [kind, one] of Object.entries(make[of])) ids[of][kind] = await one();
  }
  ids.person.self = ava.user.id;
  ids.person.other = bo.user.id;
  // An id that is real, but of another kind of object that the asker may see.
  ids.document.otherKind = avaFolder;
  ids.folder.otherKind = ids.document.own ?? '';
  ids.key.otherKind = avaFolder;
  ids.grant.otherKind = ids.key.own ?? '';
  ids.person.otherKind = ava.rootId;
  ids.search.otherKind = ids.key.own ?? '';
  // Numbers that are no entry look like numbers that are.
  ids.search.unknown = '987654321';
  ids.judged.otherKind = ids.document.own ?? '';

  const freshOwn: World['freshOwn'] = async (user, of) => {
    const person = people[user];
    const folder = { ava: avaFolder, bo: boFolder, ada: adaFolder }[user];
    if (of === 'folder') return folderIn(person, folder);
    if (of === 'document') return upload(person, folder);
    if (of === 'key') return (await agentKey(person, [folder])).id;
    if (of === 'search') return searched(person, folder);
    if (of === 'judged') return judge(person, folder);
    return UNKNOWN;
  };
  const ownOf = {} as World['ownOf'];
  for (const user of Object.keys(people) as User[]) {
    ownOf[user] = {
      folder: await freshOwn(user, 'folder'),
      document: await freshOwn(user, 'document'),
      key: await freshOwn(user, 'key'),
      grant: UNKNOWN,
      search: UNKNOWN,
      judged: UNKNOWN,
      person: UNKNOWN,
    };
  }
  return {
    doors,
    people,
    ids,
    ownOf,
    freshOwn,
    actors: await makeActors(doors, people, (person) => agentKey(person, [avaFolder])),
    fresh: (of, kind) => (make[of][kind] as () => Promise<string>)(),
  };
}

async function makeActors(
  doors: Doors,
  people: Record<User, Person>,
  agentKey: (person: Person) => Promise<{ key: string }>,
): Promise<Actor[]> {
  const { library } = doors;
  const { ava, bo, ada } = people;
  const personal = async (person: Person, name: string) => createKey(library, person, { kind: 'personal', name });
  const bearer = (text: string) => ({ authorization: `Bearer ${text}` });

  const avaKey = (await personal(ava, 'script')).key;
  const boKey = (await personal(bo, 'script')).key;
  const revoked = await personal(ava, 'revoked');
  await revokeKey(library, ava, revoked.id);
  const rolled = await personal(ava, 'rolled');
  await rollKey(library, ava, rolled.id, 'now');
  const disabled = await doors.person('Di');
  const disabledKey = (await personal(disabled, 'script')).key;
  await setPersonDisabled(library, ada, disabled.user.id, true);
  const agent = (await agentKey(ava)).key;
  const last = avaKey.at(-1) === 'a' ? 'b' : 'a';

  return [
    { name: 'nobody', user: null, headers: {} },
    { name: 'a malformed key', user: null, headers: bearer(avaKey.slice(0, -1) + last) },
    { name: 'an unknown key', user: null, headers: bearer('sgk_s_0123456789ABCDEFGHIJKLMNOPQRSTUV2wNGkN') },
    {
      name: 'an unknown login token',
      user: null,
      headers: bearer(ava.token.slice(0, -1) + (ava.token.endsWith('a') ? 'b' : 'a')),
    },
    { name: 'a revoked key', user: null, headers: bearer(revoked.key) },
    { name: 'a revoked key as X-Api-Key', user: null, headers: { 'x-api-key': revoked.key } },
    { name: 'a key that was rolled away', user: null, headers: bearer(rolled.key) },
    { name: 'the login of somebody disabled', user: null, headers: bearer(disabled.token) },
    { name: 'the key of somebody disabled', user: null, headers: bearer(disabledKey) },
    { name: 'two credentials', user: null, headers: { ...bearer(ava.token), 'x-api-key': boKey } },
    { name: 'an agent key', user: null, headers: bearer(agent) },
    { name: 'an agent key as X-Api-Key', user: null, headers: { 'x-api-key': agent } },
    {
      name: 'a cookie from another site',
      user: null,
      elsewhere: true,
      headers: { cookie: `sergo=${ava.token}`, origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
    },
    { name: 'Ava by login', user: 'ava', headers: bearer(ava.token) },
    { name: 'Ava by key', user: 'ava', headers: bearer(avaKey) },
    { name: 'Ava by X-Api-Key', user: 'ava', headers: { 'x-api-key': avaKey } },
    {
      name: 'Ava by cookie',
      user: 'ava',
      headers: { cookie: `sergo=${ava.token}`, origin: doors.publicUrl, 'x-sergo-request': '1' },
    },
    {
      name: 'Ava, saying she is Bo',
      user: 'ava',
      headers: { ...bearer(avaKey), 'x-sergo-end-user': 'bo@example.com', 'x-forwarded-for': '127.0.0.1' },
    },
    { name: 'Bo by login', user: 'bo', headers: bearer(bo.token) },
    { name: 'Bo by key', user: 'bo', headers: bearer(boKey) },
    { name: 'Ada, admin, by login', user: 'ada', headers: bearer(ada.token) },
  ];
}
