import type { Actor } from '../access/actor.ts';
import { can } from '../access/policy.ts';
import type { DocumentRow, DocumentStatus, FolderRow, PageRow, PdfCopyState, Stores } from '../storage/ports.ts';

/** A document as DESIGN.md section 7 fixes it; the order of fields is the order on the wire. */
export interface DocumentView {
  id: string;
  ref: number;
  name: string;
  type: string;
  status: DocumentStatus;
  reason?: string;
  progress?: { done: number; total: number; what: string };
  pages?: number;
  pagesEstimated: boolean;
  pagesToView: number[];
  imageOnlyPages: number[];
  pdfCopy: PdfCopyState;
  /** Path from the owner's root, such as `Ava Bennett's documents/Energy outlooks`. */
  folder: string;
  folderId: string;
  sha256: string;
  bytes: number;
  /** ISO 8601, UTC. */
  uploaded: string;
  preset: string;
  notices: string[];
}

export interface FolderView {
  id: string;
  name: string;
  path: string;
  /** Null at a root, and where the folder above is not the actor's to see. */
  parentId: string | null;
}

export interface FolderContents extends FolderView {
  folders: FolderView[];
  documents: DocumentView[];
  /** Documents directly in it, for paging. */
  documentCount: number;
}

export interface PageView {
  page: number;
  text: string;
  /** `view` when its text may miss a figure, chart or table; `image_only` when it has no text at all; else null. */
  mark: 'view' | 'image_only' | null;
  fate: PageRow['fate'];
  /** Speaker notes and comments: searchable, but no part of the page's text. */
  notes?: string;
  /** Text that the eye does not see on the page: never searched. */
  hidden?: string;
}

export interface TrashView {
  folders: (FolderView & { trashed: string })[];
  documents: (DocumentView & { trashed: string })[];
}

/** Views of these rows, in their order; one query for all paths. */
export async function documentViews(stores: Stores, rows: readonly DocumentRow[]): Promise<DocumentView[]> {
  const folders = new Map((await stores.folders.byRefs([...new Set(rows.map((row) => row.folder))])).map((folder) => [folder.ref, folder]));
  const paths = await stores.folders.paths([...folders.keys()]);
  return rows.map((row) => {
    const folder = { id: folders.get(row.folder)?.id ?? '', path: paths.get(row.folder) ?? '' };
    return documentViewOf(row, folder);
  });
}

export async function documentView(stores: Stores, row: DocumentRow): Promise<DocumentView> {
  const [view] = await documentViews(stores, [row]);
  if (view === undefined) throw new Error('one row has one view');
  return view;
}

function documentViewOf(row: DocumentRow, folder: { id: string; path: string }): DocumentView {
  return {
    id: row.id,
    ref: row.ref,
    name: row.name,
    type: row.type,
    status: row.status,
    ...(row.reason === null ? {} : { reason: row.reason }),
    ...(row.progress === null ? {} : { progress: row.progress }),
    ...(row.pages === null ? {} : { pages: row.pages }),
    pagesEstimated: row.pagesEstimated,
    pagesToView: row.pagesToView,
    imageOnlyPages: row.imageOnlyPages,
    pdfCopy: row.pdfCopy,
    folder: folder.path,
    folderId: folder.id,
    sha256: row.sha256,
    bytes: row.bytes,
    uploaded: new Date(row.uploadedAt).toISOString(),
    preset: row.preset,
    notices: row.notices,
  };
}

/** Views of folders that the actor may read; a parent's id shows only where the actor may read the parent too. */
export async function folderViews(stores: Stores, actor: Actor, rows: readonly FolderRow[]): Promise<FolderView[]> {
  const paths = await stores.folders.paths(rows.map((row) => row.ref));
  const parents = new Map<number, string | null>();
  for (const parent of await stores.folders.byRefs([...new Set(rows.flatMap((row) => row.parent ?? []))])) {
    parents.set(parent.ref, (await can(stores, actor, 'read', { kind: 'folder', row: parent })) ? parent.id : null);
  }
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    path: paths.get(row.ref) ?? row.name,
    parentId: row.parent === null ? null : (parents.get(row.parent) ?? null),
  }));
}

export async function folderView(stores: Stores, actor: Actor, row: FolderRow): Promise<FolderView> {
  const [view] = await folderViews(stores, actor, [row]);
  if (view === undefined) throw new Error('one row has one view');
  return view;
}
