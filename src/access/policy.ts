import { notFound } from '../errors.ts';
import type { DocumentRow, FolderRow, GrantRow, Stores } from '../storage/ports.ts';
import { userOf, type Actor } from './actor.ts';

/** read: see it. edit: change, add, move, trash, restore. own: share, purge. */
export type Verb = 'read' | 'edit' | 'own';

export type PolicyObject = { kind: 'folder'; row: FolderRow } | { kind: 'document'; row: DocumentRow };

/** What the policy needs to know of an object. */
type Governed =
  | { kind: 'folder'; row: Pick<FolderRow, 'ref' | 'owner'> }
  | { kind: 'document'; row: Pick<DocumentRow, 'ref' | 'folder' | 'owner' | 'trashedAt'> };

/**
 * May this actor do this to that, now? The default is no. Trashed objects (or ones inside a trashed folder) are nobody's to read
 * or edit unless `evenTrashed`, which restore and purge ask with. No role reads others' documents (DESIGN.md section 4).
 */
export async function can(stores: Stores, actor: Actor, verb: Verb, object: Governed, evenTrashed = false): Promise<boolean> {
  const user = userOf(actor);
  if (user === null) return false;
  const place = object.kind === 'folder' ? object.row.ref : object.row.folder;
  const document = object.kind === 'document' ? object.row : null;
  const path = await stores.folders.ancestors(place);
  const grants = await stores.grants.ofUser(user.ref);
  const named = actor.kind === 'agent_key' ? await stores.keys.scope(actor.key.ref) : null;

  const live = path.length > 0 && path.every((folder) => folder.trashedAt === null) && (document === null || document.trashedAt === null);
  if (!live && !evenTrashed) return false;

  const folders = new Set(path.map((folder) => folder.ref));
  if (named !== null) {
    // Agent keys never write, and see only what they name.
    const isNamed = named.folders.some((ref) => folders.has(ref)) || (document !== null && named.documents.includes(document.ref));
    if (verb !== 'read' || !isNamed) return false;
  }
  if (object.row.owner === user.ref) return true;
  return verb !== 'own' && grants.some((grant) => reaches(grant, folders, document) && (verb === 'read' || grant.right === 'edit'));
}

const reaches = (grant: GrantRow, folders: ReadonlySet<number>, document: Pick<DocumentRow, 'ref'> | null): boolean =>
  grant.folder !== null ? folders.has(grant.folder) : document !== null && grant.document === document.ref;

/**
 * The folder of that id if the actor may do this to it. AppError not_found otherwise, the same whether there is none or it is not theirs,
 * and after the same work: for an id that nobody has another's row is read and asked about, so that time tells nothing either (P14).
 */
export async function requireFolder(stores: Stores, actor: Actor, verb: Verb, id: string, evenTrashed = false): Promise<FolderRow> {
  const row = await stores.folders.byIdOrAny(id);
  const allowed = row !== null && (await can(stores, actor, verb, { kind: 'folder', row }, evenTrashed));
  if (allowed && row.id === id) return row;
  throw notFound();
}

/** The same for a document. */
export async function requireDocument(stores: Stores, actor: Actor, verb: Verb, id: string, evenTrashed = false): Promise<DocumentRow> {
  const row = await stores.documents.byIdOrAny(id);
  const allowed = row !== null && (await can(stores, actor, verb, { kind: 'document', row }, evenTrashed));
  if (allowed && row.id === id) return row;
  throw notFound();
}
