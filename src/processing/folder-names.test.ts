import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { expect, test } from 'vitest';
import { openTestLibrary } from '../../test/support/library.ts';
import { analyseDocument } from '../search/analysis/document.ts';
import { indexUnreadFolderNames } from './reindex.ts';
import { createSearchIndex } from '../search/pool.ts';
import type { FolderRow } from '../storage/ports.ts';
import { openSqliteStorage } from '../storage/sqlite/open.ts';

test('folders named before the migration are found by their names in other languages than English', async () => {
  const library = await openTestLibrary({ realIndex: true });
  const ava = await library.person('Ava');
  const folders: FolderRow[] = [];
  for (const name of ['Rechnungen', 'Счета']) folders.push((await library.storage.folders.byId(await library.folderIn(ava, ava.rootId, name)))!);
  const ids: string[] = [];
  for (const folder of folders) {
    const { ref, id } = await library.upload(ava, folder.id, `${folder.ref}.txt`);
    ids.push(id);
    const text = 'Der Betrag ist innerhalb von dreißig Tagen und ohne Abzug zu zahlen, wie es mit uns vereinbart wurde.';
    const chunks = [{ position: 0, page: 1, section: null, text }];
    await library.storage.transaction((stores) =>
      stores.index.replace({ document: ref, documentId: id, folder: folder.ref, live: true, title: '', analysed: analyseDocument({ title: '' }, chunks), chunks }),
    );
  }
  await library.storage.close();

  const path = join(library.folder, 'sergo.db');
  const db = new Sqlite(path);
  // As version 0.6.0 wrote them: the terms of the name in English; and a folder that is gone.
  for (const { ref, name } of folders) db.prepare('update search_folders set terms = ? where folder = ?').run(JSON.stringify([name.toLowerCase()]), ref);
  db.prepare("insert into search_folders (folder, terms) values (999, '[\"gone\"]')").run();
  db.exec("delete from kysely_migration where name >= '0011'");
  db.close();
  const upgraded = await openSqliteStorage({ path });
  expect(await upgraded.index.foldersWithoutWords(10)).toHaveLength(3);
  await indexUnreadFolderNames(upgraded);
  expect(await upgraded.index.foldersWithoutWords(10)).toEqual([]);
  await upgraded.close();

  const index = createSearchIndex({ databasePath: path, threads: 1 });
  const found = async (query: string): Promise<string[]> =>
    (await index.rank({ query, scope: { folders: folders.map(({ ref }) => ref), documents: [] }, depth: 5 })).map(({ documentId }) => documentId);
  expect(await found('Rechnungen')).toEqual([ids[0]]);
  expect(await found('Rechnung')).toEqual([ids[0]]);
  expect(await found('счетов')).toEqual([ids[1]]);
  await index.close();
  const migrated = new Sqlite(path, { readonly: true });
  expect(migrated.prepare('select folder from search_folders order by folder').pluck().all()).toEqual(folders.map(({ ref }) => ref).toSorted((a, b) => a - b));
  migrated.close();
  await library.close();
});
