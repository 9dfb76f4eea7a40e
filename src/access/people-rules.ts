import type { RandomBytes } from '../clock.ts';
import { AppError } from '../errors.ts';
import { cleanFolderName, cleanLine, foldName } from '../library/names.ts';
import type { Stores } from '../storage/ports.ts';
import { newId } from './random-text.ts';

const nameLimit = 80;
const emailLimit = 254;

/** How e-mails are kept and compared. */
export const foldEmail = (email: string): string => email.normalize('NFC').trim().toLowerCase();

/** AppError invalid, field `email`. */
export function cleanEmail(raw: string): string {
  const email = foldEmail(raw);
  if (!/^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u.test(email) || email.length > emailLimit) {
    throw new AppError('invalid', "This is not an e-mail address — it should look like 'ava@example.com'", { field: 'email' });
  }
  return email;
}

/** AppError invalid, field `name`. */
export function cleanPersonName(raw: string): string {
  const name = cleanLine(raw);
  const length = Array.from(name).length;
  if (length === 0 || length > nameLimit) throw new AppError('invalid', `A person's name has 1 to ${nameLimit} characters — this one has ${length}`, { field: 'name' });
  if (/[/\\]/.test(name)) throw new AppError('invalid', "A person's name cannot contain / or \\ — their folder carries it", { field: 'name' });
  return name;
}

/** The user and the root folder `<Name>'s documents`, together. Name and e-mail are cleaned already. */
export async function insertUserWithRoot(
  stores: Stores,
  random: RandomBytes,
  row: { name: string; email: string; passwordHash: string; role: 'admin' | 'member'; createdAt: number },
): Promise<{ ref: number; id: string; rootFolder: number; rootFolderId: string }> {
  const id = newId(random);
  const ref = await stores.users.insert({ id, ...row });
  const folderName = cleanFolderName(`${row.name}'s documents`);
  const rootFolderId = newId(random);
  const rootFolder = await stores.folders.insert({
    id: rootFolderId,
    parent: null,
    owner: ref,
    name: folderName,
    nameKey: foldName(folderName),
    createdAt: row.createdAt,
  });
  await stores.users.setRootFolder(ref, rootFolder);
  return { ref, id, rootFolder, rootFolderId };
}
