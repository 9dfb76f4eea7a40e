import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { lockDataFolder } from './data-folder-lock.ts';

const parent = mkdtempSync(join(tmpdir(), 'sergo-lock-'));
afterAll(() => rmSync(parent, { recursive: true, force: true }));

/** Another process that takes the lock, drops the handle as a careless caller would, collects its garbage and lives on;
 * resolves once it has. */
async function holdElsewhere(folder: string): Promise<ChildProcess> {
  const module = JSON.stringify(join(import.meta.dirname, 'data-folder-lock.ts'));
  const script = `import { lockDataFolder } from ${module}; lockDataFolder(${JSON.stringify(folder)}); gc(); setTimeout(() => { gc(); console.log('held'); }, 10); setInterval(() => {}, 1e6);`;
  const child = spawn(process.execPath, ['--expose-gc', '--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout!, 'data');
  return child;
}

test('a second process is refused with the pid of the first, and let in when that dies by SIGKILL', async () => {
  const folder = join(parent, 'a');
  const holder = await holdElsewhere(folder);
  expect(() => lockDataFolder(folder)).toThrow(
    `is already in use by the Sergo with process id ${holder.pid}; stop that one first (kill ${holder.pid})`,
  );
  expect(() => lockDataFolder(folder)).toThrow(expect.objectContaining({ code: 'conflict' }));
  holder.kill('SIGKILL');
  await once(holder, 'exit');
  lockDataFolder(folder).release();
});

test('the same process cannot take it twice, and can again after releasing it', () => {
  const folder = join(parent, 'b');
  const lock = lockDataFolder(folder);
  expect(() => lockDataFolder(folder)).toThrow(`process id ${process.pid}`);
  lock.release();
  lock.release();
  lockDataFolder(folder).release();
});

test('the folder is made for its owner alone, and one that cannot be made is named', () => {
  const folder = join(parent, 'c/d');
  lockDataFolder(folder).release();
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  writeFileSync(join(parent, 'file'), '');
  expect(() => lockDataFolder(join(parent, 'file/x'))).toThrow(/cannot be written \(ENOTDIR\); set SERGO_DATA/);
});
