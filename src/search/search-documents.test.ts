import { expect, test } from 'vitest';
import type { ChunkRow, DocumentRow } from '../storage/ports.ts';
import { searchDocuments, type SearchDeps } from './search-documents.ts';

const row = (ref: number, type: string, more: Partial<DocumentRow> = {}): DocumentRow =>
  ({ ref, id: `document-${ref}`, folder: 1, name: `a.${type}`, type, trashedAt: null, pagesEstimated: false, pagesToView: [], imageOnlyPages: [], ...more }) as DocumentRow;
const chunk = (ref: number, document: number): ChunkRow => ({ ref, document, position: 0, page: 1, section: 'Solar', text: 'text' });

function depsFor(documents: DocumentRow[]): SearchDeps {
  const excerpt = (document: DocumentRow) => ({ chunk: document.ref * 10, document: document.ref, documentId: document.id, page: 1, position: 0, score: 1 });
  return {
    depth: 60,
    index: { rank: async () => documents.map(excerpt), close: async () => {} },
    storage: {
      chunks: { byRefs: async (refs: readonly number[]) => refs.map((ref) => chunk(ref, ref / 10)) },
      documents: { byRefs: async () => documents },
      folders: { paths: async () => new Map([[1, "Ava's documents"]]) },
    } as unknown as SearchDeps['storage'],
  };
}

test('the heading above is named in flowing text only, before and after it has its pages from a copy', async () => {
  const documents = [row(1, 'pptx'), row(2, 'pdf'), row(3, 'docx', { pagesEstimated: true }), row(4, 'docx'), row(5, 'md', { pagesEstimated: true })];
  const found = await searchDocuments(depsFor(documents), { folders: [1], documents: [] }, { query: 'solar', limit: 10, offset: 0 });
  expect(found.documents.map(({ name, excerpts }) => [name, excerpts[0]?.section])).toEqual([
    ['a.pptx', null], ['a.pdf', null], ['a.docx', 'Solar'], ['a.docx', 'Solar'], ['a.md', 'Solar'],
  ]);
});
