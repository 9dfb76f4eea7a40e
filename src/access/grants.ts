import type { Actor } from './actor.ts';
import type { AccessDeps } from './deps.ts';

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
export async function giveGrant(deps: AccessDeps, actor: Actor, target: GrantTarget, input: { email: string; right: 'read' | 'edit' }): Promise<GrantView> {
  throw new Error(`not landed yet ${[deps, actor, target, input].length}`);
}

/** Every grant that reaches the object, those on folders above included (P13). Owner only. */
export async function listGrants(deps: AccessDeps, actor: Actor, target: GrantTarget): Promise<GrantView[]> {
  throw new Error(`not landed yet ${[deps, actor, target].length}`);
}

/** The owner removes any; whoever received it may give it back. */
export async function removeGrant(deps: AccessDeps, actor: Actor, grantId: string): Promise<void> {
  throw new Error(`not landed yet ${[deps, actor, grantId].length}`);
}
