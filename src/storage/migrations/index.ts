import type { Migration } from 'kysely/migration';
import { start } from './0001-start.ts';
import { vectors } from './0003-vectors.ts';
import { judged } from './0005-judged.ts';
import { keyDocuments } from './0006-key-documents.ts';
import { auditMarks } from './0007-audit-marks.ts';
import { namedBlocks } from './0008-named-blocks.ts';
import { titles } from './0009-titles.ts';
import { containers } from './0010-containers.ts';
import { folderWords } from './0011-folder-words.ts';

/**
 * Every migration by name; names sort in the order of application and never change once released. `createSearchTables` is the
 * embedded engine's own (sqlite/search-tables.ts): another database has another search engine.
 */
export const migrationsWith = (createSearchTables: () => void): Record<string, Migration> => ({
  '0001-start': start,
  '0002-search': { up: async () => createSearchTables() },
  '0003-vectors': vectors,
  '0005-judged': judged,
  '0006-key-documents': keyDocuments,
  '0007-audit-marks': auditMarks,
  '0008-named-blocks': namedBlocks,
  '0009-titles': titles,
  '0010-containers': containers,
  '0011-folder-words': folderWords,
});
