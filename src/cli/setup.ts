import { readFileSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { setUpLocally } from '../access/setup.ts';
import { AppError } from '../errors.ts';
import type { LibraryDeps } from '../library/deps.ts';

/** `-` is stdin. One line end at the end of the file is not part of the password. */
export function readPassword(file: string): string {
  let text: string;
  try {
    text = readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch {
    throw new AppError(
      'invalid',
      `The password file ${file} cannot be read; give a file that holds the password alone, or - for stdin.`,
    );
  }
  return text.replace(/\r?\n$/, '');
}

/** Makes the first admin. AppError conflict once there is one. */
export function setup(
  deps: LibraryDeps,
  input: { name: string; email: string; password: string },
): Promise<{ userId: string; folderId: string }> {
  return setUpLocally(deps, input, { requestId: randomUUID() });
}
