import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { formatImportReport, importSucceeded } from './import-report.ts';
import { readTree } from './import-tree.ts';

const root = mkdtempSync(join(tmpdir(), 'sergo-tree-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

test('files come in order with their folders; hidden ones are passed over and links are told', async () => {
  mkdirSync(join(root, 'b/deep'), { recursive: true });
  mkdirSync(join(root, '.git'));
  for (const name of ['a.txt', 'b/two.pdf', 'b/deep/three.md', '.hidden', '.git/config', 'b/~$two.docx']) {
    writeFileSync(join(root, name), 'abc');
  }
  symlinkSync('/etc', join(root, 'outside'));
  const tree = await readTree(root);
  expect(tree.files.map(({ folders, name, bytes }) => [folders.join('/'), name, bytes])).toEqual([
    ['', 'a.txt', 3],
    ['b/deep', 'three.md', 3],
    ['b', 'two.pdf', 3],
  ]);
  expect(tree.leftOut).toEqual([{ path: join(root, 'outside'), reason: 'a link, which is not followed' }]);
});

test('a name that is not UTF-8 is told and does not end the walk', async () => {
  const folder = mkdtempSync(join(root, 'latin-'));
  writeFileSync(Buffer.concat([Buffer.from(`${folder}/`), Buffer.from('M\u00fcll.txt', 'latin1')]), 'abc');
  writeFileSync(join(folder, 'z.txt'), 'abc');
  const tree = await readTree(folder);
  expect(tree.files.map(({ name }) => name)).toEqual(['z.txt']);
  expect(tree.leftOut).toEqual([{ path: join(folder, 'M\ufffdll.txt'), reason: 'it is gone, or its name is not UTF-8' }]);
});

test('the report names what is not in and what cannot be read', () => {
  const report = {
    folder: "Ava Bennett's documents/Energy outlooks",
    uploaded: 3,
    replaced: 0,
    alreadyThere: 1,
    notUploaded: [{ path: 'big.pdf', reason: 'larger than 2 GiB' }],
    notRead: [{ path: 'x.pdf', documentId: 'xM5gW8NZ', reason: 'needs a password' }],
    stillProcessing: 0,
  };
  expect(importSucceeded(report)).toBe(false);
  expect(formatImportReport(report)).toBe(
    [
      "Into Ava Bennett's documents/Energy outlooks: 3 uploaded, 0 replaced, 1 already there.",
      '',
      '1 not uploaded:',
      '  big.pdf: larger than 2 GiB',
      '',
      '1 uploaded, but could not be read (the originals can be downloaded):',
      '  x.pdf: needs a password',
    ].join('\n'),
  );
  expect(importSucceeded({ ...report, notUploaded: [], notRead: [] })).toBe(true);
});
