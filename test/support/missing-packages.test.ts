/** bin/missing-packages.mjs: what tells bin/install that npm has left a binary out. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { repositoryRoot } from './shared.ts';

test('binaries for this machine that are not there are named, and nothing else', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sergo-packages-'));
  try {
    mkdirSync(join(folder, 'node_modules/there'), { recursive: true });
    const here = { optional: true, os: [process.platform], cpu: [process.arch] };
    const packages = {
      '': {},
      'node_modules/there': here,
      'node_modules/@img/absent': here,
      'node_modules/a/node_modules/inner': here,
      'node_modules/other-machine': { ...here, os: ['aix'] },
      'node_modules/other-library': { ...here, libc: ['no such library'] },
      'node_modules/no-binary': { optional: true },
      'node_modules/needed': { os: [process.platform] },
    };
    writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ packages }));
    const run = spawnSync(process.execPath, [join(repositoryRoot, 'bin/missing-packages.mjs')], { cwd: folder, encoding: 'utf8' });
    expect(run.stderr).toBe('');
    expect(run.stdout.trim().split('\n')).toEqual(['@img/absent', 'inner']);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
