import type { DocumentRow, FolderRow, Stores } from '../storage/ports.ts';
import type { Actor } from './actor.ts';

/** read: see it. edit: change, add, move, trash, restore. own: share, purge. */
export type Verb = 'read' | 'edit' | 'own';

export type PolicyObject = { kind: 'folder'; row: FolderRow } | { kind: 'document'; row: DocumentRow };

/**
 * May this actor do this to that, now? The default is no. Trashed objects (or ones inside a trashed folder) are nobody's to read
 * or edit unless `evenTrashed`, which restore and purge ask with.
 */
export async function can(stores: Stores, actor: Actor, verb: Verb, object: PolicyObject, evenTrashed = false): Promise<boolean> {
  throw new Error(`not landed yet ${[stores, actor, verb, object, evenTrashed].length}`);
}
