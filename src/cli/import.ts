/**
 * `sergo import`: a whole tree of files into a folder. Safe to stop and to run again: a file that is already there with
 * the same bytes is left alone, one that changed replaces its document.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Actor } from '../access/actor.ts';
import { AppError } from '../errors.ts';
import type { LibraryDeps } from '../library/deps.ts';
import { findByName, getDocument } from '../library/documents.ts';
import { replaceDocument, uploadDocument } from '../library/uploads.ts';
import type { DocumentView } from '../library/views.ts';
import { ensureChild, ensureFolder } from './folder-path.ts';
import { readTree, type TreeFile } from './import-tree.ts';
import { findTwins } from './import-twins.ts';

export interface ImportOptions {
  directory: string;
  /** Path below the user's root. */
  into: string;
  preset: string;
  /** Wait until every document is read; otherwise the report is of the uploads only. */
  wait: boolean;
}

export interface ImportProgress {
  (phase: 'uploading' | 'reading', done: number, total: number, name: string): void;
}

export interface ImportReport {
  folder: string;
  uploaded: number;
  replaced: number;
  alreadyThere: number;
  /** Files that did not get in, and documents that are in but could not be read, with the reason. */
  notUploaded: { path: string; reason: string }[];
  notRead: { path: string; documentId: string; reason: string }[];
  /** Documents still being processed when the command ended. */
  stillProcessing: number;
}

const UPLOADS_AT_A_TIME = 4;
const POLL_MS = 300;
const BUSY_WAIT_MS = 2_000;

type Done =
  | { what: 'uploaded' | 'replaced' | 'alreadyThere'; document: DocumentView }
  | { what: 'notUploaded'; reason: string };

export async function importTree(
  deps: LibraryDeps,
  actor: Actor,
  options: ImportOptions,
  progress: ImportProgress,
): Promise<ImportReport> {
  const tree = await readTree(options.directory);
  const root = await ensureFolder(deps, actor, options.into);
  const report: ImportReport = {
    folder: root.path,
    uploaded: 0,
    replaced: 0,
    alreadyThere: 0,
    notUploaded: [...tree.leftOut],
    notRead: [],
    stillProcessing: 0,
  };
  const folderOf = folderFinder(deps, actor, root.id);
  const twins = findTwins(tree.files);
  const documents: { path: string; document: DocumentView }[] = [];
  const queue = tree.files.values();
  let finished = 0;

  const uploadNext = async (): Promise<void> => {
    for (const file of queue) {
      const twin = twins.get(file);
      const done = twin === undefined ? await bringIn(deps, actor, file, folderOf, options.preset) : notBesides(twin);
      if (done.what === 'notUploaded') report.notUploaded.push({ path: file.path, reason: done.reason });
      else {
        report[done.what] += 1;
        documents.push({ path: file.path, document: done.document });
      }
      progress('uploading', ++finished, tree.files.length, file.name);
    }
  };
  await Promise.all(Array.from({ length: UPLOADS_AT_A_TIME }, uploadNext));
  await followReading(deps, actor, documents, options.wait, report, progress);
  return report;
}

/** Makes each folder of the tree once, also when several uploads want it at the same time. */
function folderFinder(deps: LibraryDeps, actor: Actor, rootId: string): (names: readonly string[]) => Promise<string> {
  const made = new Map<string, Promise<string>>([['', Promise.resolve(rootId)]]);
  const find = (names: readonly string[]): Promise<string> => {
    const key = names.join('/');
    let folder = made.get(key);
    if (folder === undefined) {
      const name = names.at(-1) ?? '';
      folder = find(names.slice(0, -1)).then(async (parent) => (await ensureChild(deps, actor, parent, name)).id);
      made.set(key, folder);
    }
    return folder;
  };
  return find;
}

const notBesides = (twin: string): Done => ({
  what: 'notUploaded',
  reason: `another file of this folder has the same name in Sergo: ${twin} — rename one of the two`,
});

async function bringIn(
  deps: LibraryDeps,
  actor: Actor,
  file: TreeFile,
  folderOf: (names: readonly string[]) => Promise<string>,
  preset: string,
): Promise<Done> {
  try {
    const folderId = await folderOf(file.folders);
    const named = await findByName(deps, actor, folderId, file.name);
    const equal = await withSameBytes(file, named);
    if (equal !== undefined) return { what: 'alreadyThere', document: equal };
    if (named.length > 1) {
      const reason = `${named.length} documents have this name in Sergo and none has the bytes of this file — rename it, or replace the right one in Sergo`;
      return { what: 'notUploaded', reason };
    }
    const [existing] = named;
    const document = await patiently(() => {
      const upload = { name: file.name, source: createReadStream(file.path) };
      return existing === undefined
        ? uploadDocument(deps, actor, { folderId, preset }, upload)
        : replaceDocument(deps, actor, existing.id, upload);
    });
    return { what: existing === undefined ? 'uploaded' : 'replaced', document };
  } catch (error) {
    // A full disk or a folder that is not ours ends the whole run; what is wrong with one file is for the report.
    if (error instanceof AppError && !['disk_full', 'internal'].includes(error.code))
      return { what: 'notUploaded', reason: error.message };
    const reason = whyUnread(error, file.path);
    if (reason !== null) return { what: 'notUploaded', reason };
    throw error;
  }
}

/** Waits and tries again while the queue is full. */
async function patiently<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof AppError && error.code === 'busy')) throw error;
      await sleep(BUSY_WAIT_MS);
    }
  }
}

/** Of several documents of that name each may be the one that this file became. */
async function withSameBytes(file: TreeFile, named: readonly DocumentView[]): Promise<DocumentView | undefined> {
  const sameSize = named.filter(({ bytes }) => bytes === file.bytes);
  if (sameSize.length === 0) return undefined;
  const sha256 = await hashFile(file.path);
  return sameSize.find((document) => document.sha256 === sha256);
}

/** What is wrong with the file itself. The same codes from the data folder are no reason to pass over a file: null. */
function whyUnread(error: unknown, path: string): string | null {
  const { code, path: about, syscall } = error as NodeJS.ErrnoException;
  if (code === 'EISDIR' && syscall === 'read') return 'it is a folder now';
  if (about !== path) return null;
  if (code === 'ENOENT') return 'it is gone';
  return code === 'EACCES' || code === 'EPERM' ? 'it cannot be opened by this user' : null;
}

async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Uint8Array);
  return hash.digest('hex');
}

async function followReading(
  deps: LibraryDeps,
  actor: Actor,
  documents: { path: string; document: DocumentView }[],
  wait: boolean,
  report: ImportReport,
  progress: ImportProgress,
): Promise<void> {
  let open = documents;
  for (;;) {
    const still: typeof documents = [];
    for (const one of open) {
      const { id, status } = one.document;
      const document = status === 'processing' ? await getDocument(deps, actor, id) : one.document;
      if (document.status === 'processing') still.push({ ...one, document });
      else if (document.status !== 'ready')
        report.notRead.push({ path: one.path, documentId: id, reason: document.reason ?? document.status });
    }
    open = still;
    progress('reading', documents.length - open.length, documents.length, open[0]?.document.name ?? '');
    if (open.length === 0 || !wait) break;
    await sleep(POLL_MS);
  }
  report.stillProcessing = open.length;
  report.notRead.sort((a, b) => a.path.localeCompare(b.path));
  report.notUploaded.sort((a, b) => a.path.localeCompare(b.path));
}
