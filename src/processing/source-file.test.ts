import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, stat } from 'node:fs/promises';
import { spawnSync } from 'node:child_process';
import { basename, dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { sweepWorkspaces, sweptPrefix } from '../sandbox/workspace.ts';
import { withBytesAsFile } from './source-file.ts';

test('bytes are a file for as long as the work lasts', async () => {
  const path = await withBytesAsFile(Buffer.from('a copy'), '1', 'a.pdf', async (file) => {
    expect(await readFile(file.path, 'utf8')).toBe('a copy');
    expect((await stat(file.path)).mode & 0o777).toBe(0o600);
    return file.path;
  });
  expect(existsSync(dirname(path))).toBe(false);
});

test('what a killed worker left of them is removed by the next start', async () => {
  const gone = spawnSync(process.execPath, ['-e', '0']).pid;
  const left = await withBytesAsFile(Buffer.from('a copy'), '1', 'a.pdf', async (file) => {
    const folder = dirname(file.path);
    const other = join(dirname(folder), basename(folder).replace(sweptPrefix(), sweptPrefix().replace(String(process.pid), String(gone))));
    await mkdir(other);
    await rename(file.path, join(other, 'file'));
    sweepWorkspaces(dirname(folder));
    expect(existsSync(folder)).toBe(true);
    return other;
  });
  expect(existsSync(left)).toBe(false);
});
