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

type InnerFileDeps = Pick<LibraryDeps, 'blobs' | 'clock' | 'random' | 'indexFolderName'>;

/** May the files inside this document become documents, or does it lie too deep itself? */
export async function mayUnpack(stores: Pick<Stores, 'documents'>, document: DocumentRow): Promise<boolean> {
  let depth = 0;
  for (let at: DocumentRow | null = document; at?.container != null; at = await stores.documents.byRef(at.container)) {
    depth += 1;
    if (depth >= DEEPEST) return false;
  }
  return true;
}

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
  let made = 0;
  for (const file of files) {
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
