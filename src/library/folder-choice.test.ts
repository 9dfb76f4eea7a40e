import { expect, test } from 'vitest';
import type { ResolvedScope } from '../access/scope.ts';
import type { FolderRow } from '../storage/ports.ts';
import { chooseFolders, folderNames } from './folder-choice.ts';

const folder = (ref: number, parent: number | null, name: string): FolderRow => ({
  ref, id: String(ref), parent, owner: 1, name, nameKey: name.toLowerCase(), createdAt: 0, trashedAt: null,
});
const rows = [folder(1, null, "Ava's documents"), folder(2, 1, 'Energy outlooks'), folder(3, 2, 'Basic'), folder(4, 2, 'Café'), folder(5, 4, 'Basic'), folder(6, 1, 'Secret')];
const stores = {
  folders: {
    async paths(refs: readonly number[]) {
      const pathOf = (ref: number): string => {
        const row = rows[ref - 1] as FolderRow;
        return row.parent === null ? row.name : `${pathOf(row.parent)}/${row.name}`;
      };
      return new Map(refs.map((ref) => [ref, pathOf(ref)]));
    },
  },
} as never;
const scope: ResolvedScope = { folders: [2, 3, 4, 5], documents: [9], roots: [rows[1] as FolderRow], tree: rows.slice(1, 5) };
const choose = async (...names: string[]) => {
  const choice = await chooseFolders(stores, scope, names);
  return 'unknown' in choice ? choice : [...choice.scope.folders].sort();
};

test('no names mean the whole scope, single files included', async () => {
  expect(await chooseFolders(stores, scope, null)).toEqual({ scope: { folders: [2, 3, 4, 5], documents: [9] } });
  expect(await chooseFolders(stores, scope, [])).toEqual({ scope: { folders: [2, 3, 4, 5], documents: [9] } });
});

test('a name means every folder of that name with all inside, whatever its case and form', async () => {
  expect(await choose('basic')).toEqual([3, 5]);
  expect(await choose('CAFE\u0301')).toEqual([4, 5]);
  expect(await choose('Energy outlooks')).toEqual([2, 3, 4, 5]);
});

test('paths: from a folder that is read, and from the owner as results show them', async () => {
  expect(await choose('Energy outlooks/Basic')).toEqual([3]);
  expect(await choose("Ava's documents/Energy outlooks/Café/Basic")).toEqual([5]);
  expect(await choose('/Energy outlooks/Basic/')).toEqual([3]);
});

test('what is outside is as unknown as nonsense', async () => {
  expect(await choose('Secret')).toEqual({ unknown: 'Secret' });
  expect(await choose("Ava's documents")).toEqual({ unknown: "Ava's documents" });
  expect(await choose('asic')).toEqual({ unknown: 'asic' });
  expect(await choose('')).toEqual({ unknown: '' });
  expect(await choose('Basic', 'IEO2023')).toEqual({ unknown: 'IEO2023' });
});

test('the names to offer', () => {
  expect(folderNames(scope)).toEqual({ names: ['Energy outlooks'], inside: ['Basic', 'Café'] });
});
