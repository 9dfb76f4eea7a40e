/** What was read: pages, excerpts, and the search index over them. Conventions: ../ports.ts. */
import type { PageFate } from '../../formats/types.ts';

export interface PageRow {
  document: number;
  number: number;
  text: string;
  fate: PageFate;
  toView: boolean;
  width: number | null;
  height: number | null;
  sections: { start: number; title: string }[];
  notes: string | null;
  hidden: string | null;
}

export interface PageStore {
  /** Replaces all pages of the document. */
  replace(document: number, pages: readonly Omit<PageRow, 'document'>[]): Promise<void>;
  get(document: number, number: number): Promise<PageRow | null>;
  /** Pages from..to inclusive, in order. */
  range(document: number, from: number, to: number): Promise<PageRow[]>;
  /** The same with no more than a reader of text needs. */
  texts(document: number, from: number, to: number): Promise<Pick<PageRow, 'number' | 'text' | 'toView'>[]>;
}

export interface ChunkRow {
  ref: number;
  document: number;
  position: number;
  page: number | null;
  section: string | null;
  text: string;
}

export interface ChunkStore {
  byRefs(refs: readonly number[]): Promise<ChunkRow[]>;
  ofDocument(document: number): Promise<ChunkRow[]>;
  /** Which of these have any. */
  documentsWith(documents: readonly number[]): Promise<number[]>;
}

/** One document's excerpts on their way into the search index. */
export interface IndexableDocument {
  document: number;
  documentId: string;
  folder: number;
  live: boolean;
  title: string;
  chunks: { position: number; page: number | null; section: string | null; text: string }[];
  /** What search/ made of title and chunks, in the engine's own form; opaque here. */
  analysed: unknown;
}

/** The engine's write side, inside the caller's transaction: rows of `chunks` and the index move together. */
export interface IndexStore {
  /** Replaces whatever the document had. */
  replace(document: IndexableDocument): Promise<void>;
  remove(documents: readonly number[]): Promise<void>;
  setFolder(document: number, folder: number): Promise<void>;
  setLive(document: number, live: boolean): Promise<void>;
  /** The same for all documents of these folders that are not in the trash themselves, at once; how many there are. */
  setLiveInFolders(folders: readonly number[], live: boolean): Promise<number>;
  /** After a rename: the new title's words as search/ analysed them (`analyseTitle`) in the document's language. */
  setTitle(document: number, title: ReadonlyMap<string, number>): Promise<void>;
  /** Language the document was analysed in, null when it is not indexed. */
  languageOf(document: number): Promise<string | null>;
  /** Words of a folder's name, each with its languages (`analyseFolderName`): its documents are found by them, a little. None: forget the folder. */
  setFolderWords(folder: number, words: ReadonlyMap<string, readonly string[]>): Promise<void>;
  /** Some of the folders that are known, but not the words of their names: an upgrade left these to be set. */
  foldersWithoutWords(limit: number): Promise<number[]>;
}
