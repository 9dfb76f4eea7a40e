import { AppError, notFound } from '../errors.ts';
import type { GrantRow, Stores } from '../storage/ports.ts';
import type { Actor } from './actor.ts';
import type { AccessDeps } from './deps.ts';
import { change, guarded, requireUser } from './guard.ts';
import { can, requireDocument, requireFolder, type PolicyObject } from './policy.ts';
import { foldEmail } from './people-rules.ts';
import { newId } from './random-text.ts';

export type GrantTarget = { folderId: string } | { documentId: string };

export interface GrantView {
  id: string;
  user: { userId: string; name: string; email: string };
  right: 'read' | 'edit';
  grantedBy: { userId: string; name: string };
  createdAt: number;
  /** Where it sits: on the object itself, or on a folder above it. */
  on: { kind: 'folder' | 'document'; id: string };
}

/** Only the owner of the tree shares, so no grant can exceed its granter. One grant a user and object: a second replaces the first. */
export async function giveGrant(
  deps: AccessDeps,
  actor: Actor,
  target: GrantTarget,
  input: { email: string; right: 'read' | 'edit' },
): Promise<GrantView> {
  return change(deps, actor, { action: 'grant given', object: objectOf(target) }, async (stores) => {
    const { user } = requireUser(actor);
    const object = await requireTarget(stores, actor, target);
    const receiver = await stores.users.byEmail(foldEmail(input.email));
    if (receiver === null || receiver.disabledAt !== null) {
      throw new AppError('invalid', 'Nobody here has that e-mail — an admin can add the person first', { field: 'email' });
    }
    if (receiver.ref === object.row.owner) throw new AppError('invalid', 'This is yours already — share it with somebody else', { field: 'email' });

    const earlier = (await grantsOn(stores, object)).find((grant) => grant.user === receiver.ref);
    if (earlier !== undefined) await stores.grants.remove(earlier.ref);
    const place = object.kind === 'folder' ? { folder: object.row.ref, document: null } : { folder: null, document: object.row.ref };
    const row = { id: newId(deps.random), ...place, user: receiver.ref, right: input.right, grantedBy: user.ref, createdAt: deps.clock.now() };
    const ref = await stores.grants.insert(row);
    const detail = `${object.row.name}: ${receiver.name} may ${input.right}`;
    await deps.audit.append(stores, { actor, action: 'grant given', object: objectOf(target), detail });
    return viewOf(stores, { ...row, ref }, { kind: object.kind, id: object.row.id });
  });
}

/** Every grant that reaches the object, those on folders above included (P13). Owner only. */
export async function listGrants(deps: AccessDeps, actor: Actor, target: GrantTarget): Promise<GrantView[]> {
  return guarded(deps, actor, { action: 'grant read', object: objectOf(target) }, async () => {
    requireUser(actor);
    const stores = deps.storage;
    const object = await requireTarget(stores, actor, target);
    const views: GrantView[] = [];
    if (object.kind === 'document') {
      for (const grant of await stores.grants.onDocument(object.row.ref)) views.push(await viewOf(stores, grant, { kind: 'document', id: object.row.id }));
    }
    const place = object.kind === 'folder' ? object.row.ref : object.row.folder;
    for (const folder of await stores.folders.ancestors(place)) {
      for (const grant of await stores.grants.onFolder(folder.ref)) views.push(await viewOf(stores, grant, { kind: 'folder', id: folder.id }));
    }
    return views;
  });
}

/** The owner removes any; whoever received it may give it back. */
export async function removeGrant(deps: AccessDeps, actor: Actor, grantId: string): Promise<void> {
  await change(deps, actor, { action: 'grant removed', object: { kind: 'grant', id: grantId } }, async (stores) => {
    const { user } = requireUser(actor);
    const grant = await stores.grants.byId(grantId);
    if (grant === null) throw notFound();
    const object = await objectBehind(stores, grant);
    if (object === null || (grant.user !== user.ref && !(await can(stores, actor, 'own', object, true)))) throw notFound();
    await stores.grants.remove(grant.ref);
    const receiver = await stores.users.byRef(grant.user);
    const detail = `${object.row.name}: ${receiver?.name ?? 'somebody'} may no longer ${grant.right}`;
    await deps.audit.append(stores, { actor, action: 'grant removed', object: { kind: object.kind, id: object.row.id }, detail });
  });
}

async function requireTarget(stores: Stores, actor: Actor, target: GrantTarget): Promise<PolicyObject> {
  if ('folderId' in target) return { kind: 'folder', row: await requireFolder(stores, actor, 'own', target.folderId) };
  return { kind: 'document', row: await requireDocument(stores, actor, 'own', target.documentId) };
}

async function objectBehind(stores: Stores, grant: GrantRow): Promise<PolicyObject | null> {
  if (grant.folder !== null) {
    const row = await stores.folders.byRef(grant.folder);
    return row === null ? null : { kind: 'folder', row };
  }
  const row = grant.document === null ? null : await stores.documents.byRef(grant.document);
  return row === null ? null : { kind: 'document', row };
}

const grantsOn = (stores: Stores, object: PolicyObject): Promise<GrantRow[]> =>
  object.kind === 'folder' ? stores.grants.onFolder(object.row.ref) : stores.grants.onDocument(object.row.ref);

const objectOf = (target: GrantTarget): { kind: 'folder' | 'document'; id: string } =>
  'folderId' in target ? { kind: 'folder', id: target.folderId } : { kind: 'document', id: target.documentId };

async function viewOf(stores: Stores, grant: GrantRow, on: GrantView['on']): Promise<GrantView> {
  const receiver = await stores.users.byRef(grant.user);
  const granter = await stores.users.byRef(grant.grantedBy);
  return {
    id: grant.id,
    user: { userId: receiver?.id ?? '', name: receiver?.name ?? '', email: receiver?.email ?? '' },
    right: grant.right,
    grantedBy: { userId: granter?.id ?? '', name: granter?.name ?? '' },
    createdAt: grant.createdAt,
    on,
  };
}
