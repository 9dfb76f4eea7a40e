import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

test('a reader that stops early is no fault of the command', () => {
  const main = join(import.meta.dirname, '..', 'main.ts');
  // The shell's own end of the pipe is closed before the help is written.
  const script = `{ "$0" "$1" --help; echo "ended with $?" >&2; } | true`;
  for (let time = 0; time < 3; time++) {
    const { stderr } = spawnSync('sh', ['-c', script, process.execPath, main], { encoding: 'utf8' });
    expect(stderr).toBe('ended with 0\n');
  }
});
