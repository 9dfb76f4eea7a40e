import { newId } from '../access/random-text.ts';
import { AppError } from '../errors.ts';
import type { DocumentRow, FolderRow, Stores } from '../storage/ports.ts';
import type { LibraryDeps } from './deps.ts';
import { cleanFileName, cleanFolderName, foldName } from './names.ts';
import { insertDocument } from './new-document.ts';
import { freeFolderName } from './placing.ts';

/** An archive in a mail in an archive: deeper is left as it is, so that no file can unpack for ever (trust.md section 2). */
const DEEPEST = 2;
const LONGEST_FOLDER_NAME = 120;

export interface InnerFile {
  /** Inside the archive, `/` between folders; a mail's attachment is a plain name. */
  path: string;
  blob: { sha256: string; bytes: number };
}

type InnerFileDeps = Pick<LibraryDeps, 'blobs' | 'clock' | 'random' | 'indexFolderName' | 'limits'>;

export interface RoomInside {
  files: number;
  bytes: number;
}

/**
 * How many files inside this document may become documents; null when it lies too deep in others itself. One limit is for all that
 * comes out of the outermost of them: else an archive of archives would have it once for each. What came out of this document in an
 * earlier reading is not counted, since it is not made twice.
 */
export async function roomInside(stores: Pick<Stores, 'documents'>, { limits }: Pick<LibraryDeps, 'limits'>, document: DocumentRow): Promise<RoomInside | null> {
  let depth = 0;
  let outermost = document;
  for (let at = await containerOf(stores, document); at !== null; at = await containerOf(stores, at)) {
    outermost = at;
    depth += 1;
    if (depth >= DEEPEST) return null;
  }
  const used = await stores.documents.sizeInside(outermost.ref, document.ref);
  return { files: Math.max(0, limits.maxInnerFiles - used.files), bytes: Math.max(0, limits.maxInnerBytes - used.bytes) };
}

const containerOf = (stores: Pick<Stores, 'documents'>, { container }: DocumentRow): Promise<DocumentRow | null> =>
  container === null ? Promise.resolve(null) : stores.documents.byRef(container);

export const leftForRoom = (count: number): string =>
  `${count} files inside were left inside: with what else came out of the same archive or mail they are more than may be unpacked of one — upload it on its own to have them`;

/**
 * The files inside a document become documents: a mail's attachments beside it, an archive's in a folder of the archive's name with
 * its own folders. Inside the transaction that ends its reading; what is there already from an earlier reading is not made twice.
 */
export async function placeInnerFiles(stores: Stores, deps: InnerFileDeps, document: DocumentRow, files: readonly InnerFile[]): Promise<number> {
  // Where it is now: it may have been moved or thrown away while it was being read.
  const now = await stores.documents.byRef(document.ref);
  const beside = now === null ? null : await stores.folders.byRef(now.folder);
  if (now === null || beside === null) return 0;
  const top = document.type === 'zip' ? await topFolder(stores, deps, now, beside) : beside;
  // Asked again: another archive inside the same one may have been unpacked meanwhile.
  const room = (await roomInside(stores, deps, now)) ?? { files: 0, bytes: 0 };
  let made = 0;
  let left = 0;
  for (const file of files) {
    if (room.files < 1 || room.bytes < file.blob.bytes) {
      left += 1;
      continue;
    }
    room.files -= 1;
    room.bytes -= file.blob.bytes;
    // An archive's paths were cleaned when it was unpacked; what a mail calls its attachment is one name, whatever is in it.
    const steps = document.type === 'zip' ? file.path.split('/') : [file.path];
    const name = cleanFileName(steps.pop() ?? file.path);
    let folder = top;
    for (const step of steps) folder = await folderNamed(stores, deps, folder, step);
    const twins = await stores.documents.byNameInFolder(folder.ref, name);
    if (twins.some((twin) => twin.sha256 === file.blob.sha256)) continue;
    const { preset, uploadedBy } = document;
    const inner = await insertDocument(stores, deps, { folder, name, blob: file.blob, preset, uploadedBy, container: document.ref });
    // What came out of a file in the trash goes there as well: nothing appears that somebody threw away.
    if (now.trashedAt !== null && top === beside) await stores.documents.update(inner.ref, { trashedAt: now.trashedAt });
    made += 1;
  }
  if (left > 0) await stores.documents.update(now.ref, { notices: [...now.notices, leftForRoom(left)] });
  return made;
}

/** The folder of an archive, in the trash when the archive is. */
async function topFolder(stores: Stores, deps: InnerFileDeps, archive: DocumentRow, beside: FolderRow): Promise<FolderRow> {
  const name = archive.name.replace(/\.zip$/i, '') || archive.name;
  if (archive.trashedAt === null) return folderNamed(stores, deps, beside, name);
  const made = await folderNamed(stores, deps, beside, await freeFolderName(stores, beside, fitFolderName(name)));
  await stores.folders.update(made.ref, { trashedAt: archive.trashedAt });
  return { ...made, trashedAt: archive.trashedAt };
}

/** The live folder of that name, made when it is missing; names that folders may not have are made to fit. */
async function folderNamed(stores: Stores, deps: InnerFileDeps, parent: FolderRow, wanted: string): Promise<FolderRow> {
  const name = fitFolderName(wanted);
  const found = await stores.folders.childByKey(parent.ref, foldName(name));
  if (found) return found;
  const row = { id: newId(deps.random), parent: parent.ref, owner: parent.owner, name, nameKey: foldName(name), createdAt: deps.clock.now() };
  const made = { ...row, ref: await stores.folders.insert(row), trashedAt: null };
  await deps.indexFolderName(stores, made);
  return made;
}

function fitFolderName(wanted: string): string {
  const short = Array.from(wanted.replace(/[/\\]/g, '-')).slice(0, LONGEST_FOLDER_NAME).join('');
  try {
    return cleanFolderName(short);
  } catch (error) {
    if (error instanceof AppError) return 'folder';
    throw error;
  }
}
