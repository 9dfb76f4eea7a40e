import type { Excerpts } from '../processing/ports.ts';
import { isFlowing } from '../processing/ways.ts';
import { analyseDocument } from '../search/analysis/document.ts';
import { chunkPages } from '../search/chunk.ts';

/** Excerpts and their analysed form by search/; flowing text keeps its headings over page ends, with real pages too. */
export const excerpts: Excerpts = {
  chunk: ({ type, pages, pagesEstimated }) => chunkPages(pages, { pagesEstimated: isFlowing({ type, pagesEstimated }) }),
  analyse: async ({ name, title }, chunks) => analyseDocument({ title: title ?? name, name }, chunks),
};
