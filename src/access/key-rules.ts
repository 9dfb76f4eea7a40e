import { AppError } from '../errors.ts';
import { cleanLine } from '../library/names.ts';
import type { KeyKind, Stores } from '../storage/ports.ts';
import type { UserActor } from './actor.ts';
import { requireDocument, requireFolder } from './policy.ts';

const descriptionLimit = 1_000;
const personalNameLimit = 80;
const scopeLimit = 2_000;

/** AppError invalid, field `name`. An agent key's name becomes the server's name, so it is plain (seeds/000 "What you can set"). */
export function checkKeyName(kind: KeyKind, raw: string): string {
  if (kind === 'agent') {
    if (/^[a-z][a-z0-9-]{1,31}$/.test(raw)) return raw;
    throw new AppError('invalid', "An agent key's name has 2 to 32 lowercase letters, digits and dashes, starting with a letter — such as 'energy-outlooks'", { field: 'name' });
  }
  const name = cleanLine(raw);
  const length = Array.from(name).length;
  if (length >= 1 && length <= personalNameLimit) return name;
  throw new AppError('invalid', `A key's name has 1 to ${personalNameLimit} characters — this one has ${length}`, { field: 'name' });
}

/** AppError invalid, field `description`. It is one line of the server's instructions, so line breaks become spaces. */
export function checkKeyDescription(kind: KeyKind, raw: string): string {
  const description = cleanLine(raw);
  const length = Array.from(description).length;
  if (length > descriptionLimit) throw new AppError('invalid', `A description has at most ${descriptionLimit} characters — this one has ${length}`, { field: 'description' });
  if (kind === 'agent' && length === 0) {
    throw new AppError('invalid', 'An agent key needs a description — say what the documents are and when to use them', { field: 'description' });
  }
  return description;
}

/** AppError conflict: two live keys of one kind and owner never share a name. */
export async function requireFreeName(stores: Stores, owner: number, kind: KeyKind, name: string, except: number | null): Promise<void> {
  if (await stores.keys.liveNameTaken(owner, kind, name, except)) {
    throw new AppError('conflict', `You have a key named '${name}' already — choose another name, or roll that one`, { field: 'name' });
  }
}

/** The refs behind what a key is to read; each must be the actor's to read now. AppError not_found, invalid (nothing, or too many). */
export async function resolveKeyScope(
  stores: Stores,
  actor: UserActor,
  folderIds: readonly string[],
  documentIds: readonly string[],
): Promise<{ folders: number[]; documents: number[] }> {
  const [folders, documents] = [[...new Set(folderIds)], [...new Set(documentIds)]];
  if (folders.length + documents.length === 0) {
    throw new AppError('invalid', 'An agent key reads at least one folder or document — say which', { field: 'folderIds' });
  }
  if (folders.length + documents.length > scopeLimit) {
    throw new AppError('invalid', `An agent key names at most ${scopeLimit} folders and documents — choose a folder above them`, { field: 'folderIds' });
  }
  const resolved = { folders: [] as number[], documents: [] as number[] };
  for (const id of folders) resolved.folders.push((await requireFolder(stores, actor, 'read', id)).ref);
  for (const id of documents) resolved.documents.push((await requireDocument(stores, actor, 'read', id)).ref);
  return resolved;
}
